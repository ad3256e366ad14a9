"""JAX: the training step and the kernels, each as one compiled function."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import protocol

tree = jax.tree_util.tree_map


def loss_of(weights, x, label):
    hidden = jax.nn.relu(x @ weights["w1"] + weights["b1"])
    logits = hidden @ weights["w2"] + weights["b2"]
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), label[:, None], axis=1)
    return -jnp.mean(picked)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(weights, slots, x, label):
    m, s, t = slots
    loss, grads = jax.value_and_grad(loss_of)(weights, x, label)
    t = t + 1
    m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    s = tree(lambda s, g: 0.999 * s + 0.001 * g * g, s, grads)
    rate = 1e-3 / (1 - 0.9**t)
    correction = 1 / (1 - 0.999**t)
    weights = tree(
        lambda w, m, s: w - rate * m / (jnp.sqrt(s * correction) + 1e-8), weights, m, s
    )
    return weights, (m, s, t), loss


def make_mlp():
    initial = protocol.variables("mlp.safetensors")
    weights = {name: jnp.asarray(initial[name]) for name in ("w1", "b1", "w2", "b2")}
    state = [weights, (tree(jnp.zeros_like, weights), tree(jnp.zeros_like, weights), 0.0)]
    x = jnp.asarray(protocol.feed("mlp", "x", np.float32, (64, 64)))
    label = jnp.asarray(protocol.feed("mlp", "label", np.int32, (64,)))

    def step():
        state[0], state[1], loss = update(state[0], state[1], x, label)
        return float(loss)

    return step, protocol.train(step)


def layer_norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


FUNCTIONS = {
    "add_two": lambda x, y: x + y,
    "exponential": jnp.exp,
    "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True),
    "row_softmax": jax.nn.softmax,
    "row_norm": layer_norm,
    "column_sum": lambda x: x.sum(0),
    "transposed": lambda x: x.T + 0.0,
    "matmul_transposed_512": lambda a, b: a @ b.T,
}


def make_adam():
    @functools.partial(jax.jit, donate_argnums=0)
    def move(state, g):
        w, m, s = state
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        return w - 1e-3 * m / (jnp.sqrt(s) + 1e-8), m, s

    g = jnp.asarray(protocol.feed("adam_update", "g", np.float32, (1024, 1024)))
    state = [tuple(jnp.zeros((1024, 1024), jnp.float32) for _ in range(3))]

    def call():
        state[0] = jax.block_until_ready(move(state[0], g))

    call()
    return call, protocol.magnitude(state[0][0])


def make_scalar_loop():
    @jax.jit
    def loop(n):
        def body(carried):
            i, s = carried
            return i + 1, s * 0.5 + i.astype(jnp.float32)

        return jax.lax.while_loop(lambda c: c[0] < n, body, (jnp.int32(0), jnp.float32(0)))[1]

    return loop, []


def make_cell_loop():
    xs, w, b = map(jnp.asarray, protocol.cell_feeds())

    @jax.jit
    def loop(n, xs, w, b):
        def body(carried):
            t, c, h = carried
            i, j, f, o = jnp.split(jnp.concatenate([xs[t], h], 1) @ w + b, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            return t + 1, c, jax.nn.sigmoid(o) * jnp.tanh(c)

        zero = jnp.zeros((1, 32))
        return jax.lax.while_loop(lambda c: c[0] < n, body, (jnp.int32(0), zero, zero))[2]

    return loop, [xs, w, b]


def make_loop(task):
    loop, feeds = make_scalar_loop() if task == "loop_scalar" else make_cell_loop()
    n = protocol.iterations(task)
    return lambda: loop(n, *feeds).block_until_ready(), protocol.magnitude(loop(n, *feeds))


def make_task(task):
    if task.startswith("loop_"):
        return make_loop(task)
    if task == "mlp":
        return make_mlp()
    if task == "adam_update":
        return make_adam()
    shapes = protocol.kernel_feeds(task)
    feeds = [jnp.asarray(protocol.feed(task, *feed)) for feed in shapes]
    function = jax.jit(FUNCTIONS.get(task, lambda a, b: a @ b))
    return lambda: function(*feeds).block_until_ready(), protocol.magnitude(function(*feeds))


protocol.serve("jax", jax.__version__, make_task)
