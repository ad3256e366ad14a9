//===- OpTable.h - How operations are called by name ----------------------===//
//
// Operands and attributes of every dfg operation, generated from ODS, so that
// text and importers call any operation by its name.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace tfc::dfg {

enum class OpAttrKind {
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
  bool isScalar;                       // has no axes
  bool isCounter;                      // the number of a draw, which a reader counts
  std::vector<llvm::StringRef> dtypes; // of a tensor: the element types, by their names
};

/// The limit of the numbers in an attribute, which `checkSizes` applies.
enum class AttrLimit {
  Memory,   // the largest number of bytes of a tensor
  Number,   // the largest number of 64 bits
  Operation // one that the operation itself applies
};

/// A word that an attribute accepts, and the attribute that represents it.
struct EnumCase {
  llvm::StringRef name;
  mlir::Attribute (*build)(mlir::MLIRContext *context);
};

struct AttrSignature {
  llvm::StringRef name;
  OpAttrKind kind;
  unsigned width;  // of an int, in bits
  bool isRequired; // neither optional nor with a default
  AttrLimit limit;
  bool isSeed; // of a draw, which a reader derives from names
  std::vector<EnumCase> cases;

  /// The attribute for a word; null if there is no such word.
  mlir::Attribute fromWord(llvm::StringRef word, mlir::MLIRContext *context) const;
  /// The word for an attribute; std::nullopt if it is not one of these.
  std::optional<llvm::StringRef> toWord(mlir::Attribute attribute) const;
};

struct OpSignature {
  llvm::StringRef name; // without "dfg."
  std::vector<OperandSignature> operands;
  std::vector<AttrSignature> attributes;
  std::vector<llvm::StringRef> results;
  bool hasVariadicResults;
  bool updatesOperand; // changes a variable that is its first operand

  /// Returns true if the operation draws random numbers.
  bool isDraw() const;
  /// The attribute `name`, or null.
  const AttrSignature *findAttribute(llvm::StringRef name) const;
};

/// The operation `name` (without "dfg."), or null.
const OpSignature *lookupOp(llvm::StringRef name);

/// All operations, sorted by name.
llvm::ArrayRef<OpSignature> allOps();

} // namespace tfc::dfg
