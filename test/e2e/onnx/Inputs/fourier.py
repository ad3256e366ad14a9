"""Fourier transforms against NumPy's, and filters by their formula."""

import sys

import numpy as np
from onnx_case import Cases

cases = Cases(sys.argv[1])
random = np.random.default_rng(8)


def draw(*shape):
    return random.normal(size=shape).astype(np.float32)


def parts(z):
    return np.stack([z.real, z.imag], -1).astype(np.float32)


x = draw(2, 7, 5, 2)
z = x[..., 0] + 1j * x[..., 1]
for axis in 1, 2:
    for length in None, 4, 9:
        fixed = {} if length is None else {"n": np.int64(length)}
        name = "n" if fixed else "-"
        cases.check(f"y = DFT x {name} | axis={axis}", {"x": x}, {"y": parts(np.fft.fft(z, length, axis))}, fixed)
        cases.check(f"y = DFT x {name} | axis={axis} inverse=1", {"x": x}, {"y": parts(np.fft.ifft(z, length, axis))}, fixed)
        real = x[..., :1]
        cases.check(f"y = DFT x {name} | axis={axis} onesided=1", {"x": real},
                    {"y": parts(np.fft.rfft(real[..., 0], length, axis))}, fixed)
        fixed = {**fixed, "a": np.int64(axis)}
        cases.check(f"y = DFT x {name} a", {"x": x}, {"y": parts(np.fft.fft(z, length, axis))}, fixed, opset=20)
        half = parts(np.fft.rfft(draw(2, 8, 6), axis=axis))
        cases.check(f"y = DFT x {name} a | inverse=1 onesided=1", {"x": half},
                    {"y": np.fft.irfft(half[..., 0] + 1j * half[..., 1], length, axis)[..., None].astype(np.float32)}, fixed,
                    opset=20)
cases.check("y = DFT x", {"x": x}, {"y": parts(np.fft.fft(z, axis=-1))}, opset=20)

signal, window = draw(2, 40, 1), draw(16)
frames = np.stack([signal[:, i:i + 16, 0] for i in range(0, 25, 5)], 1)
step = {"s": np.int64(5)}
cases.check("y = STFT x s w", {"x": signal, "w": window}, {"y": parts(np.fft.rfft(frames * window))}, step)
cases.check("y = STFT x s - n", {"x": signal}, {"y": parts(np.fft.rfft(frames))}, {**step, "n": np.int64(16)})
cases.check("y = STFT x s w | onesided=0", {"x": signal, "w": window}, {"y": parts(np.fft.fft(frames * window))}, step)

for kind, a, b, c in ("Hann", 0.5, 0.5, 0), ("Hamming", 25 / 46, 21 / 46, 0), ("Blackman", 0.42, 0.5, 0.08):
    for size, periodic in (9, 1), (8, 0):
        angle = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
        y = a - b * np.cos(angle) + c * np.cos(2 * angle)
        fixed = {"n": np.int64(size)}
        cases.check(f"y = {kind}Window n | periodic={periodic}", {}, {"y": y.astype(np.float32)}, fixed)
        cases.check(f"y = {kind}Window n | periodic={periodic} output_datatype=11", {}, {"y": y}, fixed, rtol=1e-12)


def mel(hertz):
    return 2595 * np.log10(1 + hertz / 700)


bins, length, rate, low, high = 6, 64, 8192, 100.0, 4000.0
edges = mel(low) + np.arange(bins + 2) * (mel(high) - mel(low)) / (bins + 2)
edges = ((length + 1) * 700 * (10 ** (edges / 2595) - 1) // rate).astype(int)
y = np.zeros((length // 2 + 1, bins), np.float32)
for i in range(bins):
    a, b, c = edges[i:i + 3]
    y[a:b + 1, i] = [1 if a == b else (k - a) / (b - a) for k in range(a, b + 1)]
    for k in range(b, c):
        y[k, i] = (c - k) / (c - b)
cases.check("y = MelWeightMatrix b n r l h", {"l": np.float32(low), "h": np.float32(high)}, {"y": y},
            {"b": np.int64(bins), "n": np.int64(length), "r": np.int64(rate)})
cases.finish()
