//===- OpTable.h - How operations are called by name ----------------------===//
//
// Operands and attributes of every dfg operation, generated from ODS, so that
// text and importers call any operation by its name.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace tfc::dfg {

enum class AttrKind {
  Bool,
  BoolList,
  Dims,
  Dtype,
  Enum, // one of a few words
  Float,
  Int,
  IntList,
  NamedSizes, // a dictionary of the named arguments that are neither operands nor attributes
  Other,
  String,
  Symbol,
  Unit,
  Value
};

enum class OperandKind {
  Tensor,
  Predicate, // one bool
  List,
  Token,
  Any // a tensor or a list
};

struct OperandSignature {
  llvm::StringRef name;
  bool isVariadic;
  bool isOptional;
  bool isIndex; // takes only integers
  OperandKind kind;
};

/// A word that an attribute accepts, and the integer that represents it.
struct EnumCase {
  llvm::StringRef name;
  int64_t value;
};

struct AttrSignature {
  llvm::StringRef name;
  AttrKind kind;
  unsigned width;  // of an int or enum, in bits
  bool isRequired; // neither optional nor with a default
  std::vector<EnumCase> cases;
};

struct OpSignature {
  llvm::StringRef name; // without "dfg."
  std::vector<OperandSignature> operands;
  std::vector<AttrSignature> attributes;
  std::vector<llvm::StringRef> results;
  bool hasVariadicResults;
  bool updatesOperand; // changes a variable that is its first operand
};

/// The operation `name` (without "dfg."), or null.
const OpSignature *lookupOp(llvm::StringRef name);

/// All operations, sorted by name.
llvm::ArrayRef<OpSignature> allOps();

} // namespace tfc::dfg
