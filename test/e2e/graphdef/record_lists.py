"""record_lists.py FOLDER: records TensorLists in TensorFlow (2.21 for those that are stored) that get another length, are joined,
are written beyond their end and at several positions, each as it is with functions, and with the control flow of TensorFlow 1."""

import numpy as np
import tensorflow as tf
from recording import write_case
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

rng = np.random.default_rng(0)
INT, FLOAT = tf.int32, tf.float32
raw = tf.raw_ops
floats = lambda *shape: rng.normal(size=shape).astype(np.float32)
ints = lambda *numbers: np.array(numbers, np.int32)


def reserve(count, shape=[3]):
    return raw.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=FLOAT)


def empty(shape=[3]):
    return raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=FLOAT)


def from_rows(x):
    return raw.TensorListFromTensor(tensor=x, element_shape=x.shape[1:])


def push(handle, x):
    return raw.TensorListPushBack(input_handle=handle, tensor=x)


def pop(handle):
    return raw.TensorListPopBack(input_handle=handle, element_shape=[3], element_dtype=FLOAT)


def stack(handle, count=-1):
    return raw.TensorListStack(input_handle=handle, element_shape=[3], element_dtype=FLOAT, num_elements=count)


def put(handle, i, x, resizes=True):
    return raw.TensorListSetItem(input_handle=handle, index=i, item=x, resize_if_index_out_of_bounds=resizes)


def length(handle):
    return raw.TensorListLength(input_handle=handle)


def resize(handle, count):
    return raw.TensorListResize(input_handle=handle, size=count)


def join(a, b):
    return raw.TensorListConcatLists(input_a=a, input_b=b, element_dtype=FLOAT)


def resized(x):
    """Lists that are made whole become longer and shorter."""
    rows = from_rows(x)
    longer, shorter = resize(rows, 6), resize(rows, 2)
    again = put(resize(longer, 3), 1, x[0] * 2.0, False)
    return stack(rows), stack(longer), stack(shorter), stack(resize(shorter, 4)), stack(again), length(again), length(resize(rows, 0))


def resized_by_data(x, n):
    """The size is data; what a list had before is not there again."""
    rows = resize(from_rows(x), n)
    back = resize(rows, 5)
    return length(rows), stack(back, 5), length(resize(put(reserve(2), 1, x[1]), n + 1))


def resized_after_pushes(x, n):
    """Popped elements do not return."""
    handle = push(push(push(empty(), x[0]), x[1]), x[2])
    popped, last = pop(handle)
    popped, _ = pop(popped)
    data = resize(popped, n)
    return (stack(resize(popped, 3), 3), stack(resize(handle, 2), 2), length(data), stack(resize(push(data, x[3]), 6), 6),
            stack(push(resize(popped, 2), last), 3))


def joined(x, b):
    """Joins lists that are made whole, lists that are pushed to, one list with itself, and one that a branch chooses."""
    first, second = from_rows(x), push(push(empty(), x[0] * 2.0), x[1] * 2.0)
    popped, _ = pop(second)
    both = join(first, second)
    chosen = tf.cond(b, lambda: push(empty(), x[2]), lambda: push(push(empty(), x[3]), x[0]))
    return (stack(both), length(both), length(chosen), stack(join(popped, second)), stack(push(join(second, popped), x[1])), stack(join(first, first)),
            length(join(chosen, first)), stack(resize(join(chosen, popped), 3), 3))


def beyond(x, i):
    """Writes extend a list that was made empty; elements that nothing wrote are zeros."""
    handle = put(put(empty(), 0, x[0]), 1, x[1])
    far = put(handle, 4, x[2])
    popped, _ = pop(push(handle, x[3]))
    popped, _ = pop(popped)
    data = put(popped, i, x[1])
    return stack(handle), length(handle), stack(far), length(far), length(data), stack(resize(data, 5), 5), stack(push(handle, x[2]))


def written_in_loop(x, n):
    """A loop extends a list that was made empty, and one that was pushed to."""
    def body(i, a, b):
        return i + 1, put(a, i, x[i]), put(b, i + 1, x[i] * 3.0)

    i, a, b = tf.while_loop(lambda i, a, b: i < n, body, [0, empty(), push(empty(), x[3])])
    return length(a), stack(resize(a, 4), 4), length(b), stack(resize(b, 5), 5)


def resized_in_loop(x, n):
    """Each iteration makes room for its element, as TensorArrays did before writes could."""
    def body(i, handle):
        handle = tf.cond(i >= length(handle), lambda: resize(handle, i + 1), lambda: handle)
        return i + 1, put(handle, i, x[i], False)

    _, handle = tf.while_loop(lambda i, handle: i < n, body, [0, reserve(1)])
    return length(handle), stack(resize(handle, 4), 4)


def scattered(x, at, few):
    """Positions are known, or data, in any order; lists get longer for them. Other elements are undefined in TensorFlow."""
    into = lambda handle, x, at: raw.TensorListScatterIntoExistingList(input_handle=handle, tensor=x, indices=at)
    new = lambda x, at, count: raw.TensorListScatterV2(tensor=x, indices=at, element_shape=[3], num_elements=count)
    old = raw.TensorListScatter(tensor=x, indices=[2, 0, 1, 3], element_shape=[3])
    gather = lambda handle, at: raw.TensorListGather(input_handle=handle, indices=at, element_shape=[3], element_dtype=FLOAT)
    data, made, even = into(from_rows(x), x * 2.0, at), new(x, at, 6), tf.range(tf.shape(few)[0]) * 2
    return (stack(old), stack(new(x, [3, 1, 0, 2], -1)), stack(new(x, [3, 1, 0, 2], 4)), stack(into(from_rows(x), x[:2], [3, 1])),
            stack(into(from_rows(x), x[:2], [4, 0]), 5), length(data), gather(data, at), gather(data, tf.range(4)),
            length(made), gather(made, at), length(new(x, at, -1)), gather(new(few, even, 8), even),
            stack(into(push(empty(), x[0]), x[:2], [2, 1])), length(into(push(empty(), x[0]), x, at)))


def batches(x):
    """A vector of lists is pushed to, joined and taken apart."""
    vector = tf.stack([push(empty(), x[0]), empty()])
    pushed = raw.TensorListPushBackBatch(input_handles=vector, tensor=x[1:3])
    again = raw.TensorListPushBackBatch(input_handles=pushed, tensor=x[2:] * 2.0)
    both = raw.TensorListConcatLists(input_a=again, input_b=pushed, element_dtype=FLOAT)
    lists = [handle for handles in (vector, pushed, again, both) for handle in tf.unstack(handles, 2)]
    return [length(handle) for handle in lists] + [stack(handle) for handle in lists[2:]]


def dynamic(x):
    """The gradient of writes that extend a list resizes the list of gradients."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(FLOAT, size=0, dynamic_size=True, element_shape=[3])
        array = array.write(0, x[0] * x[1]).write(1, tf.sin(x[2])).write(2, x[3] * 2.0)
        loss = tf.reduce_sum(array.stack() ** 2) + tf.reduce_sum(array.read(1))
    return loss, tape.gradient(loss, x)


def dynamic_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(FLOAT, size=0, dynamic_size=True, element_shape=[3])
        _, array, _ = tf.while_loop(lambda i, array, h: i < 4, lambda i, array, h: (i + 1, array.write(i, h), tf.tanh(h + x[i])),
                                    [0, array, x[0]])
        loss = tf.reduce_sum(array.stack() ** 2)
    return loss, tape.gradient(loss, x)


def gradient_of_resize(x, n):
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = stack(resize(from_rows(x * x), 2))
        more = stack(resize(resize(from_rows(tf.sin(x)), n), 5), 5)
        loss = tf.reduce_sum(rows) + tf.reduce_sum(more ** 2)
    return loss, tape.gradient(loss, x)


def record(name, build, shapes, steps):
    arguments = [tf.TensorSpec(shape, tf.as_dtype(value.dtype), name=f"x{i}")
                 for i, (shape, value) in enumerate(zip(shapes, steps[0]))]
    function = tf.function(lambda *x: [tf.identity(y) for y in tf.nest.flatten(build(*x))], input_signature=arguments,
                           autograph=False)
    for kind, lower in [("functions", False), ("lowered", True)]:
        frozen = convert_variables_to_constants_v2(function.get_concrete_function(), lower_control_flow=lower)
        feeds = [{tensor.op.name: value for tensor, value in zip(frozen.inputs, step)} for step in steps]
        write_case(f"lists_{name}_{kind}", frozen.graph, [], frozen.outputs, feeds, 1e-5)


rows = floats(4, 3)
numbers = [(floats(4, 3), np.int32(n)) for n in range(5)]
record("resized", resized, [[4, 3]], [(rows,)])
record("resized_by_data", resized_by_data, [[4, 3], []], numbers)
record("resized_after_pushes", resized_after_pushes, [[4, 3], []], numbers)
record("resized_in_loop", resized_in_loop, [[4, 3], []], numbers)
record("joined", joined, [[4, 3], []], [(rows, np.bool_(True)), (rows, np.bool_(False))])
record("beyond", beyond, [[4, 3], []], numbers)
record("written_in_loop", written_in_loop, [[4, 3], []], numbers)
record("scattered", scattered, [[4, 3], [4], [None, 3]],
       [(rows, ints(3, 0, 2, 1), floats(2, 3)), (rows, ints(5, 1, 1, 0), floats(4, 3)), (rows, ints(0, 1, 2, 3), floats(0, 3))])
record("batches", batches, [[4, 3]], [(rows,)])
record("dynamic", dynamic, [[4, 3]], [(rows,)])
record("dynamic_loop", dynamic_loop, [[4, 3]], [(rows,)])
record("gradient_of_resize", gradient_of_resize, [[4, 3], []], numbers)
