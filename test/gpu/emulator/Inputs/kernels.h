//===- kernels.h - Kernels that LLVM compiles, and the host too -----------===//
//
// kernels.ptx is made of this file by kernels.sh. In tests the host executes the same functions,
// thread by thread.
//
//===----------------------------------------------------------------------===//

#pragma once

#ifndef KERNEL
#define KERNEL extern "C" __attribute__((global))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#endif

/// Local memory with indices of its own in each thread, and a branch by an index.
KERNEL void branches(const float *a, float *c) {
  int i = THREAD;
  float own[8];
  for (int j = 0; j < 8; ++j)
    own[(j * 5 + i) & 7] = a[i] * j;
  float sum = 0;
  for (int j = 0; j < 8; ++j)
    sum += own[j ^ (i & 7)];
  switch (i % 11) {
  case 0:
    sum += 1;
    break;
  case 1:
    sum *= 2;
    break;
  case 2:
    sum -= 3;
    break;
  case 3:
    sum = -sum;
    break;
  case 4:
    sum = sum * sum;
    break;
  case 5:
    sum /= 3;
    break;
  case 7:
    sum += 9;
    break;
  }
  c[i] = sum;
}

KERNEL void integers(const long *a, long *c, signed char *b, short *s) {
  int i = THREAD;
  long x = a[i], y = a[i + 1];
  c[i] = x / 7 + x % 13 + (long)((unsigned long)x << 3) + (long)((unsigned long)x >> 5);
  b[i] = (signed char)(b[i] * 3 + s[i]);
  s[i] = (short)(s[i] / 5 + b[i]);
  c[i] += __builtin_popcountl(x) + __builtin_clzl(x | 1) + __builtin_ctzl(x | 8);
  c[i] += __builtin_bitreverse32((int)x);
  c[i] += (long)(((unsigned __int128)x * (unsigned long)y) >> 64);
  c[i] += __builtin_rotateleft32((int)x, i);
  long sum;
  c[i] ^= __builtin_add_overflow(x, y, &sum);
  c[i] ^= sum;
}

KERNEL void floats(const float *a, float *c, const double *d, double *e) {
  int i = THREAD;
  float x = a[i];
  float y = __builtin_fmaxf(x, 0.5f) + __builtin_fabsf(x) + __builtin_truncf(x);
  y = y + __builtin_roundevenf(x) + __builtin_copysignf(1.0f, x) + __builtin_floorf(x);
  y = y / (x + 100) + __builtin_sqrtf(__builtin_fabsf(x)) + __builtin_fmaf(x, x, 2.0f);
  y = x > 3 ? y + (float)(unsigned long)x : y - (float)(long)(x * 1000);
  c[i] = y + (float)(unsigned char)(int)x;
  double z = d[i] / 3 + (double)x + __builtin_sqrt(__builtin_fabs(d[i]));
  e[i] = z + __builtin_fma(d[i], d[i], 2.0) + __builtin_ceil(d[i]) + (double)(int)d[i];
}

KERNEL void halves(const _Float16 *a, _Float16 *c) {
  int i = THREAD;
  c[i] = (_Float16)((float)a[i] * 2.0f + 1.0f);
  _Float16 product = (_Float16)(a[i] * a[i + 1]);
  c[i + 64] = (_Float16)(product + a[i + 2]);
}

#ifdef __CUDA__
KERNEL void brainFloats(const __bf16 *f, __bf16 *g) {
  int i = THREAD;
  g[i] = (__bf16)((float)f[i] * 3.0f);
}
#endif
