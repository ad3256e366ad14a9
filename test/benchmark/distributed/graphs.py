"""The graphs that are simulated, as text for numbers of parameter servers and workers."""

SCHEME = """
@device("/job:ps/task:0") queue tokens: (step: i64) = fifo_queue(capacity: 1024)

## A worker may compute a step.
entry begin() -> (step: i64) { return dequeue(tokens) }

## All workers may.
entry release(step: i64[@WORKERS]) { enqueue_many(tokens, step: step) }
"""


RING = """
part piece(name: string) {
  @device("{name}") var data: f32[16384, 64] = zeros()  # 4 MB
}
let ring = @DEVICES
let pieces = [piece(name) for name in ring]

@device("{name}")
fn hop(x: f32, static name: string) -> f32 { return 0.5 * x + 1.0 }
@device("{name}")
fn row(x: f32[n, 64], static name: string) -> f32 where n >= 8 { return sum(x[7]) }

## A scalar goes round all tasks, eight times.
@device("/job:local")
entry round() -> (y: f32) {
  y = pieces[0].data[0, 0]
  static for i in 0..8 {
    static for name in ring { y = hop(y, name) }
  }
  return y
}

## Each task sends data to the next one, all at the same time.
@device("/job:local")
entry spread() -> (y: f32) {
  return add_n([row(pieces[k].data, ring[(k + 1) % len(ring)]) for k in 0..len(ring)])
}
"""


def ring(jobs):
    """Entries that measure the network of a job, in which all tasks are active; to be added to a graph that uses
    `tasks`. `jobs` are pairs of a name and a number of tasks."""
    return fill(RING, DEVICES=" + ".join(f'tasks("{job}", {count})' for job, count in jobs))


def null(ps, workers, rows=1000):
    """Steps without work: workers read a model, and send an update of a scalar to each parameter server, in a call for
    each. These take the updates of all workers, and tell the chief, which lets the workers go on. `rows` of 64 floats
    of the dense model and of 128 floats of the table are on each parameter server."""
    text = """
graph null edition 1

use distributed: sharded_embedding, tasks

part shard(name: string) {
  @device("{name}") var scalar: f32 = 1.0
  @device("{name}") var dense: f32[@ROWS, 64] = zeros()
  @device("{name}") queue updates: (value: f32) = fifo_queue(capacity: 256)
  @device("{name}") queue done: (step: i64) = fifo_queue(capacity: 16)
}

let shards = [shard(name) for name in tasks("ps", @PS)]
let words = sharded_embedding(@ALLROWS, 128, tasks("ps", @PS))
""" + SCHEME + """
## A scalar from each parameter server.
@device("/job:local")
entry scalar() -> (y: f32) { return add_n([s.scalar + 0.0 for s in shards]) }

## The whole model.
@device("/job:local")
entry dense() -> (y: f32) { return add_n([sum(s.dense[7]) for s in shards]) }

## 32 rows of a table.
@device("/job:local")
entry sparse(ids: i32[32]) -> (y: f32) { return sum(words(ids)) }
"""
    for k in range(ps):
        text += f"""
@device("/job:local")
entry push_{k}(y: f32) {{ enqueue(shards[{k}].updates, value: y) }}
@device("/job:ps/task:{k}")
entry update_{k}() {{
  sum = sum(dequeue_many(shards[{k}].updates, @WORKERS))
  assign(shards[{k}].scalar, 0.5 * sum / @WORKERS.0)
  enqueue(shards[{k}].done, step: 0)
}}
entry wait_{k}() -> (step: i64) {{ return dequeue(shards[{k}].done) }}
"""
    return fill(text, PS=ps, WORKERS=workers, ALLROWS=rows * ps, ROWS=rows)


def _inception_layers():
    """Tuples of a kind, inputs, an output, a size or the shape of a filter, a stride and the padding; and the last
    output."""
    layers, channels = [], {"x": 3}

    def unit(source, target, height, width, units, stride=1, padding="same"):
        layers.append(("unit", source, target, (height, width, channels[source], units), stride, padding))
        channels[target] = units
        return target

    def pool(source, target, kind, size, stride, padding):
        layers.append((kind, source, target, size, stride, padding))
        channels[target] = channels[source]
        return target

    def concat(sources, target):
        layers.append(("concat", sources, target))
        channels[target] = sum(channels[source] for source in sources)
        return target

    def tower(source, name, *units):
        for i, (height, width, count, *rest) in enumerate(units):
            source = unit(source, f"{name}_{i}", height, width, count, *rest)
        return source

    def mean(source, name, count):
        return unit(pool(source, f"{name}_pool", "avg_pool", 3, 1, "same"), f"{name}_proj", 1, 1, count)

    x = tower("x", "stem", (3, 3, 32, 2, "valid"), (3, 3, 32, 1, "valid"), (3, 3, 64))
    x = tower(pool(x, "stem_p", "max_pool", 3, 2, "valid"), "stem_b", (1, 1, 80), (3, 3, 192, 1, "valid"))
    x = pool(x, "stem_q", "max_pool", 3, 2, "valid")
    for i, count in enumerate((32, 64, 64)):
        n = f"a{i}"
        x = concat([unit(x, n + "_1", 1, 1, 64), tower(x, n + "_5", (1, 1, 48), (5, 5, 64)),
                    tower(x, n + "_3", (1, 1, 64), (3, 3, 96), (3, 3, 96)), mean(x, n, count)], n)
    x = concat([unit(x, "b_3", 3, 3, 384, 2, "valid"),
                tower(x, "b_d", (1, 1, 64), (3, 3, 96), (3, 3, 96, 2, "valid")),
                pool(x, "b_p", "max_pool", 3, 2, "valid")], "b")
    for i, c in enumerate((128, 160, 160, 192)):
        n = f"c{i}"
        x = concat([unit(x, n + "_1", 1, 1, 192), tower(x, n + "_7", (1, 1, c), (1, 7, c), (7, 1, 192)),
                    tower(x, n + "_d", (1, 1, c), (7, 1, c), (1, 7, c), (7, 1, c), (1, 7, 192)), mean(x, n, 192)], n)
    tower(pool(x, "aux_p", "avg_pool", 5, 3, "valid"), "aux", (1, 1, 128), (5, 5, 768, 1, "valid"))
    x = concat([tower(x, "d_3", (1, 1, 192), (3, 3, 320, 2, "valid")),
                tower(x, "d_7", (1, 1, 192), (1, 7, 192), (7, 1, 192), (3, 3, 192, 2, "valid")),
                pool(x, "d_p", "max_pool", 3, 2, "valid")], "d")
    for i in range(2):
        n = f"e{i}"
        y, z = unit(x, n + "_3", 1, 1, 384), tower(x, n + "_d", (1, 1, 448), (3, 3, 384))
        x = concat([unit(x, n + "_1", 1, 1, 320), unit(y, n + "_3a", 1, 3, 384), unit(y, n + "_3b", 3, 1, 384),
                    unit(z, n + "_da", 1, 3, 384), unit(z, n + "_db", 3, 1, 384), mean(x, n, 192)], n)
    return layers, x


def inception(ps, workers, copies=False):
    """Inception-v3 with its auxiliary head, 32 images of 299 x 299. Each variable is on the parameter server with the
    fewest bytes. A worker computes gradients by `step`, and pushes them by `push_k`, or applies them by `apply_k`. With
    `copies`, `step` reads copies of the variables in the worker, which `fetch_k` brings. The norms of batches have no
    moving averages."""
    layers, last = _inception_layers()
    variables, body, owned = [], [], [0] * ps

    def variable(name, shape):
        k = owned.index(min(owned))
        size = 4
        for count in shape:
            size *= count
        owned[k] += size
        variables.append((name, f"f32[{', '.join(map(str, shape))}]", k))
        return name

    for layer in layers:
        kind, source, target = layer[:3]
        if kind == "concat":
            body.append(f"  {target} = concat([{', '.join(source)}], axis: 3)")
        elif kind == "unit":
            shape, stride, padding = layer[3:]
            w, b = variable(f"w_{target}", shape), variable(f"b_{target}", shape[3:])
            w, b = (f"c_{w}", f"c_{b}") if copies else (w, b)
            body.append(f'  {target} = unit(convolution({source}, {w}, stride: {stride}, padding: "{padding}"), {b})')
        else:
            size, stride, padding = layer[3:]
            body.append(f'  {target} = {kind}({source}, size: {size}, stride: {stride}, padding: "{padding}")')
    for name, source, inputs in ("out", last, 2048), ("aux_out", "aux_1", 768):
        variable(f"w_{name}", (inputs, 1000))
        variable(f"b_{name}", (1000,))
        prefix = "c_" if copies else ""
        body.append(f"  {name} = matmul(mean(mean({source}, axis: 1), axis: 1), {prefix}w_{name}) + {prefix}b_{name}")
    names = [f"c_{name}" if copies else name for name, _, _ in variables]
    text = "graph inception edition 1\n"
    for name, kind, k in variables:
        text += f'@device("/job:ps/task:{k}") var {name}: {kind} = zeros()\n'
        text += f'@device("/job:local") var g_{name}: {kind} = zeros()\n'
        if copies:
            text += f'@device("/job:local") var c_{name}: {kind} = zeros()\n'
    text += """
fn unit(x: f32[n, height, width, channels], b: f32[channels]) -> f32[n, height, width, channels] {
  m = mean(mean(mean(x, axis: 0), axis: 0), axis: 0)
  v = mean(mean(mean(square(x - m), axis: 0), axis: 0), axis: 0)
  return relu((x - m) * rsqrt(v + 0.001) + b)
}
""" + SCHEME + """
@device("/job:local")
entry step(x: f32[32, 299, 299, 3], label: i32[32]) -> (loss: f32) {
""" + "\n".join(body) + f"""
  loss = mean(sparse_softmax_cross_entropy(out, label)) + 0.4 * mean(sparse_softmax_cross_entropy(aux_out, label))
  g = gradients(loss, [{', '.join(names)}])
""" + "".join(f"  assign(g_{name}, g[{i}])\n" for i, (name, _, _) in enumerate(variables)) + "  return loss\n}\n"
    for k in range(ps):
        mine = [(name, kind) for name, kind, owner in variables if owner == k]
        components = ", ".join(f"{name}: {kind}" for name, kind in mine)
        values = ", ".join(f"{name}: g_{name} + 0.0" for name, _ in mine)
        sums = "".join(f"  assign_add({name}, -0.01 * sum(r.{name}, axis: 0))\n" for name, _ in mine)
        own = "".join(f"  assign_add({name}, -0.01 * g_{name})\n" for name, _ in mine)
        at = f'@device("/job:ps/task:{k}")'
        text += f"""
{at} queue grads_{k}: ({components}) = fifo_queue(capacity: 256)
{at} queue done_{k}: (step: i64) = fifo_queue(capacity: 16)
@device("/job:local")
entry push_{k}() {{ enqueue(grads_{k}, {values}) }}
{at}
entry update_{k}() {{
  r = dequeue_many(grads_{k}, @WORKERS)
{sums}  enqueue(done_{k}, step: 0)
}}
entry apply_{k}() {{
{own}}}
entry wait_{k}() -> (step: i64) {{ return dequeue(done_{k}) }}
"""
        if copies:
            fetched = "".join(f"  assign(c_{name}, {name})\n" for name, _ in mine)
            text += f"entry fetch_{k}() {{\n{fetched}}}\n"
    return fill(text, WORKERS=workers)


def lstm(ps, sampled, words=40000, batch=128, time=20):
    """A language model with one LSTM of 512 units whose output layer is on parameter servers: each computes the
    products with its columns, or, for a sampled softmax, sends the rows of the labels and of 512 sampled words. `step`
    computes gradients, and `apply` changes the LSTM and the rows of tables. The full output layer is not changed: its
    gradients are computed where it is, and summed."""
    rows = batch * time
    text = """
graph lstm edition 1

use distributed: sharded_embedding, tasks

let devices = tasks("ps", @PS)
let words = sharded_embedding(@VOCABULARY, 512, devices)

part block(name: string) {
  @device("{name}") var w: f32[@BLOCK, 2048] = zeros()
  @device("/job:local") var g: f32[@BLOCK, 2048] = zeros()
}
let blocks = [block(name) for name in devices]
@device("/job:local") var x_gradient: f32[@ROWS, 512] = zeros()

fn forward(x: f32[@ROWS, 512], w: f32[1024, 2048]) -> f32[@ROWS, 512] {
  zero = zeros(f32[@BATCH, 512])
  _, _, y = scan x_t in reshape(x, [@TIME, @BATCH, 512]) with c = zero, h = zero {
    i, j, f, o = split(matmul(concat([x_t, h], axis: 1), w), 4, axis: 1)
    c = sigmoid(f) * c + sigmoid(i) * tanh(j)
    h = sigmoid(o) * tanh(c)
    yield c, h; h
  }
  return reshape(y, [@ROWS, 512])
}

fn scatter(static of: group, ids: i32[n], g: f32[n, 512]) {
  let number = len(of)
  owner = ids % number
  at = dynamic_partition(iota(n), owner, count: number)
  static for k in 0..number {
    row, values = gather(ids // number, at[k]), -0.1 * gather(g, at[k])
    @colocate(of[k].table) scatter_add(of[k].table, row, values)
  }
}
"""
    if sampled:
        text += """
let out = sharded_embedding(@VOCABULARY, 512, devices)
@device("/job:local") var label_gradient: f32[@ROWS, 512] = zeros()
@device("/job:local") var sample_gradient: f32[512, 512] = zeros()

@device("/job:local")
entry step(ids: i32[@ROWS], label: i32[@ROWS], sample: i32[512]) -> (loss: f32) {
  x = words(ids)
  w = concat([b.w for b in blocks], axis: 0)
  h = forward(x, w)
  right = out(label)
  other = out(sample)
  value = sum(h * right, axis: 1)
  loss = mean(log(sum(exp(matmul(h, transpose(other))), axis: 1) + exp(value)) - value)
  g = gradients(loss, [x, right, other] + [b.w for b in blocks])
  assign(x_gradient, g[0])
  assign(label_gradient, g[1])
  assign(sample_gradient, g[2])
  static for k in 0..@PS { assign(blocks[k].g, g[k + 3]) }
  return loss
}

entry apply(ids: i32[@ROWS], label: i32[@ROWS], sample: i32[512]) {
  static for b in blocks { assign_add(b.w, -0.1 * b.g) }
  @device("/job:local") {
    scatter(words.parts, ids, x_gradient)
    scatter(out.parts, concat([label, sample], axis: 0), concat([label_gradient, sample_gradient], axis: 0))
  }
}
"""
    else:
        text += """
part head(name: string, first: int, columns: int) {
  @device("{name}") var w: f32[512, columns] = zeros()
  @device("{name}") fn call(h: f32[n, 512], label: i32[n]) -> (total: f32[n], value: f32[n]) {
    y = matmul(h, w)
    is_label = iota(columns) == reshape(label - first, [@ROWS, 1])
    return sum(exp(y), axis: 1), sum(select(is_label, y, 0.0), axis: 1)
  }
  @device("{name}") fn sum_of(g: f32[..s]) -> f32 { return sum(g) }
}
let heads = [head(devices[k], @VOCABULARY * k // @PS, @VOCABULARY * (k + 1) // @PS - @VOCABULARY * k // @PS)
    for k in 0..@PS]

@device("/job:local")
entry step(ids: i32[@ROWS], label: i32[@ROWS]) -> (loss: f32, sums: f32) {
  x = words(ids)
  w = concat([b.w for b in blocks], axis: 0)
  h = forward(x, w)
  totals, values = [], []
  static for head in heads {
    total, value = head(h, label)
    totals, values = totals + [total], values + [value]
  }
  loss = mean(log(add_n(totals)) - add_n(values))
  g = gradients(loss, [x] + [b.w for b in blocks] + [head.w for head in heads])
  assign(x_gradient, g[0])
  static for k in 0..@PS { assign(blocks[k].g, g[k + 1]) }
  return loss, add_n([heads[k].sum_of(g[k + 1 + @PS]) for k in 0..@PS])
}

entry apply(ids: i32[@ROWS]) {
  static for b in blocks { assign_add(b.w, -0.1 * b.g) }
  @device("/job:local") scatter(words.parts, ids, x_gradient)
}
"""
    return fill(text, VOCABULARY=words, BLOCK=1024 // ps, ROWS=rows, BATCH=batch, TIME=time, PS=ps)


def fill(text, **values):
    for name, value in values.items():
        text = text.replace("@" + name, str(value))
    return text.lstrip()
