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
static constexpr StringRef kFiles[] = {"onnx",          "onnx_attention",    "onnx_images",
                                       "onnx_networks", "onnx_quantization", "onnx_signals",
                                       "onnx_training"};

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
  OwningOpRef<ModuleOp> buildWith(std::vector<dfg::Fact> facts, bool findsRemainders);

  MLIRContext &context;
  const Model &model;
  const ImportOptions &options;
  /// Results of the last attempt: its diagnostics, facts that the model needs, and limits of sizes
  /// by numbers that it may need.
  std::vector<Diagnostic> diagnostics;
  std::vector<dfg::Fact> required, limits;
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
  EntryContext entry{builder, model, functions, errors, options, {}, {}, facts, {}, {}};
  EntryBuilder(entry).build();
  limits = std::move(entry.limits);
  required = std::move(entry.required);
  erase_if(required, [&](const dfg::Fact &fact) { return is_contained(facts, fact); });
  return errors.getErrorCount() ? OwningOpRef<ModuleOp>() : std::move(module);
}

/// Nodes that an attempt does not build may need more in the next one.
static constexpr unsigned kMaxAttempts = 64;

/// Builds the module with `facts` and those that it needs, with `findsRemainders` also remainders
/// of sizes with which operands match.
OwningOpRef<ModuleOp> Builder::buildWith(std::vector<dfg::Fact> facts, bool findsRemainders) {
  for (unsigned count = 0; count < kMaxAttempts; ++count) {
    OwningOpRef<ModuleOp> module = attempt(facts);
    std::vector<dfg::Fact> more = required;
    if (!module && more.empty() && findsRemainders)
      more = findRemainders(diagnostics, facts);
    if (more.empty())
      return module;
    append_range(facts, more);
  }
  return {};
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

/// Where operands do not match, the sizes may have to be within the constant ones that limit them,
/// or to be multiples of numbers. If that does not help, the errors are those of the attempt that
/// has the fewest, and thus most likely the causes.
OwningOpRef<ModuleOp> Builder::build() {
  OwningOpRef<ModuleOp> module = buildWith({}, /*findsRemainders=*/false);
  if (module)
    return module;
  std::vector<std::vector<dfg::Fact>> choices = choicesOf(limits);
  std::vector<Diagnostic> errors = std::move(diagnostics);
  auto build = [&](const std::vector<dfg::Fact> &facts, bool findsRemainders) {
    module = buildWith(facts, findsRemainders);
    if (!module && !diagnostics.empty() && diagnostics.size() < errors.size())
      errors = std::move(diagnostics);
    return bool(module);
  };
  bool isBuilt = any_of(choices, [&](const auto &facts) { return build(facts, false); }) ||
                 build({}, true) ||
                 any_of(choices, [&](const auto &facts) { return build(facts, true); });
  if (!isBuilt)
    diagnostics = std::move(errors);
  return module;
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
