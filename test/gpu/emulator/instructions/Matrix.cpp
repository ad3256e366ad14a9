//===- Matrix.cpp - Products of matrices by warps -------------------------===//
//
// mma.sync and ldmatrix, sections 9.7.14.5 of the PTX ISA. The 32 lanes of a warp hold parts of the
// matrices, which the figures of the ISA describe by groups of four lanes: lane 4 g + t has the
// rows or columns g, and t says which of the others.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"
#include "test/gpu/emulator/instructions/Half.h"
#include <cstring>

namespace tfc::gpu {

namespace {

constexpr int kRows = 16, kColumns = 8; // of the result
constexpr unsigned kMatrixRows = 8;     // of ldmatrix, of 16 bytes

/// Instruction::value of products.
enum class Kind : int64_t { F16, BF16, TF32 };

/// The elements of a register: two of 16 bits, or one.
int packOf(Kind kind) { return kind == Kind::TF32 ? 1 : 2; }

float readElement(uint64_t cell, int part, Kind kind) {
  uint16_t half = static_cast<uint16_t>(cell >> (16 * part));
  switch (kind) {
  case Kind::F16:
    return static_cast<float>(fromHalf(half, kF16));
  case Kind::BF16:
    return static_cast<float>(fromHalf(half, kBF16));
  case Kind::TF32:
    return fromCell<float>(cell & ~uint64_t(0x1fff)); // the low bits are ignored
  }
}

/// The factors as whole matrices.
struct Factors {
  double a[kRows][16], b[16][kColumns];
};

/// A register of A has elements of row g, or g + 8 if its number is odd; those from number 2 on are
/// in the second half of the columns. B has no such rows.
Factors gather(Warp &warp, const Instruction &instruction, Kind kind, int depth) {
  Factors factors;
  int pack = packOf(kind), registersOfB = depth / (4 * pack), registersOfA = 2 * registersOfB;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (int part = 0; part < pack; ++part) {
      int group = lane / 4, first = int(lane % 4) * pack + part;
      for (int i = 0; i < registersOfA; ++i)
        factors.a[group + 8 * (i % 2)][first + 4 * pack * (i / 2)] =
            readElement(warp.cells(instruction.operands[4 + i])[lane], part, kind);
      for (int i = 0; i < registersOfB; ++i)
        factors.b[first + 4 * pack * i][group] =
            readElement(warp.cells(instruction.operands[4 + registersOfA + i])[lane], part, kind);
    }
  return factors;
}

/// The order of the sums, and how they are rounded, are those of a device; here a sum is exact, and
/// then rounded once.
template <int depth> void multiply(Warp &warp, const Instruction &instruction, uint32_t) {
  Kind kind = Kind(instruction.value);
  Factors factors = gather(warp, instruction, kind, depth);
  int operandOfC = 4 + 3 * depth / (4 * packOf(kind));
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    float sums[4];
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + 8 * (i / 2), column = int(lane % 4) * 2 + i % 2;
      double sum = fromCell<float>(warp.cells(instruction.operands[operandOfC + i])[lane]);
      for (int k = 0; k < depth; ++k)
        sum += factors.a[row][k] * factors.b[k][column];
      sums[i] = static_cast<float>(sum);
    }
    for (int i = 0; i < 4; ++i)
      warp.cells(instruction.operands[i])[lane] = toCell(sums[i]);
  }
}

/// Lane 8 m + r has the address of row r of matrix m. Each lane gets two neighbours of a row of
/// each matrix, with .trans of a column.
void loadMatrices(Warp &warp, const Instruction &instruction, uint32_t) {
  unsigned matrices = instruction.results;
  const uint64_t *addresses = warp.cells(instruction.operands[matrices]);
  uint16_t elements[4][kMatrixRows][8];
  for (unsigned lane = 0; lane < matrices * kMatrixRows; ++lane) {
    uint64_t address = addresses[lane] + instruction.value;
    ptx::Space space = Block::resolve(instruction.space, address);
    if (space != ptx::Space::Shared)
      return warp.fail(lane, "loads a matrix that is not in shared memory");
    const uint8_t *row =
        warp.block.access(space, address, 16, Block::Kind::Read, warp.momentOf(lane));
    if (!row)
      return warp.fail(lane, warp.block.error);
    memcpy(elements[lane / kMatrixRows][lane % kMatrixRows], row, 16);
  }
  bool isTransposed = instruction.isSigned;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned m = 0; m < matrices; ++m) {
      uint32_t pair = 0;
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = lane / 4, column = lane % 4 * 2 + i;
        uint16_t element = isTransposed ? elements[m][column][row] : elements[m][row][column];
        pair |= uint32_t(element) << (16 * i);
      }
      warp.cells(instruction.operands[m])[lane] = pair;
    }
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// All lanes of a warp execute these together.
static bool addWholeWarp(Form &form) {
  form.out.rendezvous = Rendezvous::Lanes;
  form.addConstant(kAllLanes);
  return true;
}

static bool addVector(Form &form, size_t number, int count, Scalar type, bool isResult) {
  const ptx::Operand &vector = form.source.operands[number];
  if (vector.kind != ptx::Operand::Kind::Vector || int(vector.elements.size()) != count)
    return form.fail("expected " + std::to_string(count) + " registers in braces");
  for (const ptx::Operand &element : vector.elements)
    if (!(isResult ? form.addResult(element, type) : form.addSource(element, type)))
      return false;
  return true;
}

static Instruction::Execute productOf(int depth) {
  return depth == 4    ? &multiply<4>
         : depth == 8  ? &multiply<8>
         : depth == 16 ? &multiply<16>
                       : nullptr;
}

/// mma.sync.aligned.shape.row.col.f32.type.type.f32
static bool decodeProduct(Form &form) {
  bool isAligned = form.take("sync") && form.take("aligned");
  static constexpr int kDepths[] = {4, 8, 16};
  int shape = isAligned ? form.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16"}) : -1;
  bool isOrdered = shape >= 0 && form.take("row") && form.take("col");
  if (!isOrdered || form.takeType() != Scalar::F32)
    return form.unknown();
  Scalar type = form.takeType();
  Kind kind = type == Scalar::F16 ? Kind::F16 : type == Scalar::BF16 ? Kind::BF16 : Kind::TF32;
  int depth = kDepths[shape];
  bool isShape = kind == Kind::TF32 ? type == Scalar::TF32 && depth < 16 : depth > 4;
  if (!isShape || form.takeType() != type || form.takeType() != Scalar::F32)
    return form.unknown();
  form.out.value = int64_t(kind);
  form.out.multiplyAdds = uint8_t(kRows * kColumns * depth / kLanes); // of a lane
  int registersOfB = depth / (4 * packOf(kind));
  return setExecute(form, productOf(depth), Class::Matrix) && form.finish(4) &&
         addVector(form, 0, 4, Scalar::F32, true) &&
         addVector(form, 1, 2 * registersOfB, Scalar::B32, false) &&
         addVector(form, 2, registersOfB, Scalar::B32, false) &&
         addVector(form, 3, 4, Scalar::F32, false) && addWholeWarp(form);
}

static bool decodeLoad(Form &form) {
  bool isKnown = form.take("sync") && form.take("aligned") && form.take("m8n8");
  int count = form.takeOneOf({"x1", "x2", "x4"});
  form.out.isSigned = form.take("trans");
  if (!isKnown || count < 0)
    return form.unknown();
  if (form.take("shared"))
    form.out.space = ptx::Space::Shared;
  if (form.takeType() != Scalar::B16)
    return form.unknown();
  return setExecute(form, &loadMatrices, Class::Memory) && form.finish(2) &&
         addVector(form, 0, 1 << count, Scalar::B32, true) &&
         form.addAddress(form.source.operands[1]) && addWholeWarp(form);
}

void addMatrix(DecodeTable &table) {
  table["mma"] = decodeProduct;
  table["ldmatrix"] = decodeLoad;
}

} // namespace tfc::gpu
