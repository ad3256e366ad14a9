// Rules that build operations of ONNX, in tables by family.
#pragma once

#include "frontend/importer/NodeBuilder.h"
#include "frontend/importer/OperationTable.h"
#include "frontend/importer/Signature.h"

namespace tfc::onnx {

using namespace importer;

class NodeBuilder;

/// The treatment of elements that are codes (see `isCoded`).
enum class Codes { Refused, Moved, Read };

struct OpRule {
  llvm::StringLiteral op;
  Signature signature;
  Outcome (*build)(NodeBuilder &node, const OpRule &rule);
  llvm::StringLiteral argument = "";
  int64_t since = 1; // the first version of the operation set
  Codes codes = Codes::Refused;
  llvm::StringLiteral limits = ""; // what is not supported, for the table of operations
};

/// The operation whose attributes `xs` and `y` name values of the graph.
inline constexpr llvm::StringLiteral kGradientOp = "ai.onnx.preview.training.Gradient";

/// Returns all rules.
const OperationTable<OpRule> &operations();
/// Returns the rule of an operation, or null. Operations in graph source have no rule here.
const OpRule *findRule(llvm::StringRef op, int64_t version);

// The families.
llvm::ArrayRef<OpRule> castRules();
llvm::ArrayRef<OpRule> controlRules();
llvm::ArrayRef<OpRule> elementwiseRules();
llvm::ArrayRef<OpRule> imageRules();
llvm::ArrayRef<OpRule> indexRules();
llvm::ArrayRef<OpRule> matrixRules();
llvm::ArrayRef<OpRule> neuralRules();
llvm::ArrayRef<OpRule> randomRules();
llvm::ArrayRef<OpRule> reductionRules();
llvm::ArrayRef<OpRule> selectionRules();
llvm::ArrayRef<OpRule> sequenceRules();
llvm::ArrayRef<OpRule> shapeRules();
llvm::ArrayRef<OpRule> signalRules();
llvm::ArrayRef<OpRule> sliceRules();
llvm::ArrayRef<OpRule> windowRules();

} // namespace tfc::onnx
