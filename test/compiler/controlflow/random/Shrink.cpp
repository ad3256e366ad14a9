//===- Shrink.cpp - Comparing the forms, and small graphs that differ -----===//
//
// Compares the outcomes of both forms, and removes nodes of a graph as long as they differ.
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "compiler/controlflow/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include <cstring>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::controlflow::test {

static bool isSame(const Tensor &a, const Tensor &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return x == y || (x != x && y != y);
         });
}

static std::string join(const std::vector<std::string> &lines) {
  return "{" + llvm::join(lines, "; ") + "}";
}

static std::string difference(const Outcome &tokens, const Outcome &regions) {
  if (!tokens.failure.empty())
    return "";
  if (!regions.failure.empty())
    return regions.failure + " in the structured form";
  for (auto [i, value] : llvm::enumerate(tokens.results)) {
    std::string name = "r" + std::to_string(i);
    if (tokens.dead.count(name) != regions.dead.count(name))
      return name + " is " + (tokens.dead.count(name) ? "dead" : "live") + " in the graph form";
    if (!tokens.dead.count(name) && !isSame(value, regions.results[i]))
      return name + " is " + toText(value) + " and " + toText(regions.results[i]);
  }
  for (std::string name : {"v", "w", "q"}) {
    auto of = [&](const Outcome &outcome) {
      auto found = outcome.effects.find(name);
      return found == outcome.effects.end() ? std::vector<std::string>() : found->second;
    };
    if (of(tokens) != of(regions))
      return "effects on " + name + ": " + join(of(tokens)) + " and " + join(of(regions));
  }
  return "";
}

std::string structureGraph(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createStructureControlFlow());
  std::string messages;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  bool isRefused = failed(passes.run(module));
  return isRefused && messages.empty() ? "no message" : messages;
}

std::string compareForms(ModuleOp module, bool mayFail) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (std::string messages = structureGraph(*copy); !messages.empty())
    return mayFail ? "" : "refused: " + messages;
  func::FuncOp before = functionOf(module), after = functionOf(*copy);
  for (unsigned seed = 0; seed < 3; ++seed) {
    std::vector<Tensor> arguments = makeArguments(before, seed);
    std::string text = difference(runTokens(before, arguments), runRegions(after, arguments));
    if (!text.empty())
      return "with arguments " + std::to_string(seed) + ", " + text;
  }
  return "";
}

static bool differs(ModuleOp module) {
  return succeeded(verify(module)) && !compareForms(module, /*mayFail=*/true).empty();
}

static std::vector<Operation *> nodesOf(ModuleOp module) {
  std::vector<Operation *> nodes;
  auto graph = *functionOf(module).getOps<DataflowOp>().begin();
  for (Operation &op : graph.getBody().front().without_terminator())
    nodes.push_back(&op);
  return nodes;
}

/// Replaces the results of the node at `position` by values that it or the function has; erases it.
static bool removeNode(ModuleOp module, size_t position, unsigned choice) {
  Operation *op = nodesOf(module)[position];
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    SmallVector<Value> others;
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (operand.getType() == result.getType() &&
            !op->isAncestor(operand.getParentBlock()->getParentOp()) && operand != result)
          others.push_back(operand);
    });
    for (Value argument : functionOf(module).getArguments())
      if (argument.getType() == result.getType())
        others.push_back(argument);
    if (others.empty() && isa<TokenType>(result.getType())) {
      // No node needs a token.
      for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
        for (int i = int(user->getNumOperands()) - 1; i >= 0; --i)
          if (user->getOperand(i) == result)
            user->eraseOperand(i);
      continue;
    }
    if (choice >= others.size())
      return false;
    result.replaceAllUsesWith(others[choice]);
  }
  if (!op->use_empty())
    return false;
  op->erase();
  return true;
}

void shrink(ModuleOp module) {
  for (bool hasProgress = true; hasProgress;) {
    hasProgress = false;
    for (size_t position = nodesOf(module).size(); position-- > 0;)
      for (unsigned choice = 0; choice < 3; ++choice) {
        OwningOpRef<ModuleOp> trial = module.clone();
        if (!removeNode(*trial, position, choice) || !differs(*trial))
          continue;
        module.getBodyRegion().takeBody(trial->getBodyRegion());
        hasProgress = true;
        break;
      }
  }
}

} // namespace tfc::controlflow::test
