//===- Form.h - An instruction that is being decoded ----------------------===//

#pragma once

#include "test/gpu/emulator/decode/Scalar.h"
#include "test/gpu/emulator/execute/Instruction.h"
#include "test/gpu/emulator/execute/Program.h"
#include <unordered_map>

namespace tfc::gpu {

/// The addresses of the variables that a kernel can name.
class Symbols {
public:
  virtual ~Symbols() = default;
  /// Returns false if there is no such variable.
  virtual bool find(const ptx::Operand &operand, ptx::Space &space, uint64_t &address) const = 0;
};

/// Checks the modifiers and operands of an instruction one after the other, and adds them to the
/// decoded one. Functions return false after an error.
class Form {
public:
  Form(const ptx::Instruction &source, const ptx::Function &function, const Symbols &symbols,
       Kernel &kernel, std::unordered_map<uint64_t, Row> &constants, ptx::Error &error)
      : source(source), function(function), symbols(symbols), kernel(kernel), constants(constants),
        error(error) {
    out.line = source.place.line;
  }

  const ptx::Instruction &source;
  Instruction out;

  bool fail(const std::string &message);
  /// The error of modifiers that are not known, or not together.
  bool unknown() { return fail("unknown instruction '" + source.str() + "'"); }

  /// Take the next modifier if it is the named one, one of the named, or a type.
  bool take(std::string_view modifier);
  int takeOneOf(std::initializer_list<std::string_view> modifiers); // -1 for none
  Scalar takeType();
  /// Fails if modifiers are left, or if there are not so many operands.
  bool finish(size_t operandCount);
  size_t operandCount() const { return source.operands.size(); }

  /// Add the operand with a number. `mayBeWider`: its register, too.
  bool addResult(size_t number, Scalar type, bool mayBeWider = false);
  bool addSource(size_t number, Scalar type, bool mayBeWider = false);
  bool addResult(const ptx::Operand &operand, Scalar type, bool mayBeWider = false);
  bool addSource(const ptx::Operand &operand, Scalar type, bool mayBeWider = false);
  /// Adds [base + offset]: the base is a source, or part of the offset. Sets the space if the base
  /// is a variable.
  bool addAddress(const ptx::Operand &operand);
  bool addGuard();
  /// A source that is the same for all lanes.
  void addConstant(uint64_t value) { add(constantRow(value)); }

  /// Decodes an instruction with a result and sources of one type.
  bool decodeSame(Scalar type, size_t sources);
  bool findSymbol(const ptx::Operand &operand, ptx::Space &space, uint64_t &address) const {
    return symbols.find(operand, space, address);
  }
  const ptx::Type *typeOf(const ptx::Operand &operand) const;

private:
  void add(Row row) { out.operands[out.operandCount++] = row; }
  Row constantRow(uint64_t value);
  Row registerRow(unsigned number) const;
  bool addRegister(const ptx::Operand &operand, Scalar type, bool mayBeWider);
  bool addSpecial(const ptx::Operand &operand, Scalar type);

  const ptx::Function &function;
  const Symbols &symbols;
  Kernel &kernel;
  std::unordered_map<uint64_t, Row> &constants;
  ptx::Error &error;
  size_t nextModifier = 0;
};

/// Decodes the instructions of a name. Several families have some names, each for other types:
/// these are listed as "add/i", "add/f", "add/h" or "and/p", by the last type among the modifiers.
using Decode = bool (*)(Form &);
using DecodeTable = std::unordered_map<std::string, Decode>;

/// Returns null if there is no such instruction.
Decode findDecode(const ptx::Instruction &instruction);

/// Each family of instructions adds its names.
void addInteger(DecodeTable &table);
void addFloat(DecodeTable &table);
void addHalf(DecodeTable &table);
void addApproximate(DecodeTable &table);
void addCompare(DecodeTable &table);
void addConvert(DecodeTable &table);
void addMove(DecodeTable &table);
void addLoadStore(DecodeTable &table);
void addAtomic(DecodeTable &table);
void addControl(DecodeTable &table);
void addWarp(DecodeTable &table);
void addMatrix(DecodeTable &table);

} // namespace tfc::gpu
