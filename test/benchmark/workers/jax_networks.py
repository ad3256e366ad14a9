"""JAX: a training step of a network as one compiled function, its state donated."""

import functools

import jax
import jax.numpy as jnp
import networks
import numpy as np
import protocol

tree = jax.tree_util.tree_map


class ops:
    relu, sigmoid, tanh, softmax = jax.nn.relu, jax.nn.sigmoid, jnp.tanh, jax.nn.softmax
    reshape, transpose, split, concat = jnp.reshape, jnp.transpose, jnp.split, jnp.concatenate

    def take(table, index):
        return table[index]

    def gelu(x):
        return jax.nn.gelu(x, approximate=True)

    def causal(score):
        return jnp.where(np.tri(128, dtype=bool), score, -jnp.inf)

    def layer_norm(x, scale, shift):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def conv(x, kernel, bias=0.0, stride=1, pads=None):
        pads = kernel.shape[0] // 2 if pads is None else pads
        order = "NHWC", "HWIO", "NHWC"
        y = jax.lax.conv_general_dilated(x, kernel, (stride,) * 2, [(pads, pads)] * 2, dimension_numbers=order)
        return y + bias

    def max_pool(x, size=2, pads=0, stride=2, ceil=False):
        more = [-(length + 2 * pads - size) % stride if ceil else 0 for length in x.shape[1:3]]
        padding = [(0, 0), *((pads, pads + extra) for extra in more), (0, 0)]
        window, strides = (1, size, size, 1), (1, stride, stride, 1)
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, padding)

    def batch_norm(x, scale, shift):
        centred = x - x.mean((0, 1, 2))
        return centred * jax.lax.rsqrt((centred**2).mean((0, 1, 2)) + 1e-5) * scale + shift

    def scan(cell, x, shape):
        def step(carried, x_t):
            carried = cell(carried, x_t)
            return carried, carried[1]

        return jax.lax.scan(step, (jnp.zeros(shape), jnp.zeros(shape)), x)[1]

    def cross_entropy(scores, label):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), label[:, None], axis=1))


def momentum(weights, slots, grads):
    slots = tree(lambda v, g: 0.9 * v + g, slots, grads)
    return tree(lambda w, v: w - 1e-3 * v, weights, slots), slots


def clipped(weights, slots, grads):
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads.values()))
    clip = jnp.minimum(1.0, 5.0 / norm)
    return tree(lambda w, g: w - 1e-3 * clip * g, weights, grads), slots


def adam(weights, slots, grads):
    m, s, t = slots
    t = t + 1
    m = tree(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    s = tree(lambda s, g: 0.999 * s + 0.001 * g * g, s, grads)
    rate, correction = 1e-3 / (1 - 0.9**t), 1 / (1 - 0.999**t)
    moved = tree(lambda w, m, s: w - rate * m / (jnp.sqrt(s * correction) + 1e-8), weights, m, s)
    return moved, (m, s, t)


def make_task(task):
    weights, x, label = networks.load(task)
    weights = tree(jnp.asarray, weights)
    zeros = lambda: tree(jnp.zeros_like, weights)
    optimizer, slots = {
        "lstm": lambda: (clipped, 0.0),
        "gpt": lambda: (adam, (zeros(), zeros(), 0.0)),
    }.get(task, lambda: (momentum, zeros()))()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def update(weights, slots, x, label):
        loss, grads = jax.value_and_grad(lambda w: networks.NETWORKS[task](ops, w, x, label))(weights)
        return *optimizer(weights, slots, grads), loss

    state, x, label = [weights, slots], jnp.asarray(x), jnp.asarray(label)

    def step():
        state[0], state[1], loss = update(state[0], state[1], x, label)
        return float(loss)

    return step, protocol.train(step)


protocol.serve("jax", jax.__version__, make_task)
