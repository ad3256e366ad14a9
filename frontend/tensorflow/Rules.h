// How operations of TensorFlow are built: a rule for each, in tables by family.
#pragma once

#include "frontend/importer/NodeBuilder.h"
#include "frontend/importer/Signature.h"

namespace tfc::tensorflow {

using namespace importer;

class NodeBuilder;

struct OpRule {
  enum Flags : unsigned {
    Effect = 1,     // must run, in order with others
    Structural = 2, // one of the six of control flow: never wrapped
    Handle = 4      // gives the handle of a resource, which is no value
  };
  llvm::StringLiteral op;
  Signature signature;
  Outcome (*build)(NodeBuilder &node, const OpRule &rule);
  llvm::StringLiteral argument = "";
  unsigned flags = 0;
  int64_t since = 0; // TensorFlow has new names for new versions
};

/// The rule of an operation, or null; those in graph source have none of their own.
const OpRule *findRule(llvm::StringRef op);
/// The rule of operations in graph source.
const OpRule &functionRule();
/// The function of the graph source that is the operation `op`.
llvm::StringRef functionOf(llvm::StringRef op);

// The families.
llvm::ArrayRef<OpRule> controlRules();
llvm::ArrayRef<OpRule> elementwiseRules();
llvm::ArrayRef<OpRule> indexRules();
llvm::ArrayRef<OpRule> listRules();
llvm::ArrayRef<OpRule> matrixRules();
llvm::ArrayRef<OpRule> neuralRules();
llvm::ArrayRef<OpRule> queueRules();
llvm::ArrayRef<OpRule> randomRules();
llvm::ArrayRef<OpRule> reductionRules();
llvm::ArrayRef<OpRule> shapeRules();
llvm::ArrayRef<OpRule> sizeRules();
llvm::ArrayRef<OpRule> sliceRules();
llvm::ArrayRef<OpRule> stateRules();
llvm::ArrayRef<OpRule> windowRules();

} // namespace tfc::tensorflow
