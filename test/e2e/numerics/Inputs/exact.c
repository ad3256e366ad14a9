/* Functions in long double, for accuracy.py: `x87` numbers have 11 bits more than f64. */

#define _GNU_SOURCE
#include <math.h>
#include <stddef.h>

typedef long double real;

static real reciprocal(real x) { return 1 / x; }
static real rsqrt(real x) { return 1 / sqrtl(x); }
static real sigmoid(real x) { return 1 / (1 + expl(-x)); }
static real silu(real x) { return x * sigmoid(x); }
static real softplus(real x) { return fmaxl(x, 0) + log1pl(expl(-fabsl(x))); }
static real softsign(real x) { return x / (1 + fabsl(x)); }
static real gelu(real x) { return x * 0.5L * erfcl(-x * M_SQRT1_2l); }
static real elu(real x) { return x > 0 ? x : expm1l(x); }
static real selu(real x) {
  return 1.0507009873554805L * (x > 0 ? x : 1.6732632423543772L * expm1l(x));
}
static real quotient(real x, real y) { return x / y; }

#define UNARY(name, function)                                                                      \
  void name(const real *x, real *y, size_t count) {                                                \
    for (size_t i = 0; i < count; ++i)                                                             \
      y[i] = function(x[i]);                                                                       \
  }
#define BINARY(name, function)                                                                     \
  void name(const real *a, const real *b, real *y, size_t count) {                                 \
    for (size_t i = 0; i < count; ++i)                                                             \
      y[i] = function(a[i], b[i]);                                                                 \
  }

UNARY(exact_exp, expl)
UNARY(exact_log, logl)
UNARY(exact_sqrt, sqrtl)
UNARY(exact_tanh, tanhl)
UNARY(exact_exp2, exp2l)
UNARY(exact_expm1, expm1l)
UNARY(exact_log2, log2l)
UNARY(exact_log1p, log1pl)
UNARY(exact_sin, sinl)
UNARY(exact_cos, cosl)
UNARY(exact_tan, tanl)
UNARY(exact_asin, asinl)
UNARY(exact_acos, acosl)
UNARY(exact_atan, atanl)
UNARY(exact_sinh, sinhl)
UNARY(exact_cosh, coshl)
UNARY(exact_asinh, asinhl)
UNARY(exact_acosh, acoshl)
UNARY(exact_atanh, atanhl)
UNARY(exact_erf, erfl)
UNARY(exact_erfc, erfcl)
UNARY(exact_reciprocal, reciprocal)
UNARY(exact_rsqrt, rsqrt)
UNARY(exact_sigmoid, sigmoid)
UNARY(exact_silu, silu)
UNARY(exact_softplus, softplus)
UNARY(exact_softsign, softsign)
UNARY(exact_gelu, gelu)
UNARY(exact_elu, elu)
UNARY(exact_selu, selu)
BINARY(exact_pow, powl)
BINARY(exact_atan2, atan2l)
BINARY(exact_div, quotient)
