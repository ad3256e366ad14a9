//===- Decoder.cpp - Checks an instruction and binds its operands ---------===//
//
// The rules for operands that all instructions share (6 and 9.4 of the ISA).
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/decode/Decoder.h"
#include <algorithm>

namespace tfc::gpu {

using Kind = ptx::Operand::Kind;

Row Constants::rowOf(uint64_t value) {
  auto [found, isNew] = rows.try_emplace(value, 0);
  if (isNew) {
    found->second = static_cast<Row>(cells.size() / kLanes) | kConstantRow;
    cells.insert(cells.end(), kLanes, value);
  }
  return found->second;
}

void Decoder::fail(const std::string &message) {
  if (error.empty())
    error = message;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Decoder::takeIf(std::string_view modifier) {
  bool isThere = taken < source.modifiers.size() && source.modifiers[taken] == modifier;
  taken += isThere;
  return isThere;
}

int Decoder::takeOneOf(std::initializer_list<std::string_view> names) {
  int index = 0;
  for (std::string_view name : names) {
    if (takeIf(name))
      return index;
    ++index;
  }
  return -1;
}

int Decoder::requireOneOf(std::initializer_list<std::string_view> names) {
  int index = takeOneOf(names);
  if (index < 0)
    failUnknown();
  return std::max(index, 0);
}

Scalar Decoder::takeType(std::initializer_list<Scalar> types) {
  Scalar type =
      taken < source.modifiers.size() ? scalarNamed(source.modifiers[taken]) : Scalar::None;
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    failUnknown();
    return *types.begin();
  }
  ++taken;
  return type;
}

Scalar Decoder::lastType() const {
  return source.modifiers.empty() ? Scalar::None : scalarNamed(source.modifiers.back());
}

bool Decoder::hasModifier(std::string_view modifier) const {
  return std::find(source.modifiers.begin(), source.modifiers.end(), modifier) !=
         source.modifiers.end();
}

void Decoder::endModifiers() {
  if (taken != source.modifiers.size())
    failUnknown();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

const ptx::Operand &Decoder::operand(size_t i) {
  static const ptx::Operand none;
  return i < source.operands.size() ? source.operands[i] : none;
}

void Decoder::requireCount(size_t count) {
  if (source.operands.size() != count)
    fail("expected " + std::to_string(count) + " operands for '" + source.str() + "', but got " +
         std::to_string(source.operands.size()));
}

std::string Decoder::kindOf(const ptx::Operand &operand) const {
  switch (operand.kind) {
  case Kind::Register:
    return "'" + scope.function->registers[operand.number].name + "'";
  case Kind::Special:
  case Kind::Symbol:
    return "'" + operand.name + "'";
  case Kind::Integer:
    return std::to_string(operand.value);
  case Kind::Float:
    return "a float";
  case Kind::Variable:
    return "'" + scope.function->variables[operand.number].name + "'";
  case Kind::Label:
    return "a label";
  case Kind::Targets:
    return "a list of labels";
  case Kind::Address:
    return "an address";
  case Kind::Vector:
    return "a vector";
  case Kind::Pair:
    return "a pair";
  case Kind::List:
    return "a list";
  case Kind::Sink:
    return "'_'";
  }
  return {};
}

const ptx::Type *Decoder::registerType(const ptx::Operand &operand) const {
  return operand.kind == Kind::Register ? &scope.function->registers[operand.number].type : nullptr;
}

void Decoder::addRow(Row row) {
  if (instruction.operandCount == Instruction::kMaxOperands)
    return fail("too many operands");
  instruction.operands[instruction.operandCount++] = row;
}

void Decoder::addResult(const ptx::Operand &operand, Scalar type, bool mayBeWider) {
  ++instruction.results;
  if (operand.kind == Kind::Sink)
    return addRow(kSinkRow);
  const ptx::Type *reg = registerType(operand);
  if (!reg || operand.isNegated || !fits(type, *reg, mayBeWider))
    fail("expected a register for a result of type " + std::string(nameOf(type)) + ", but got " +
         kindOf(operand));
  addRow(scope.firstRow + operand.number);
}

void Decoder::addSource(const ptx::Operand &operand, Scalar type, bool mayBeWider) {
  auto refuse = [&] {
    fail("expected an operand of type " + std::string(nameOf(type)) + ", but got " +
         kindOf(operand));
  };
  if (operand.isNegated)
    refuse();
  switch (operand.kind) {
  case Kind::Register:
    if (!fits(type, *registerType(operand), mayBeWider))
      refuse();
    return addRow(scope.firstRow + operand.number);
  case Kind::Special:
    return addRow(rowOfSpecial(operand, type));
  case Kind::Integer:
  case Kind::Float:
    return addConstant(literal(operand, type));
  case Kind::Variable:
  case Kind::Symbol:
    return addAddressOf(operand, type);
  default:
    return refuse();
  }
}

/// The cell of a number. Integers are cut to the size of the type (4.5.1); floats have the size of
/// the type.
uint64_t Decoder::literal(const ptx::Operand &operand, Scalar type) {
  int bits = bitsOf(type);
  bool isInt = isInteger(type) || isBits(type) || type == Scalar::Pred;
  bool isFloatOfSize = (isFloat(type) || isBits(type)) && bits == (operand.isDouble ? 64 : 32);
  if (operand.kind == Kind::Integer ? !isInt : !isFloatOfSize)
    fail("expected an operand of type " + std::string(nameOf(type)) + ", but got " +
         kindOf(operand));
  auto value = static_cast<uint64_t>(operand.value);
  if (type == Scalar::Pred)
    return value != 0 ? kAllLanes : 0;
  return bits < 64 ? value & ((uint64_t(1) << bits) - 1) : value;
}

/// Chapter 10: special registers are operands of mov alone. Clocks are read by a function of their
/// own.
Row Decoder::rowOfSpecial(const ptx::Operand &operand, Scalar type) {
  struct Special {
    std::string_view name;
    Row row;
    int bits;
  };
  static constexpr Special kSpecials[] = {
      {"%tid.x", kThreadRow, 32},
      {"%tid.y", kThreadRow + 1, 32},
      {"%tid.z", kThreadRow + 2, 32},
      {"%ntid.x", kThreadsRow, 32},
      {"%ntid.y", kThreadsRow + 1, 32},
      {"%ntid.z", kThreadsRow + 2, 32},
      {"%ctaid.x", kBlockRow, 32},
      {"%ctaid.y", kBlockRow + 1, 32},
      {"%ctaid.z", kBlockRow + 2, 32},
      {"%nctaid.x", kBlocksRow, 32},
      {"%nctaid.y", kBlocksRow + 1, 32},
      {"%nctaid.z", kBlocksRow + 2, 32},
      {"%laneid", kLaneRow, 32},
      {"%warpid", kWarpRow, 32},
      {"%nwarpid", kWarpsRow, 32},
      {"%lanemask_eq", kLanesEqualRow, 32},
      {"%lanemask_le", kLanesLessEqualRow, 32},
      {"%lanemask_lt", kLanesLessRow, 32},
      {"%lanemask_ge", kLanesGreaterEqualRow, 32},
      {"%lanemask_gt", kLanesGreaterRow, 32},
      {"%gridid", kGridRow, 64},
      {"%smid", kMultiprocessorRow, 32},
      {"%nsmid", kMultiprocessorsRow, 32},
      {"%dynamic_smem_size", kDynamicSharedRow, 32},
      {"%total_smem_size", kTotalSharedRow, 32},
  };
  for (const Special &special : kSpecials) {
    if (operand.name != special.name)
      continue;
    if (source.name != "mov")
      fail("expected a register, but got " + kindOf(operand) + ", which mov alone reads");
    if (special.bits != bitsOf(type) || isFloat(type) || isHalf(type))
      fail("expected an operand of type " + std::string(nameOf(type)) + ", but got " +
           kindOf(operand));
    return special.row;
  }
  fail("register " + kindOf(operand) + " is not declared");
  return kZeroRow;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

const Symbol *Decoder::symbolOf(const ptx::Operand &operand) {
  if (operand.kind == Kind::Variable)
    return &scope.variables[operand.number];
  auto found = scope.symbols->find(operand.name);
  if (operand.kind == Kind::Symbol && found != scope.symbols->end())
    return &found->second;
  fail("expected a variable, but got " + kindOf(operand));
  return nullptr;
}

/// The address of a variable in its space (6.4.1).
void Decoder::addAddressOf(const ptx::Operand &operand, Scalar type) {
  const Symbol *symbol = symbolOf(operand);
  if (!symbol)
    return;
  bool isAddress = (isBits(type) || isInteger(type)) && bitsOf(type) >= 32;
  if (!isAddress || symbol->isFunction || symbol->isOfCall)
    fail("expected an operand of type " + std::string(nameOf(type)) + ", but got " +
         kindOf(operand));
  if (bitsOf(type) == 32 && symbol->address > UINT32_MAX)
    fail("the address of " + kindOf(operand) + " has 64 bits");
  addConstant(symbol->address + static_cast<uint64_t>(operand.value));
}

void Decoder::addAddress(const ptx::Operand &operand, AccessForm &access) {
  if (operand.kind != Kind::Address)
    return fail("expected an address, but got " + kindOf(operand));
  instruction.value = operand.value;
  if (operand.elements.empty())
    return addConstant(0);
  const ptx::Operand &base = operand.elements.front();
  if (const ptx::Type *reg = registerType(base)) {
    bool mayBeShort = access.space != ptx::Space::Global && access.space != ptx::Space::Generic;
    bool isShort = reg->bits == 32 && mayBeShort;
    if (reg->kind == ptx::Type::Kind::Float || (reg->bits != 64 && !isShort))
      fail("expected a register for an address, but got " + kindOf(base));
    return addRow(scope.firstRow + base.number);
  }
  const Symbol *symbol = symbolOf(base);
  if (!symbol)
    return;
  bool isGlobal = access.space == ptx::Space::Generic && symbol->space == ptx::Space::Global;
  if (symbol->isFunction || (symbol->space != access.space && !isGlobal))
    fail(kindOf(base) + " is not in the space of '" + source.str() + "'");
  if (symbol->isOfCall) {
    access.isOfCall = true;
    access.space = ptx::Space::Local;
    int64_t bytes = int64_t(access.bytes) * access.count;
    if (operand.value < 0 || operand.value + bytes > static_cast<int64_t>(symbol->bytes))
      fail(std::to_string(bytes) + " bytes at offset " + std::to_string(operand.value) +
           " reach beyond " + kindOf(base));
  }
  addConstant(symbol->address);
}

const Symbol *Decoder::requireCallParameter(const ptx::Operand &operand) {
  const Symbol *symbol = operand.kind == Kind::Variable ? symbolOf(operand) : nullptr;
  if (symbol && symbol->isOfCall)
    return symbol;
  fail("expected a parameter, but got " + kindOf(operand));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static bool isVectorOf(const ptx::Operand &operand, size_t count) {
  return operand.kind == Kind::Vector && operand.elements.size() == count;
}

void Decoder::addResults(const ptx::Operand &operand, Scalar type, size_t count, bool mayBeWider) {
  if (!isVectorOf(operand, count))
    return fail("expected a vector of " + std::to_string(count) + " registers, but got " +
                kindOf(operand));
  for (const ptx::Operand &element : operand.elements)
    addResult(element, type, mayBeWider);
}

void Decoder::addSources(const ptx::Operand &operand, Scalar type, size_t count, bool mayBeWider) {
  if (!isVectorOf(operand, count))
    return fail("expected a vector of " + std::to_string(count) + " operands, but got " +
                kindOf(operand));
  for (const ptx::Operand &element : operand.elements)
    addSource(element, type, mayBeWider);
}

int64_t Decoder::requireInteger(size_t i, int64_t min, int64_t max) {
  const ptx::Operand &number = operand(i);
  if (number.kind == Kind::Integer && number.value >= min && number.value <= max)
    return number.value;
  fail("expected an integer from " + std::to_string(min) + " to " + std::to_string(max) +
       ", but got " + kindOf(number));
  return min;
}

void Decoder::bind(std::initializer_list<Scalar> results, std::initializer_list<Scalar> sources) {
  endModifiers();
  requireCount(results.size() + sources.size());
  size_t i = 0;
  for (Scalar type : results)
    addResult(operand(i++), type);
  for (Scalar type : sources)
    addSource(operand(i++), type);
}

void Decoder::bindSame(Scalar type, unsigned count) {
  if (count == 1)
    bind({type}, {type});
  else if (count == 2)
    bind({type}, {type, type});
  else
    bind({type}, {type, type, type});
}

void Decoder::setExecute(Instruction::Execute execute, Class group) {
  if (!execute)
    failUnknown();
  instruction.execute = execute;
  instruction.group = group;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static bool matches(Entry::Kind kind, Scalar type) {
  switch (kind) {
  case Entry::Any:
    return true;
  case Entry::Integers:
    return isInteger(type) || isBits(type) || type == Scalar::Pred;
  case Entry::Floats:
    return isFloat(type);
  case Entry::Halves:
    return isHalf(type);
  }
  return false;
}

const Entry *findEntry(const ptx::Instruction &instruction, Scalar lastType) {
  static const Entry *const kFamilies[] = {
      kIntegerEntries,    kBitEntries,  kFloatEntries,       kHalfEntries,   kComparisonEntries,
      kConversionEntries, kMoveEntries, kMemoryEntries,      kAtomicEntries, kControlEntries,
      kBarrierEntries,    kWarpEntries, kApproximateEntries, kTensorEntries, kAsyncEntries};
  for (const Entry *family : kFamilies)
    for (const Entry *entry = family; !entry->name.empty(); ++entry)
      if (entry->name == instruction.name && matches(entry->kind, lastType))
        return entry;
  return nullptr;
}

} // namespace tfc::gpu
