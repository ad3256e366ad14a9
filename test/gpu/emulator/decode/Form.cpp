//===- Form.cpp - An instruction that is being decoded --------------------===//
//
// Checks modifiers in the order in which the syntax has them, and operands by their types (9.4).
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/decode/Form.h"

namespace tfc::gpu {

bool Form::fail(const std::string &message) {
  error = {source.place, message};
  return false;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Form::take(std::string_view modifier) {
  bool isNext =
      nextModifier < source.modifiers.size() && source.modifiers[nextModifier] == modifier;
  nextModifier += isNext;
  return isNext;
}

int Form::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  int i = 0;
  for (std::string_view modifier : modifiers) {
    if (take(modifier))
      return i;
    ++i;
  }
  return -1;
}

Scalar Form::takeType() {
  if (nextModifier == source.modifiers.size())
    return Scalar::None;
  Scalar type = scalarNamed(source.modifiers[nextModifier]);
  nextModifier += type != Scalar::None;
  return type;
}

bool Form::finish(size_t operandCount) {
  if (nextModifier != source.modifiers.size())
    return unknown();
  if (source.operands.size() != operandCount)
    return fail("'" + source.str() + "' has " + std::to_string(operandCount) +
                " operands, but got " + std::to_string(source.operands.size()));
  return true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Row Form::constantRow(uint64_t value) {
  auto [known, isNew] = constants.try_emplace(value, kSpecialRows + kernel.constants.size());
  if (isNew)
    kernel.constants.push_back(value);
  return known->second;
}

/// Registers come after the constants, whose number is known when all instructions are decoded;
/// until then their rows count from the end.
Row Form::registerRow(unsigned number) const { return UINT16_MAX - number; }

const ptx::Type *Form::typeOf(const ptx::Operand &operand) const {
  return operand.kind == ptx::Operand::Kind::Register ? &function.registers[operand.number].type
                                                      : nullptr;
}

bool Form::addRegister(const ptx::Operand &operand, Scalar type, bool mayBeWider) {
  const ptx::Register &reg = function.registers[operand.number];
  if (!fits(type, reg.type, mayBeWider))
    return fail("register '" + reg.name + "' cannot be an operand of type ." +
                std::string(nameOf(type)));
  if (operand.isNegated && type != Scalar::Pred)
    return fail("'!' applies to predicates");
  if (operand.isNegated)
    out.negated |= 1 << out.operandCount;
  add(registerRow(operand.number));
  return true;
}

bool Form::addSpecial(const ptx::Operand &operand, Scalar type) {
  static const std::map<std::string_view, Row> rows = {{"%tid.x", kThreadRow},
                                                       {"%tid.y", kThreadRow + 1},
                                                       {"%tid.z", kThreadRow + 2},
                                                       {"%ntid.x", kThreadsRow},
                                                       {"%ntid.y", kThreadsRow + 1},
                                                       {"%ntid.z", kThreadsRow + 2},
                                                       {"%ctaid.x", kBlockRow},
                                                       {"%ctaid.y", kBlockRow + 1},
                                                       {"%ctaid.z", kBlockRow + 2},
                                                       {"%nctaid.x", kBlocksRow},
                                                       {"%nctaid.y", kBlocksRow + 1},
                                                       {"%nctaid.z", kBlocksRow + 2},
                                                       {"%laneid", kLaneRow},
                                                       {"%warpid", kWarpRow},
                                                       {"%nwarpid", kWarpsRow},
                                                       {"%lanemask_eq", kLanesEqualRow},
                                                       {"%lanemask_le", kLanesLessEqualRow},
                                                       {"%lanemask_lt", kLanesLessRow},
                                                       {"%lanemask_ge", kLanesGreaterEqualRow},
                                                       {"%lanemask_gt", kLanesGreaterRow},
                                                       {"%dynamic_smem_size", kDynamicSharedRow},
                                                       {"%total_smem_size", kTotalSharedRow}};
  auto found = rows.find(operand.name);
  if (found == rows.end())
    return fail("unknown special register '" + operand.name + "'");
  if (type == Scalar::Pred || isFloat(type) || bitsOf(type) > 32)
    return fail("'" + operand.name + "' has 32 bits");
  add(found->second);
  return true;
}

bool Form::addResult(size_t number, Scalar type, bool mayBeWider) {
  return addResult(source.operands[number], type, mayBeWider);
}

bool Form::addSource(size_t number, Scalar type, bool mayBeWider) {
  return addSource(source.operands[number], type, mayBeWider);
}

bool Form::addResult(const ptx::Operand &operand, Scalar type, bool mayBeWider) {
  using Kind = ptx::Operand::Kind;
  out.results = out.operandCount + 1;
  if (operand.kind == Kind::Sink) {
    add(kSinkRow);
    return true;
  }
  if (operand.kind != Kind::Register || operand.isNegated)
    return fail("expected a register for the result of '" + source.str() + "'");
  return addRegister(operand, type, mayBeWider);
}

bool Form::addSource(const ptx::Operand &operand, Scalar type, bool mayBeWider) {
  using Kind = ptx::Operand::Kind;
  switch (operand.kind) {
  case Kind::Register:
    return addRegister(operand, type, mayBeWider);
  case Kind::Special:
    return addSpecial(operand, type);
  case Kind::Integer:
    if (type == Scalar::Pred || isFloat(type))
      return fail("an integer cannot be an operand of type ." + std::string(nameOf(type)));
    addConstant(operand.value);
    return true;
  case Kind::Float:
    if (bitsOf(type) != (operand.isDouble ? 64 : 32) || isInteger(type))
      return fail("a number of this form cannot be an operand of type ." +
                  std::string(nameOf(type)));
    addConstant(operand.value);
    return true;
  default:
    return fail("'" + source.str() + "' cannot have such an operand");
  }
}

bool Form::addAddress(const ptx::Operand &operand) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind != Kind::Address)
    return fail("expected an address in brackets");
  out.value = operand.value;
  if (operand.elements.empty()) {
    addConstant(0);
    return true;
  }
  const ptx::Operand &base = operand.elements.front();
  if (base.kind == Kind::Register)
    return addRegister(base,
                       bitsOf(Scalar::U64) == function.registers[base.number].type.bits
                           ? Scalar::U64
                           : Scalar::U32,
                       false);
  ptx::Space space;
  uint64_t address;
  if (!symbols.find(base, space, address))
    return fail("there is no variable at this address");
  if (out.space == ptx::Space::Generic && space != ptx::Space::Global)
    return fail("a generic address cannot be that of a variable");
  if (out.space != ptx::Space::Generic && out.space != space)
    return fail("the variable is in another state space");
  addConstant(address);
  return true;
}

bool Form::addGuard() {
  if (!source.guard)
    return true;
  if (function.registers[source.guard->number].type.kind != ptx::Type::Kind::Predicate)
    return fail("expected a predicate after '@'");
  out.hasGuard = true;
  out.isGuardNegated = source.guard->isNegated;
  out.guard = registerRow(source.guard->number);
  return true;
}

bool Form::decodeSame(Scalar type, size_t sources) {
  if (!finish(sources + 1) || !addResult(0, type))
    return false;
  for (size_t i = 1; i <= sources; ++i)
    if (!addSource(i, type))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static DecodeTable makeTable() {
  DecodeTable table;
  for (auto add : {addInteger, addFloat, addHalf, addApproximate, addCompare, addConvert, addMove,
                   addLoadStore, addAtomic, addControl, addWarp, addMatrix})
    add(table);
  return table;
}

static const char *classOf(Scalar type) {
  if (type == Scalar::Pred)
    return "/p";
  if (isFloat(type))
    return "/f";
  if (isHalf(type))
    return "/h";
  return "/i";
}

Decode findDecode(const ptx::Instruction &instruction) {
  static const DecodeTable table = makeTable();
  auto found = table.find(instruction.name);
  for (size_t i = instruction.modifiers.size(); found == table.end() && i-- > 0;)
    if (Scalar type = scalarNamed(instruction.modifiers[i]); type != Scalar::None) {
      found = table.find(instruction.name + classOf(type));
      break;
    }
  return found == table.end() ? nullptr : found->second;
}

} // namespace tfc::gpu
