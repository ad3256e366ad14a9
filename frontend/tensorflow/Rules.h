// Rules that build operations of TensorFlow, in tables by family.
#pragma once

#include "frontend/importer/NodeBuilder.h"
#include "frontend/importer/OperationTable.h"
#include "frontend/importer/Signature.h"

namespace tfc::tensorflow {

using namespace importer;

class NodeBuilder;

struct OpRule {
  enum Flags : unsigned {
    Effect = 1 << 0,       // must run, in order with other effects
    Structural = 1 << 1,   // one of the six control flow operations: never wrapped
    Handle = 1 << 2,       // returns the handle of a resource, which is not a value
    Passes = 1 << 3,       // forwards its first input, possibly to another frame
    Reference = 1 << 4,    // forwards a reference to a variable
    Switches = 1 << 5,     // forwards to one of two outputs
    Merges = 1 << 6,       // reads loop back edges, and nothing else does
    Enters = 1 << 7,       // enters a frame
    Exits = 1 << 8,        // leaves a frame
    LoopsBack = 1 << 9,    // is the source of loop back edges
    Subtracts = 1 << 10,   // negates its updates
    Declares = 1 << 11,    // declares a variable or a queue
    MakesList = 1 << 12,   // returns a TensorList
    ChangesList = 1 << 13, // returns its first input, a TensorList, with other elements
    Reads = 1 << 14,       // has no effect but to read a variable
    Planes = 1 << 15,      // treats the planes of complex numbers like two real tensors
    OnePlane = 1 << 16,    // needs only the shape of complex numbers
    Complex = 1 << 17,     // takes and returns complex numbers as tensors of both planes
    ReturnsReal = 1 << 18  // takes complex numbers in that form, but returns real ones
  };
  llvm::StringLiteral op;
  Signature signature;
  Outcome (*build)(NodeBuilder &node, const OpRule &rule);
  llvm::StringLiteral argument = "";
  unsigned flags = 0;
  int64_t since = 0;               // always 0: TensorFlow renames operations that it changes
  llvm::StringLiteral limits = ""; // what is not supported, for the table of operations
};

/// Returns all rules.
const OperationTable<OpRule> &operations();
/// Returns the rule of an operation, or null. Operations in graph source have no rule here.
const OpRule *findRule(llvm::StringRef op);
/// Returns true if the rule of an operation, if it has one, has one of the flags.
bool hasFlag(llvm::StringRef op, unsigned flags);
/// Returns true if `op` may assign the variables to which its inputs refer.
inline bool mayAssign(llvm::StringRef op) {
  return hasFlag(op, OpRule::Effect) && !hasFlag(op, OpRule::Reads);
}
/// Returns the rule of operations in graph source.
const OpRule &functionRule();
/// Returns the name of the function in graph source that implements `op`.
llvm::StringRef functionOf(llvm::StringRef op);

// The families.
llvm::ArrayRef<OpRule> complexRules();
llvm::ArrayRef<OpRule> controlRules();
llvm::ArrayRef<OpRule> elementwiseRules();
llvm::ArrayRef<OpRule> indexRules();
llvm::ArrayRef<OpRule> listRules();
llvm::ArrayRef<OpRule> matrixRules();
llvm::ArrayRef<OpRule> neuralRules();
llvm::ArrayRef<OpRule> quantizedRules();
llvm::ArrayRef<OpRule> queueRules();
llvm::ArrayRef<OpRule> raggedRules();
llvm::ArrayRef<OpRule> randomRules();
llvm::ArrayRef<OpRule> reductionRules();
llvm::ArrayRef<OpRule> segmentRules();
llvm::ArrayRef<OpRule> selectionRules();
llvm::ArrayRef<OpRule> shapeRules();
llvm::ArrayRef<OpRule> sizeRules();
llvm::ArrayRef<OpRule> sliceRules();
llvm::ArrayRef<OpRule> sparseRules();
llvm::ArrayRef<OpRule> stateRules();
llvm::ArrayRef<OpRule> tensorListRules();
llvm::ArrayRef<OpRule> updateRules();
llvm::ArrayRef<OpRule> windowRules();

} // namespace tfc::tensorflow
