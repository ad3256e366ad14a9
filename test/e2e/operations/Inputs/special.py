import math

import numpy as np
from harness import Operand, case, positive, real, unit

USES = """use special: lgamma, digamma, zeta, polygamma, igamma, igammac, betainc, erfinv, ndtri, ndtr
use special: bessel_i0, bessel_i0e, bessel_i1, bessel_i1e, bessel_j0, bessel_j1, bessel_y0, bessel_y1
use special: bessel_k0, bessel_k0e, bessel_k1, bessel_k1e, dawsn, expint, fresnel_sin, fresnel_cos, spence
"""


def elements(function):
    """`function` of each element of operands that broadcast, in f64."""

    def whole(*operands):
        return np.vectorize(function, otypes=[np.float64])(*operands).astype(operands[0].dtype)

    return whole


def zeta(x, q):
    """The sum of 200 terms and of Euler and Maclaurin's first ones."""
    far = q + 200.0
    return (sum((q + k) ** -x for k in range(200)) + far ** (1 - x) / (x - 1) + 0.5 * far**-x +
            x / 12 * far ** (-x - 1) - x * (x + 1) * (x + 2) / 720 * far ** (-x - 3))


def digamma(x):
    """Stirling's series after recurrences, for x that are no negative integers."""
    y = 0.0
    while x < 20:
        y, x = y - 1 / x, x + 1
    return y + math.log(x) - 0.5 / x - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def polygamma(n, x):
    return digamma(x) if n == 0 else (-1) ** (int(n) + 1) * math.factorial(int(n)) * zeta(n + 1, x)


def integral(function, low, high, steps=2000):
    """By Gauss and Legendre, in parts."""
    x, w = np.polynomial.legendre.leggauss(40)
    edges = np.linspace(low, high, steps // 40 + 1)
    return sum(0.5 * (b - a) * np.sum(w * function(0.5 * (a + b) + 0.5 * (b - a) * x))
               for a, b in zip(edges, edges[1:]))


def igamma(a, x):
    # With t = u**16 the integrand is smooth enough at 0.
    return integral(lambda u: 16 * u ** (16 * a - 1) * np.exp(-(u**16)), 0.0, x ** (1 / 16)) / math.gamma(a)


def betainc(a, b, x):
    """From the nearer side, with a substitution that removes the pole there."""
    if x > 0.5:
        return 1 - betainc(b, a, 1 - x)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b))
    return scale * integral(lambda u: 16 * u ** (16 * a - 1) * (1 - u**16) ** (b - 1), 0.0, x ** (1 / 16))


def inverse(function, y, low, high):
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) < y else (low, middle)
    return 0.5 * (low + high)


def bessel(order):
    return lambda x: integral(lambda t: np.exp(x * np.cos(t)) * np.cos(order * t), 0.0, math.pi, 400) / math.pi


def bessel_j(order):
    return lambda x: integral(lambda t: np.cos(order * t - x * np.sin(t)), 0.0, math.pi, 800) / math.pi


def bessel_y(order):
    sign = (-1) ** order
    return lambda x: (integral(lambda t: np.sin(x * np.sin(t) - order * t), 0.0, math.pi, 800) - integral(
        lambda t: (np.exp(order * t) + sign * np.exp(-order * t)) * np.exp(-x * np.sinh(t)), 0.0, 12.0, 800)) / math.pi


def bessel_k(order):
    return lambda x: integral(lambda t: np.exp(-2 * x * np.sinh(t / 2) ** 2) * np.cosh(order * t), 0.0, 16.0, 1600)


def dawsn(x):
    return integral(lambda t: np.exp(t**2 - x**2), 0.0, x, 400)


def expint(x):
    return 0.5772156649015329 + math.log(x) + integral(lambda t: np.expm1(t) / t, 0.0, x, 400)


def spence(x):
    """With t = u**8, whose logarithm is less steep at 0."""
    return -integral(lambda u: 64 * u**7 * np.log(u) / (u**8 - 1), 1.0, x**0.125, 400)


def fresnel(wave):
    return lambda x: integral(lambda t: wave(0.5 * math.pi * t**2), 0.0, x, 1600)


def at(*values):
    return Operand((len(values),), lambda r, s: np.array(values))


def below(limit):
    return Operand(("n",), lambda r, s: r.uniform(-limit, limit, size=s))


POLES = at(-3.5, -2.25, -1.75, -0.5, 0.3, 1.0, 1.5, 2.0, 7.0, 150.0)
NEAR = at(-3.0001, -1e-3, -1e-5, 1e-5, 0.01)
SIGNED = at(-30.0, -7.3, -1.7, -0.6, -0.4, 0.01, 0.3, 1.55, 1.65, 3.0, 9.0, 19.5, 20.5)
POSITIVE = at(0.05, 0.3, 0.9, 1.9, 2.1, 6.5, 12.0, 19.5, 20.5, 30.0)
INF, NAN = np.inf, np.nan
CASES = [
    case("lgamma(x)", elements(math.lgamma), x=POLES, second=True),
    case("lgamma(x)", elements(math.lgamma), x=NEAR, gradient=False),
    case("lgamma(x)", elements(math.lgamma), x=real("n"), types="f16", tolerance=4e-3),
    case("lgamma(x)", lambda x: np.full_like(x, INF), x=at(0, -1, -7, INF), gradient=False),
    case("digamma(x)", elements(digamma), x=POLES, second=True),
    case("digamma(x)", elements(digamma), x=NEAR, gradient=False),
    case("digamma(x)", lambda x: np.full_like(x, NAN), x=at(0, -1, -7), gradient=False),
    case("zeta(x + 1.1, y)", elements(lambda x, y: zeta(float(x) + 1.1, y)), x=positive("n"), y=positive("n"), second=True),
    case("zeta(2.0 + 0.0 * x, y)", elements(lambda x, y: zeta(2.0, y)), x=at(0, 0, 0), y=at(-0.5, -2.25, 40.0)),
    case("zeta(x, y)", lambda x, y: np.array([INF, INF, NAN, NAN, NAN], x.dtype), x=at(1, 2, 3, 0.5, 2.5),
         y=at(0.5, -3, -3, 1, -0.5), gradient=False),
    case("polygamma(x, y)", elements(polygamma), x=at(0, 1, 2, 3), y=at(0.7, 1.9, 3.1, 0.4), gradient=False),
    case("polygamma(x, y)", lambda x, y: np.full_like(x, NAN), x=at(-1, 1.5), y=at(1, 1), gradient=False),
    case("igamma(x, y)", elements(igamma), x=positive("n"), y=positive("n"), second=True),
    case("igammac(x, y)", elements(lambda x, y: 1 - igamma(x, y)), x=positive("n"), y=positive("n")),
    case("igamma(x, y)", elements(igamma), x=at(1, 1, 2, 2, 3), y=at(1.2, 4, 2.3, 9, 3.5)),
    case("igammac(x, y)", elements(lambda x, y: np.exp(-y) * (1 + y)), x=at(2, 2, 2), y=at(20, 50, 80), gradient=False),
    case("igamma(x, y)", lambda x, y: np.array([0, 1, NAN, NAN], x.dtype), x=at(2, 2, 0, 1), y=at(0, INF, 1, -1),
         gradient=False),
    case("betainc(x, y, z)", elements(betainc), x=positive("n"), y=positive("n"),
         z=Operand(("n",), lambda r, s: r.uniform(0.05, 0.95, size=s)), second=True),
    case("betainc(x, y, z)", lambda x, y, z: np.array([0, 1, NAN, NAN], x.dtype), x=at(2, 2, 2, -1), y=at(1, 1, 1, 1),
         z=at(0, 1, 1.5, 0.5), gradient=False),
    case("erfinv(x)", elements(lambda x: inverse(math.erf, x, -10, 10)), x=unit("n"), second=True),
    case("erfinv(x)", lambda x: np.array([0, INF, -INF, NAN], x.dtype), x=at(0, 1, -1, 1.5), gradient=False),
    case("ndtri(x)", elements(lambda p: inverse(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), p, -40, 40)),
         x=at(1e-30, 1e-9, 0.01, 0.3, 0.5, 0.8, 0.999), gradient=False),
    case("ndtri(0.5 + 0.5 * x)",
         elements(lambda u: inverse(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), 0.5 + 0.5 * u, -40, 40)), x=unit("n"),
         second=True),
    case("ndtr(x)", elements(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))), x=real("n"), second=True),
    case("bessel_i0(x)", elements(bessel(0)), x=below(4), second=True),
    case("bessel_i1(x)", elements(bessel(1)), x=below(4)),
    case("bessel_i0e(x)", elements(lambda x: bessel(0)(x) * math.exp(-abs(x))), x=at(-35, -20, -0.7, 0.3, 28, 33, 90)),
    case("lgamma(x)", elements(math.lgamma), x=at(0.5, 0.9999, 1.00001, 1.25, 1.4999, 1.75, 1.99999, 2.001, 2.5), second=True),
    case("bessel_j0(x)", elements(bessel_j(0)), x=SIGNED, second=True),
    case("bessel_j1(x)", elements(bessel_j(1)), x=SIGNED),
    case("bessel_y0(x)", elements(bessel_y(0)), x=POSITIVE),
    case("bessel_y1(x)", elements(bessel_y(1)), x=POSITIVE),
    case("bessel_k0e(x)", elements(bessel_k(0)), x=POSITIVE),
    case("bessel_k1e(x)", elements(bessel_k(1)), x=POSITIVE),
    case("bessel_k0(x)", elements(lambda x: bessel_k(0)(x) * math.exp(-x)), x=POSITIVE),
    case("bessel_k1(x)", elements(lambda x: bessel_k(1)(x) * math.exp(-x)), x=POSITIVE),
    case("dawsn(x)", elements(dawsn), x=SIGNED, second=True),
    case("dawsn(x)", lambda x: 0.5 / x, x=at(-1e5, 1e9, 1e30), gradient=False),
    case("expint(x)", elements(expint), x=at(0.05, 0.3, 0.9, 2.1, 6.5, 8.0), second=True),
    case("expint(x)", elements(expint), x=at(19.0, 21.0, 39.0, 41.0, 50.0), gradient=False),
    case("spence(x)", elements(spence), x=at(0.01, 0.3, 0.49, 0.6, 0.99, 1.3, 1.7, 5.0, 100.0), second=True),
    case("spence(x)", lambda x: np.array([math.pi**2 / 6, 0, NAN, NAN], x.dtype), x=at(0, 1, -1, NAN), gradient=False),
    case("fresnel_sin(x)", elements(fresnel(np.sin)), x=SIGNED),
    case("fresnel_cos(x)", elements(fresnel(np.cos)), x=SIGNED),
    case("fresnel_cos(x)", lambda x: np.array([0.5, -0.5, NAN], x.dtype), x=at(INF, -1e30, NAN), gradient=False),
    case("concat([bessel_y0(x), bessel_y1(x), bessel_k0(x), bessel_k1(x), expint(x)], axis: 0)",
         lambda x: np.array([-INF, -INF, NAN, -INF, -INF, NAN, INF, INF, NAN, INF, INF, NAN, -INF, NAN, NAN], x.dtype),
         x=at(0, -1, NAN), gradient=False),
    case("bessel_i1e(x)", elements(lambda x: bessel(1)(x) * math.exp(-abs(x))), x=at(-35, -20, -0.7, 0.3, 28, 33, 90)),
]
