//===- Move.cpp - Moves and addresses -------------------------------------===//
//
// mov, also of vectors and of addresses, cvta and isspacep: sections 9.7.9 of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"

namespace tfc::gpu {

namespace {

void move(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[1]);
  forEachLane(active, [=](unsigned lane) { result[lane] = a[lane]; });
}

void movePredicate(Warp &warp, const Instruction &instruction, uint32_t active) {
  warp.setMask(instruction.operands[0], active, warp.predicate(instruction, 1));
}

/// The elements of a vector side by side, the first one lowest. Instruction::bytes is the size of
/// one.
void pack(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  unsigned bits = 8 * instruction.bytes;
  uint64_t mask = ~uint64_t(0) >> (64 - bits);
  forEachLane(active, [&](unsigned lane) {
    uint64_t packed = 0;
    for (unsigned i = 1; i < instruction.operandCount; ++i)
      packed |= (warp.cells(instruction.operands[i])[lane] & mask) << (bits * (i - 1));
    result[lane] = packed;
  });
}

void unpack(Warp &warp, const Instruction &instruction, uint32_t active) {
  const uint64_t *a = warp.cells(instruction.operands[instruction.results]);
  unsigned bits = 8 * instruction.bytes;
  uint64_t mask = ~uint64_t(0) >> (64 - bits);
  forEachLane(active, [&](unsigned lane) {
    uint64_t packed = a[lane]; // may be one of the results
    for (unsigned i = 0; i < instruction.results; ++i)
      warp.cells(instruction.operands[i])[lane] = packed >> (bits * i) & mask;
  });
}

uint64_t windowOf(ptx::Space space) {
  return space == ptx::Space::Shared  ? Block::kSharedWindow
         : space == ptx::Space::Local ? Block::kLocalWindow
                                      : 0;
}

void toGeneric(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[1]);
  uint64_t window = windowOf(instruction.space);
  forEachLane(active, [=](unsigned lane) { result[lane] = a[lane] + window; });
}

/// The address has to lie in the space.
void fromGeneric(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[1]);
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = a[lane];
    ptx::Space space = Block::resolve(ptx::Space::Generic, address);
    bool isThere = space == instruction.space ||
                   (space == ptx::Space::Global && instruction.space == ptx::Space::Constant);
    if (!isThere)
      warp.fail(lane, "converts " + inHexadecimal(a[lane]) + " to a state space where it is not");
    result[lane] = address;
  });
}

void isInSpace(Warp &warp, const Instruction &instruction, uint32_t active) {
  const uint64_t *a = warp.cells(instruction.operands[1]);
  uint32_t bits = 0;
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = a[lane];
    ptx::Space space = Block::resolve(ptx::Space::Generic, address);
    bool isConstant = space == ptx::Space::Global && warp.block.memory.isConstant(address);
    bool isThere = instruction.space == ptx::Space::Constant
                       ? isConstant
                       : space == instruction.space && !isConstant;
    bits |= uint32_t(isThere) << lane;
  });
  warp.setMask(instruction.operands[0], active, bits);
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool decodeVectorMove(Form &form, Scalar type) {
  const ptx::Operand &to = form.source.operands[0], &from = form.source.operands[1];
  bool isPack = from.kind == ptx::Operand::Kind::Vector;
  const std::vector<ptx::Operand> &elements = isPack ? from.elements : to.elements;
  if (!isBits(type) || (elements.size() != 2 && elements.size() != 4))
    return form.unknown();
  int bits = bitsOf(type) / static_cast<int>(elements.size());
  Scalar part = bits == 32 ? Scalar::B32 : bits == 16 ? Scalar::B16 : Scalar::B8;
  form.out.bytes = static_cast<uint8_t>(bits / 8);
  if (bits < 8 || !setExecute(form, isPack ? &pack : &unpack, Class::Move))
    return form.unknown();
  if (isPack && !form.addResult(to, type))
    return false;
  for (const ptx::Operand &element : elements)
    if (!(isPack ? form.addSource(element, part) : form.addResult(element, part)))
      return false;
  return isPack || form.addSource(from, type);
}

static bool decodeMove(Form &form) {
  Scalar type = form.takeType();
  if (type == Scalar::None || isHalf(type) || bitsOf(type) == 8)
    return form.unknown();
  if (!form.finish(2))
    return false;
  using Kind = ptx::Operand::Kind;
  const ptx::Operand &to = form.source.operands[0], &from = form.source.operands[1];
  if (to.kind == Kind::Vector || from.kind == Kind::Vector)
    return decodeVectorMove(form, type);
  if (type == Scalar::Pred)
    return setExecute(form, &movePredicate, Class::Move) && form.addResult(0, type) &&
           form.addSource(1, type);
  if (!setExecute(form, &move, Class::Move) || !form.addResult(0, type))
    return false;
  ptx::Space space;
  uint64_t address;
  if (!form.findSymbol(from, space, address))
    return form.addSource(1, type);
  if (bitsOf(type) < 32 || isFloat(type))
    return form.fail("an address has 32 or 64 bits");
  form.addConstant(address);
  return true;
}

static bool takeSpace(Form &form) {
  static constexpr ptx::Space kSpaces[] = {ptx::Space::Global, ptx::Space::Shared,
                                           ptx::Space::Local, ptx::Space::Constant};
  int space = form.takeOneOf({"global", "shared", "local", "const"});
  if (space >= 0)
    form.out.space = kSpaces[space];
  return space >= 0;
}

static bool decodeAddress(Form &form) {
  bool isFrom = form.take("to");
  if (!takeSpace(form) || form.takeType() != Scalar::U64)
    return form.unknown();
  if (!setExecute(form, isFrom ? &fromGeneric : &toGeneric, Class::Move) || !form.finish(2) ||
      !form.addResult(0, Scalar::U64))
    return false;
  ptx::Space space;
  uint64_t address;
  if (!form.findSymbol(form.source.operands[1], space, address))
    return form.addSource(1, Scalar::U64);
  if (isFrom || space != form.out.space)
    return form.fail("the variable is in another state space");
  form.addConstant(address);
  return true;
}

static bool decodeIsInSpace(Form &form) {
  if (!takeSpace(form))
    return form.unknown();
  return setExecute(form, &isInSpace, Class::Move) && form.finish(2) &&
         form.addResult(0, Scalar::Pred) && form.addSource(1, Scalar::U64);
}

void addMove(DecodeTable &table) {
  table["mov"] = decodeMove;
  table["cvta"] = decodeAddress;
  table["isspacep"] = decodeIsInSpace;
}

} // namespace tfc::gpu
