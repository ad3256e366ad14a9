// The kernels of kernels.ptx, which was made from this file with LLVM 22:
//
//   clang-22 --target=nvptx64 -march=sm_80 -O2 -S -emit-llvm -ffreestanding -fno-math-errno
//     -fno-ident -nogpulib -o - kernels.c | sed 's/"target-features"="[^"]*"//' |
//     llc-22 -mcpu=sm_80 -mattr=+ptx70 -o kernels.ptx

#define KERNEL __attribute__((nvptx_kernel))
#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))

typedef unsigned short uint16_t;
typedef unsigned uint32_t;

static int thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
static int threads(void) { return __nvvm_read_ptx_sreg_ntid_x(); }
static int index(void) { return __nvvm_read_ptx_sreg_ctaid_x() * threads() + thread(); }
static int stride(void) { return __nvvm_read_ptx_sreg_nctaid_x() * threads(); }

static float sumOfWarp(float value) {
  for (int offset = 16; offset; offset /= 2)
    value += __nvvm_shfl_sync_down_f32(-1, value, offset, 31);
  return value;
}

SHARED float partial[32];

/// One sum for each block of 32 warps or fewer.
KERNEL void sum(GLOBAL float *out, const GLOBAL float *in, int n) {
  float value = 0;
  for (int i = index(); i < n; i += stride())
    value += in[i];
  value = sumOfWarp(value);
  if (thread() % 32 == 0)
    partial[thread() / 32] = value;
  __syncthreads();
  if (thread() < 32) {
    value = sumOfWarp(thread() < threads() / 32 ? partial[thread()] : 0);
    if (thread() == 0)
      out[__nvvm_read_ptx_sreg_ctaid_x()] = value;
  }
}

SHARED float tileOfA[16][17], tileOfB[16][17];

/// C[m][n] = A[m][k] * B[k][n] in blocks of 16 x 16 threads.
KERNEL void product(GLOBAL float *c, const GLOBAL float *a, const GLOBAL float *b, int m, int n,
                    int k) {
  int x = thread(), y = __nvvm_read_ptx_sreg_tid_y();
  int row = __nvvm_read_ptx_sreg_ctaid_y() * 16 + y;
  int column = __nvvm_read_ptx_sreg_ctaid_x() * 16 + x;
  float value = 0;
  for (int t = 0; t < k; t += 16) {
    tileOfA[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0;
    tileOfB[y][x] = column < n && t + y < k ? b[(t + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      value += tileOfA[y][i] * tileOfB[i][x];
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = value;
}

extern SHARED int pool[];

/// Sorts what one block holds, in 4 bytes of dynamic shared memory for each thread.
KERNEL void sort(GLOBAL int *data, int n) {
  int i = thread();
  pool[i] = i < n ? data[i] : 0x7fffffff;
  for (int k = 2; k <= threads(); k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int other = i ^ j;
      if (other > i) {
        int low = pool[i], high = pool[other];
        if ((low > high) == ((i & k) == 0)) {
          pool[i] = high;
          pool[other] = low;
        }
      }
    }
  __syncthreads();
  if (i < n)
    data[i] = pool[i];
}

SHARED uint32_t counts[256];

KERNEL void histogram(GLOBAL uint32_t *out, const GLOBAL unsigned char *in, int n) {
  for (int i = thread(); i < 256; i += threads())
    counts[i] = 0;
  __syncthreads();
  for (int i = index(); i < n; i += stride())
    __nvvm_atom_add_gen_i((int *)&counts[in[i]], 1);
  __syncthreads();
  for (int i = thread(); i < 256; i += threads())
    __nvvm_atom_add_gen_i((int *)&out[i], counts[i]);
}

/// The sum of x^i / (i + 1).
__attribute__((noinline)) static float polynomial(float x, int degree) {
  volatile float coefficients[8];
  for (int i = 0; i <= degree; ++i)
    coefficients[i] = 1.0f / (i + 1);
  float y = 0;
  for (int i = degree; i >= 0; --i)
    y = y * x + coefficients[i];
  return y;
}

KERNEL void evaluate(GLOBAL float *out, const GLOBAL float *in, int n) {
  int i = index();
  if (i >= n)
    return;
  float x = in[i];
  switch (i % 8) {
  case 0:
    x = __builtin_sqrtf(x);
    break;
  case 1:
    x = __nvvm_ex2_approx_f(x);
    break;
  case 2:
    x = -x;
    break;
  case 3:
    x = __builtin_floorf(x);
    break;
  case 4:
    x = (float)(long)(x * 1000);
    break;
  case 5:
    x = x / 3;
    break;
  case 6:
    x = (float)(_Float16)x;
    break;
  }
  out[i] = polynomial(x, i % 7);
}

static uint32_t ofShared(SHARED void *pointer) { return (uint32_t)(unsigned long)pointer; }

SHARED __attribute__((aligned(16))) uint16_t stageOfA[2][16][24], stageOfB[2][8][24];

static void copy(const GLOBAL uint16_t *a, const GLOBAL uint16_t *b, int stage) {
  int lane = thread(), offset = lane / 2 * 64 + stage * 16 + lane % 2 * 8;
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       ofShared(&stageOfA[stage & 1][lane / 2][lane % 2 * 8])),
                   "l"(a + offset)
                   : "memory");
  if (lane < 16)
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         ofShared(&stageOfB[stage & 1][lane / 2][lane % 2 * 8])),
                     "l"(b + offset)
                     : "memory");
  __asm__ volatile("cp.async.commit_group;" ::: "memory");
}

/// One warp: C[16][8] = A[16][64] * (B[8][64])' of f16, in two stages.
KERNEL void tensor(GLOBAL float *c, const GLOBAL uint16_t *a, const GLOBAL uint16_t *b) {
  int lane = thread();
  float d[4] = {0, 0, 0, 0};
  copy(a, b, 0);
  for (int stage = 0; stage < 4; ++stage) {
    if (stage < 3) {
      copy(a, b, stage + 1);
      __asm__ volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      __asm__ volatile("cp.async.wait_all;" ::: "memory");
    }
    __nvvm_bar_warp_sync(-1);
    uint32_t x[4], y[2];
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(ofShared(&stageOfA[stage & 1][lane % 16][lane / 16 * 8]))
                     : "memory");
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1])
                     : "r"(ofShared(&stageOfB[stage & 1][lane % 8][lane / 8 % 2 * 8]))
                     : "memory");
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    __nvvm_bar_warp_sync(-1);
  }
  for (int i = 0; i < 4; ++i)
    c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
