//===- Matrices.cpp - Products of tensor cores ----------------------------===//
//
// Sections 9.7.14.5: mma.sync of m16n8 shapes and ldmatrix. All 32 lanes take part. The fragments
// of all shapes follow one rule: a lane holds `elements` neighbours of each 4 * elements columns of
// A (rows of B), in the row (column) lane / 4, and of A also that row plus 8.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/execute/Accesses.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>
#include <cmath>

namespace tfc::gpu {

using enum Scalar;

static constexpr unsigned kRows = 16, kColumns = 8, kMaxDepth = 32;

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a product. D and C have the same layout.
struct Product {
  unsigned depth;    // k
  unsigned elements; // of A and B in a register
  Scalar a, b;
  bool isHalfSum; // C and D are f16
  bool isSaturated;

  unsigned registersOfA() const { return kRows * depth / kLanes / elements; }
  unsigned registersOfB() const { return kColumns * depth / kLanes / elements; }
  unsigned registersOfSum() const { return isHalfSum ? 2 : 4; }
};
} // namespace

/// The product is kept in the bits of an instruction's value.
static int64_t pack(const Product &p) {
  return p.depth | int64_t(p.elements) << 8 | int64_t(p.a) << 16 | int64_t(p.b) << 24 |
         int64_t(p.isHalfSum) << 32 | int64_t(p.isSaturated) << 33;
}

static Product unpack(int64_t v) {
  return {static_cast<unsigned>(v & 0xff),
          static_cast<unsigned>(v >> 8 & 0xff),
          static_cast<Scalar>(v >> 16 & 0xff),
          static_cast<Scalar>(v >> 24 & 0xff),
          (v >> 32 & 1) != 0,
          (v >> 33 & 1) != 0};
}

/// An element of a register.
static double elementOf(Scalar type, uint32_t bits, unsigned index) {
  switch (type) {
  case F16:
    return halfToFloat(static_cast<uint16_t>(bits >> (16 * index)));
  case BF16:
    return brainToFloat(static_cast<uint16_t>(bits >> (16 * index)));
  case TF32: // the last 13 bits take no part
    return floatOf(bits & ~0x1fffu);
  case S8:
    return static_cast<int8_t>(bits >> (8 * index));
  default:
    return static_cast<uint8_t>(bits >> (8 * index));
  }
}

/// Calls `body(lane, register, element, row, column)` for the elements of C and D.
template <typename Body> static void forEachSum(bool isHalf, Body body) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      body(lane, isHalf ? i / 2 : i, isHalf ? i % 2 : 0, lane / 4 + 8 * (i / 2),
           lane % 4 * 2 + i % 2);
}

static void gather(Warp &warp, const Product &p, const Row *a, const Row *b,
                   double (&inA)[kRows][kMaxDepth], double (&inB)[kMaxDepth][kColumns]) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned row = lane / 4, part = lane % 4;
    for (unsigned r = 0; r < p.registersOfA(); ++r)
      for (unsigned e = 0; e < p.elements; ++e)
        inA[row + 8 * (r % 2)][(r / 2 * 4 + part) * p.elements + e] =
            elementOf(p.a, static_cast<uint32_t>(warp.cells(a[r])[lane]), e);
    for (unsigned r = 0; r < p.registersOfB(); ++r)
      for (unsigned e = 0; e < p.elements; ++e)
        inB[(r * 4 + part) * p.elements + e][row] =
            elementOf(p.b, static_cast<uint32_t>(warp.cells(b[r])[lane]), e);
  }
}

/// The order and rounding of the sum are left open, at least as precise as f32. So a sum that is no
/// f32 is off by up to a last place of its largest term.
static double sumOf(const double *row, const double (*b)[kColumns], unsigned column, double c,
                    unsigned depth, uint64_t seed) {
  double sum = c, largest = std::fabs(c);
  for (unsigned k = 0; k < depth; ++k) {
    double term = row[k] * b[k][column];
    sum += term;
    largest = std::max(largest, std::fabs(term));
  }
  if (double(static_cast<float>(sum)) == sum || !std::isfinite(sum))
    return sum;
  uint64_t hash = (bitsOf(sum) ^ seed * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  return sum + largest * 0x1p-24 * (static_cast<double>(hash >> 32) * 0x1p-31 - 1);
}

/// Fails unless all lanes execute an instruction together.
static bool requireWholeWarp(Warp &warp, uint32_t active) {
  if (active == kAllLanes)
    return true;
  unsigned missing = std::countr_one(active);
  warp.fail(std::countr_zero(active),
            "lane " + std::to_string(missing) + " of the warp does not take part");
  return false;
}

static void multiplyFloats(Warp &warp, const Instruction &i, uint32_t active) {
  if (!requireWholeWarp(warp, active))
    return;
  Product p = unpack(i.value);
  const Row *d = i.operands, *a = d + i.results, *b = a + p.registersOfA(),
            *c = b + p.registersOfB();
  double inA[kRows][kMaxDepth], inB[kMaxDepth][kColumns], inC[kRows][kColumns];
  gather(warp, p, a, b, inA, inB);
  forEachSum(p.isHalfSum,
             [&](unsigned lane, unsigned r, unsigned e, unsigned row, unsigned column) {
               auto bits = static_cast<uint32_t>(warp.cells(c[r])[lane]);
               inC[row][column] = p.isHalfSum ? elementOf(F16, bits, e) : floatOf(bits);
             });
  forEachSum(p.isHalfSum, [&](unsigned lane, unsigned r, unsigned e, unsigned row,
                              unsigned column) {
    double sum = sumOf(inA[row], inB, column, inC[row][column], p.depth, warp.block.launch.seed);
    uint64_t &cell = warp.cells(d[r])[lane];
    uint64_t bits = encode(sum, p.isHalfSum ? kHalf : kSingle, Rounding::Nearest);
    cell = e == 0 ? bits : (cell & 0xffff) | bits << 16;
  });
}

/// Sums of integers wrap around, or are clamped with .satfinite.
static void multiplyIntegers(Warp &warp, const Instruction &i, uint32_t active) {
  if (!requireWholeWarp(warp, active))
    return;
  Product p = unpack(i.value);
  const Row *d = i.operands, *a = d + i.results, *b = a + p.registersOfA(),
            *c = b + p.registersOfB();
  double inA[kRows][kMaxDepth], inB[kMaxDepth][kColumns];
  gather(warp, p, a, b, inA, inB);
  forEachSum(false, [&](unsigned lane, unsigned r, unsigned, unsigned row, unsigned column) {
    int64_t sum = static_cast<int32_t>(warp.cells(c[r])[lane]);
    for (unsigned k = 0; k < p.depth; ++k)
      sum += static_cast<int64_t>(inA[row][k] * inB[k][column]);
    if (p.isSaturated)
      sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    warp.cells(d[r])[lane] = static_cast<uint32_t>(sum);
  });
}

/// Returns false if there is no such product on compute capability 8.0.
static bool isProduct(const Product &p, Scalar d, Scalar c) {
  switch (p.a) {
  case F16:
    return (p.depth == 8 || p.depth == 16) && p.b == F16 && c == d && (d == F16 || d == F32);
  case BF16:
    return (p.depth == 8 || p.depth == 16) && p.b == BF16 && c == F32 && d == F32;
  case TF32:
    return (p.depth == 4 || p.depth == 8) && p.b == TF32 && c == F32 && d == F32;
  default:
    return (p.depth == 16 || p.depth == 32) && (p.b == S8 || p.b == U8) && c == S32 && d == S32;
  }
}

/// mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c
static void decodeProduct(Decoder &d) {
  d.requireOneOf({"sync"});
  d.requireOneOf({"aligned"});
  static constexpr unsigned kDepths[] = {4, 8, 16, 32};
  Product p{};
  p.depth = kDepths[d.requireOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"})];
  d.requireOneOf({"row"});
  d.requireOneOf({"col"});
  p.isSaturated = d.takeIf("satfinite");
  Scalar sum = d.takeType({F16, F32, S32});
  p.a = d.takeType({F16, BF16, TF32, S8, U8});
  p.b = d.takeType({F16, BF16, TF32, S8, U8});
  Scalar c = d.takeType({F16, F32, S32});
  d.endModifiers();
  bool areIntegers = isInteger(p.a);
  if (!isProduct(p, sum, c) || (p.isSaturated && !areIntegers))
    return d.failUnknown();
  p.elements = areIntegers ? 4 : p.a == TF32 ? 1 : 2;
  p.isHalfSum = sum == F16;
  d.requireCount(4);
  Scalar sumRegister = p.isHalfSum ? B32 : sum;
  d.addResults(d.operand(0), sumRegister, p.registersOfSum());
  d.addSources(d.operand(1), B32, p.registersOfA());
  d.addSources(d.operand(2), B32, p.registersOfB());
  d.addSources(d.operand(3), sumRegister, p.registersOfSum());
  d.instruction.value = pack(p);
  d.instruction.multiplyAdds = static_cast<uint16_t>(kRows * kColumns * p.depth);
  d.setExecute(areIntegers ? multiplyIntegers : multiplyFloats, Class::Tensor);
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Lane 8 * m + r has the address of row r of matrix m; each lane gets two neighbours of a row, or
/// of a column with .trans.
static void loadMatrices(Warp &warp, const Instruction &i, uint32_t active) {
  if (!requireWholeWarp(warp, active))
    return;
  unsigned count = i.results;
  const uint64_t *base = warp.cells(i.operands[count]);
  uint16_t elements[4][8][8];
  LaneAddresses addresses;
  bool isFast = enterRaces(warp, active);
  for (unsigned lane = 0; lane < 8 * count; ++lane) {
    uint64_t address = base[lane] + i.value;
    ptx::Space space = resolve(i.access.space, address);
    if (space != ptx::Space::Shared)
      return warp.fail(lane, "address " + inHexadecimal(address) + " is not in shared memory");
    const uint8_t *from = toRead(warp, lane, space, address, 16, Access::Read, isFast);
    if (!from)
      return;
    memcpy(elements[lane / 8][lane % 8], from, 16);
    addresses.of[lane] = address;
    addresses.shared |= 1u << lane;
  }
  countAccesses(warp.block.counters, addresses, 16, false);
  bool isTransposed = i.flags != 0;
  for (unsigned m = 0; m < count; ++m) {
    uint64_t *result = warp.cells(i.operands[m]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      uint32_t low = isTransposed ? elements[m][column][row] : elements[m][row][column];
      uint32_t high = isTransposed ? elements[m][column + 1][row] : elements[m][row][column + 1];
      result[lane] = low | high << 16;
    }
  }
}

/// ldmatrix.sync.aligned.m8n8.num{.trans}{.shared}.b16 r, [p]
static void decodeLoadMatrices(Decoder &d) {
  d.requireOneOf({"sync"});
  d.requireOneOf({"aligned"});
  d.requireOneOf({"m8n8"});
  unsigned count = 1u << d.requireOneOf({"x1", "x2", "x4"});
  d.instruction.flags = d.takeIf("trans");
  AccessForm form;
  form.space =
      d.takeOneOf({"shared", "shared::cta"}) < 0 ? ptx::Space::Generic : ptx::Space::Shared;
  form.bytes = 16;
  d.takeType({B16});
  d.endModifiers();
  d.requireCount(2);
  d.addResults(d.operand(0), B32, count);
  d.addAddress(d.operand(1), form);
  d.instruction.access = form;
  d.setExecute(loadMatrices, Class::Shared);
}

const Entry kTensorEntries[] = {
    {"mma", Entry::Any, decodeProduct}, {"ldmatrix", Entry::Any, decodeLoadMatrices}, {}};

} // namespace tfc::gpu
