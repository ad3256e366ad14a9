//===- Decoder.h - Checks an instruction and binds its operands -----------===//
//
// Shared by the families of instructions. A family takes the modifiers in the
// order of the ISA, binds the operands with their types, and chooses the
// function that executes the instruction. Every modifier that nobody took and
// every operand that does not fit is an error.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/Program.h"
#include "test/gpu/emulator/decode/Scalar.h"
#include <initializer_list>
#include <unordered_map>

namespace tfc::gpu {

/// A variable or function of the module.
struct Symbol {
  ptx::Space space = ptx::Space::Global;
  uint64_t address = 0, bytes = 0;
  bool isOfCall = false; // a parameter of a function that is no kernel, or of a call
  bool isFunction = false;
  uint32_t function = 0;
};

/// The names that the instructions of a function refer to.
struct Scope {
  const ptx::Function *function = nullptr;
  const std::unordered_map<std::string, Symbol> *symbols = nullptr;
  std::vector<Symbol> variables; // of the function
  Row firstRow = 0;
  uint32_t firstInstruction = 0;
};

/// The rows of constants, each of which is kept once.
class Constants {
public:
  Row rowOf(uint64_t value);
  std::vector<uint64_t> cells;

private:
  std::unordered_map<uint64_t, Row> rows;
};

class Decoder {
public:
  Decoder(const Scope &scope, Constants &constants, const ptx::Instruction &source)
      : scope(scope), source(source), constants(constants) {
    instruction.line = source.place.line;
  }

  // Errors. The first one is kept.
  void fail(const std::string &message);
  void failUnknown() { fail("unknown instruction '" + source.str() + "'"); }
  bool hasFailed() const { return !error.empty(); }
  const std::string &getError() const { return error; }

  // Modifiers, from left to right.
  bool takeIf(std::string_view modifier);
  /// Takes one of these modifiers and returns its index, or -1.
  int takeOneOf(std::initializer_list<std::string_view> names);
  /// Takes one of these modifiers; fails if there is none of them.
  int requireOneOf(std::initializer_list<std::string_view> names);
  /// Takes a type; fails if it is none of these.
  Scalar takeType(std::initializer_list<Scalar> types);
  /// The type that is the last modifier, or None.
  Scalar lastType() const;
  bool hasModifier(std::string_view modifier) const;
  /// Fails if a modifier is left.
  void endModifiers();

  // Operands. Results are bound before sources.
  size_t operandCount() const { return source.operands.size(); }
  const ptx::Operand &operand(size_t i);
  void requireCount(size_t count);
  void addResult(const ptx::Operand &operand, Scalar type, bool mayBeWider = false);
  void addSource(const ptx::Operand &operand, Scalar type, bool mayBeWider = false);
  void addConstant(uint64_t value) { addRow(constants.rowOf(value)); }
  void addRow(Row row);
  /// Adds the elements of {a, b, ...}.
  void addResults(const ptx::Operand &operand, Scalar type, size_t count, bool mayBeWider = false);
  void addSources(const ptx::Operand &operand, Scalar type, size_t count, bool mayBeWider = false);
  /// Adds the base of an address in a space, and keeps its offset in the instruction.
  void addAddress(const ptx::Operand &operand, AccessForm &access);
  /// The value of an operand that must be an integer constant.
  int64_t requireInteger(size_t i, int64_t min, int64_t max);
  /// Ends the modifiers, and binds all operands: the results, then the sources.
  void bind(std::initializer_list<Scalar> results, std::initializer_list<Scalar> sources);
  /// Binds one result and `count` sources of one type.
  void bindSame(Scalar type, unsigned count);
  /// A variable of the function that is a parameter of a call.
  const Symbol *requireCallParameter(const ptx::Operand &operand);
  const Symbol *symbolOf(const ptx::Operand &operand);

  void setExecute(Instruction::Execute execute, Class group);

  Instruction instruction;
  const Scope &scope;
  const ptx::Instruction &source;

private:
  std::string kindOf(const ptx::Operand &operand) const;
  const ptx::Type *registerType(const ptx::Operand &operand) const;
  uint64_t literal(const ptx::Operand &operand, Scalar type);
  Row rowOfSpecial(const ptx::Operand &operand, Scalar type);
  void addAddressOf(const ptx::Operand &operand, Scalar type);

  Constants &constants;
  size_t taken = 0; // modifiers
  std::string error;
};

/// An instruction that a family knows, by its name and the kind of its last type.
struct Entry {
  enum Kind { Any, Integers, Floats, Halves };
  using Decode = void (*)(Decoder &);

  std::string_view name;
  Kind kind;
  Decode decode;
};

/// A family's entries, up to one without a name.
extern const Entry kIntegerEntries[], kBitEntries[], kFloatEntries[], kHalfEntries[],
    kComparisonEntries[], kConversionEntries[], kMoveEntries[], kMemoryEntries[], kAtomicEntries[],
    kControlEntries[], kBarrierEntries[], kWarpEntries[], kApproximateEntries[], kTensorEntries[],
    kAsyncEntries[];

/// Decodes one instruction of a function; returns an error, empty if there is none.
const Entry *findEntry(const ptx::Instruction &instruction, Scalar lastType);

} // namespace tfc::gpu
