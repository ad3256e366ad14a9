// The reader's entry point: reads a model and builds its one entry. The objects that all nodes of
// the entry share are created here and live until it is built.

#include "frontend/onnx/Import.h"

#include "frontend/ForeignFile.h"
#include "frontend/onnx/EntryBuilder.h"
#include "frontend/onnx/Needs.h"
#include "frontend/onnx/Rules.h"
#include <map>

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

/// The shipped files with operations that are functions.
static constexpr StringRef kFiles[] = {"onnx",           "onnx_attention", "onnx_images",
                                       "onnx_microsoft", "onnx_networks",  "onnx_quantization",
                                       "onnx_signals",   "onnx_training"};

namespace {
/// Builds the module, again if it needs facts about its sizes.
class Builder {
public:
  Builder(MLIRContext &context, const Model &model, const ImportOptions &options)
      : context(context), model(model), options(options) {}

  OwningOpRef<ModuleOp> build();
  std::vector<Diagnostic> takeDiagnostics() { return std::move(diagnostics); }

private:
  OwningOpRef<ModuleOp> attempt(const std::vector<dfg::Fact> &facts);
  /// Builds the module with `facts`, to which it adds those that the model needs.
  bool buildWith(std::vector<dfg::Fact> &facts);
  /// The same; keeps the facts and the errors if it fails.
  bool buildAndKeep(std::vector<dfg::Fact> facts);
  /// Builds the module with limits of sizes, and those that it needs in addition.
  bool buildWithin(std::vector<dfg::Fact> facts);
  /// Builds the module with remainders and equalities of sizes with which operands match, from the
  /// errors of an attempt with `facts`; replaces the errors by those of the last one that fails.
  bool findFactsFrom(std::vector<dfg::Fact> facts, std::vector<Diagnostic> &errors);

  /// An attempt that failed.
  struct Failure {
    std::vector<dfg::Fact> facts;
    std::vector<Diagnostic> errors;
  };

  MLIRContext &context;
  const Model &model;
  const ImportOptions &options;
  std::vector<Failure> failures;
  unsigned attempts = 0;
  /// Results of the last attempt: the module or null, its diagnostics, facts that the model needs,
  /// and limits of sizes by numbers that it may need.
  OwningOpRef<ModuleOp> module;
  std::vector<Diagnostic> diagnostics;
  std::vector<dfg::Fact> required, limits;
  /// The names of the sizes of feeds.
  std::vector<std::string> names;
};
} // namespace

OwningOpRef<ModuleOp> Builder::attempt(const std::vector<dfg::Fact> &facts) {
  diagnostics.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics.push_back(std::move(diagnostic));
    return success();
  });
  OwningOpRef<ModuleOp> module(ModuleOp::create(model.locate(&context)));
  GraphBuilder builder(*module);
  text::LibraryCalls functions(builder, kFiles, options);
  Diagnostics errors(&context);
  EntryContext entry{builder, model, functions, errors, options, {}, {}, {}, facts, {}, {}};
  EntryBuilder(entry).build();
  names = std::move(entry.names);
  limits = std::move(entry.limits);
  required = std::move(entry.required);
  erase_if(required, [&](const dfg::Fact &fact) { return is_contained(facts, fact); });
  return errors.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

/// Nodes that an attempt does not build may need more in the next one. This bounds the time for
/// models that cannot be built.
static constexpr unsigned kMaxAttempts = 48;

bool Builder::buildWith(std::vector<dfg::Fact> &facts) {
  while (attempts++ < kMaxAttempts) {
    module = attempt(facts);
    if (required.empty())
      return bool(module);
    addFacts(facts, required);
  }
  module = {};
  limits.clear();
  return false;
}

/// Returns true if limits by numbers leave no value of a size, or one alone, which would not be
/// dynamic.
static bool areContradictory(ArrayRef<dfg::Fact> limits) {
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  for (const dfg::Fact &limit : limits)
    if (auto bound = dfg::boundOfNonNegative(limit.rhs - limit.lhs)) {
      auto &[least, most] = ranges.try_emplace(bound->name, 0, INT64_MAX).first->second;
      least = bound->isUpper ? least : std::max(least, bound->limit);
      most = bound->isUpper ? std::min(most, bound->limit) : most;
      if (least >= most)
        return true;
    }
  return false;
}

/// Returns sets of limits that a model may need: all or, where they contradict each other, upper
/// and lower ones.
static std::vector<std::vector<dfg::Fact>> choicesOf(const std::vector<dfg::Fact> &limits) {
  if (limits.empty())
    return {};
  if (!areContradictory(limits))
    return {limits};
  std::vector<dfg::Fact> upper, lower;
  for (const dfg::Fact &limit : limits)
    (limit.rhs.constant() ? upper : lower).push_back(limit);
  return {upper, lower};
}

bool Builder::buildAndKeep(std::vector<dfg::Fact> facts) {
  bool isBuilt = buildWith(facts);
  if (!isBuilt)
    failures.push_back({std::move(facts), std::move(diagnostics)});
  return isBuilt;
}

/// Limits may show that others are needed, which may be simpler than they seemed before.
static constexpr unsigned kMaxRounds = 4;

bool Builder::buildWithin(std::vector<dfg::Fact> facts) {
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    if (buildAndKeep(facts))
      return true;
    std::vector<dfg::Fact> next;
    copy_if(facts, std::back_inserter(next), [](const dfg::Fact &fact) {
      bool isLimit = fact.comparison == dfg::Comparison::LessEqual;
      return !isLimit || dfg::boundOfNonNegative(fact.rhs - fact.lhs);
    });
    copy_if(limits, std::back_inserter(next),
            [&](const dfg::Fact &limit) { return !is_contained(next, limit); });
    if (all_of(next, [&](const dfg::Fact &fact) { return is_contained(facts, fact); }) ||
        areContradictory(next))
      return false;
    facts = std::move(next);
  }
  return false;
}

bool Builder::findFactsFrom(std::vector<dfg::Fact> facts, std::vector<Diagnostic> &errors) {
  while (attempts < kMaxAttempts) {
    std::vector<dfg::Fact> more = findFacts(errors, facts, names);
    if (more.empty())
      return false;
    addFacts(facts, more);
    if (buildWith(facts))
      return true;
    if (!diagnostics.empty())
      errors = std::move(diagnostics);
    // Nodes that could not be built before may need limits.
    for (const std::vector<dfg::Fact> &choice : choicesOf(limits)) {
      std::vector<dfg::Fact> within = facts;
      addFacts(within, choice);
      if (buildWithin(within))
        return true;
    }
  }
  return false;
}

/// Where operands do not match, the sizes may have to be within the constant ones that limit them,
/// to be multiples of numbers, or to be equal. If that does not help, the errors are those of the
/// attempt that has the fewest, and thus most likely the causes.
OwningOpRef<ModuleOp> Builder::build() {
  if (buildAndKeep({}))
    return std::move(module);
  for (const std::vector<dfg::Fact> &choice : choicesOf(limits))
    if (buildWithin(choice))
      return std::move(module);
  for (size_t i = 0, count = failures.size(); i < count; ++i) {
    std::vector<Diagnostic> errors = std::move(failures[i].errors);
    if (findFactsFrom(failures[i].facts, errors))
      return std::move(module);
    failures[i].errors = std::move(errors);
  }
  // Of attempts with as many errors, the later ones have more facts.
  std::reverse(failures.begin(), failures.end());
  auto hasFewer = [](const Failure &a, const Failure &b) {
    return !a.errors.empty() && (b.errors.empty() || a.errors.size() < b.errors.size());
  };
  diagnostics = std::move(llvm::min_element(failures, hasFewer)->errors);
  if (diagnostics.empty())
    emitError(model.locate(&context)) << "the sizes must satisfy too many facts [dynamic-shape]";
  return {};
}

OwningOpRef<ModuleOp> importModel(MLIRContext &context, const ForeignFile &file) {
  std::optional<Model> model = readModel(&context, file);
  if (!model)
    return {};
  Builder builder(context, *model, file.options);
  OwningOpRef<ModuleOp> module = builder.build();
  for (Diagnostic &diagnostic : builder.takeDiagnostics())
    context.getDiagEngine().emit(std::move(diagnostic));
  return module;
}

void listOperations(MLIRContext &context, OperationList &list) {
  list.addTable(operations());
  list.addFunctions(context, kFiles);
}

} // namespace tfc::onnx
