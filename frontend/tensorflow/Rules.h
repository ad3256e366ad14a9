// Rules that build operations of TensorFlow, in tables by family.
#pragma once

#include "frontend/importer/NodeBuilder.h"
#include "frontend/importer/Signature.h"

namespace tfc::tensorflow {

using namespace importer;

class NodeBuilder;

struct OpRule {
  enum Flags : unsigned {
    Effect = 1,     // must run, in order with other effects
    Structural = 2, // one of the six control flow operations: never wrapped
    Handle = 4      // returns the handle of a resource, which is not a value
  };
  llvm::StringLiteral op;
  Signature signature;
  Outcome (*build)(NodeBuilder &node, const OpRule &rule);
  llvm::StringLiteral argument = "";
  unsigned flags = 0;
  int64_t since = 0; // always 0: TensorFlow renames operations that it changes
};

/// Returns the rule of an operation, or null. Operations in graph source have no rule here.
const OpRule *findRule(llvm::StringRef op);
/// Returns the rule of operations in graph source.
const OpRule &functionRule();
/// Returns the name of the function in graph source that implements `op`.
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
