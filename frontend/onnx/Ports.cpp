// Implements the feeds of an entry: the inputs of the model that have no initializer and that
// the command line does not fix. Their sizes are named as in the model, unless `--shape` replaces
// them.

#include "frontend/onnx/Ports.h"

#include "dialects/dfg/Dtypes.h"
#include "frontend/TensorFile.h"
#include "frontend/onnx/Dtypes.h"
#include "frontend/onnx/Needs.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

static bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

static const Input *findInput(const Graph &graph, StringRef name) {
  auto found = find_if(graph.inputs, [&](const Input &input) { return input.name == name; });
  return found == graph.inputs.end() ? nullptr : &*found;
}

bool Ports::isFixed(StringRef name) const {
  return any_of(entry.options.fixed, [&](const auto &fixed) { return fixed.first == name; });
}

/// Sizes such as "past + 1" are expressions over names.
static void addExpressions(const Input &input, FeedSpec &feed) {
  feed.sizes.emplace();
  for (auto [axis, size] : enumerate(input.shape->sizes)) {
    const std::string &name = input.shape->names[axis];
    std::optional<dfg::DimExpr> expression = dfg::DimExpr::parse(name);
    feed.sizes->push_back(expression && !expression->constant() ? name : std::to_string(size));
  }
}

static bool hasExpressions(const Input &input) {
  return input.shape && any_of(input.shape->names, [](const std::string &name) {
           return !name.empty() && !isIdentifier(name) && dfg::DimExpr::parse(name);
         });
}

void Ports::addFeed(const Input &input) {
  Location location = entry.locate(input.name);
  Type type = input.isTensor ? storedTypeOf(entry.builder.getContext(), input.dtype) : Type();
  if (!type) {
    entry.diagnostics.error(location)
        << "tfc does not support inputs that are "
        << (input.isTensor ? "tensors of " + dtypeName(input.dtype) : "no tensors") << " [dtype]";
    return;
  }
  FeedSpec feed{.tensor = input.name};
  for (const auto &[name, sizes] : entry.options.shapes)
    if (name == input.name)
      feed.sizes = sizes;
  if (!feed.sizes && !input.shape) {
    entry.diagnostics.error(location)
        << "the graph does not specify how many axes the input has: expected its sizes, as in "
           "--shape "
        << input.name << "=1x128 [graph-entry]";
    return;
  }
  if (!feed.sizes && hasExpressions(input))
    addExpressions(input, feed);
  GraphInput described{input.name, type, input.shape, location};
  RankedTensorType feedType = importer::feedType(&feed, described, header, entry.diagnostics);
  if (!feedType)
    return;
  dfg::Shape sizes = map_to_vector<4>(dfg::shapeOf(feedType), [&](const dfg::DimExpr &size) {
    return applyFacts(size, entry.assumed);
  });
  header.feeds.push_back({input.name, dfg::tensorOf(sizes, type), location});
  feeds.push_back(&input);
}

void Ports::addBounds() {
  for (const auto &[name, bound] : entry.options.bounds) {
    if (is_contained(header.symbols, name))
      header.bounds[name] = bound;
    else
      entry.diagnostics.error(entry.model.locate(entry.builder.getContext()))
          << "no input has a size '" << name << "', which --bound names"
          << (header.symbols.empty() ? "" : "; there is " + join(header.symbols, ", "))
          << " [graph-entry]";
  }
}

/// Replaces the names that facts solve: nothing mentions them any more but their bounds.
void Ports::addSolved() {
  for (const dfg::Fact &fact : entry.assumed) {
    StringRef name = solvedName(fact);
    if (!is_contained(header.symbols, name))
      continue;
    header.solved.push_back(fact);
    erase_if(header.symbols, [&](const std::string &other) { return other == name; });
    auto bound = header.bounds.find(name.str());
    if (bound == header.bounds.end())
      continue;
    header.addFact({fact.rhs, dfg::Comparison::LessEqual, bound->second});
    header.bounds.erase(bound);
  }
}

/// Returns true if the facts about single names imply a fact about others.
bool Ports::isImplied(const dfg::Fact &fact) const {
  dfg::DimExpr difference = fact.rhs - fact.lhs;
  return fact.comparison == dfg::Comparison::LessEqual && !dfg::boundOfNonNegative(difference) &&
         entry.intervalOf(difference).first.value_or(-1) >= 0;
}

void Ports::addAssumed() {
  addSolved();
  for (const dfg::Fact &fact : entry.assumed) {
    if (!solvedName(fact).empty())
      continue;
    SmallVector<std::string> names;
    fact.lhs.collectSymbols(names);
    fact.rhs.collectSymbols(names);
    auto isNamed = [&](const std::string &name) { return is_contained(header.symbols, name); };
    if (!all_of(names, isNamed) || isImplied(fact))
      continue;
    (void)header.addFact(fact);
    if (fact.comparison == dfg::Comparison::LessEqual)
      entry.sizes.insert((fact.rhs - fact.lhs).canonical());
  }
}

void Ports::checkSizes() {
  SmallVector<Type> types =
      map_to_vector(header.feeds, [](const EntryValue &feed) -> Type { return feed.type; });
  llvm::StringSet<> determined = dfg::determinedNames(types);
  for (const std::string &name : header.symbols)
    if (!determined.contains(name))
      entry.diagnostics.error(entry.model.locate(entry.builder.getContext()))
          << "no input determines the size '" << name
          << "'; expected one with a size that is a multiple of it, or numbers by --shape "
             "[graph-entry]";
}

void Ports::checkNames() {
  const Graph &graph = entry.model.graphs.front();
  auto check = [&](StringRef option, StringRef name) {
    if (!findInput(graph, name))
      entry.diagnostics.error(entry.model.locate(entry.builder.getContext()))
          << "the graph has no input '" << name << "', which " << option << " names [graph-entry]";
  };
  for (const auto &[name, sizes] : entry.options.shapes)
    check("--shape", name);
  for (const auto &[name, file] : entry.options.fixed)
    check("--fix", name);
}

void Ports::find() {
  const Graph &graph = entry.model.graphs.front();
  header.name = isIdentifier(graph.name) ? graph.name : "main";
  llvm::StringSet<> initialized;
  for (const Initializer &initializer : graph.initializers)
    initialized.insert(initializer.name);
  for (const Input &input : graph.inputs)
    if (!initialized.contains(input.name) && !isFixed(input.name))
      addFeed(input);
  addBounds();
  addAssumed();
  entry.names = header.symbols;
  checkSizes();
  checkNames();
}

void Ports::addFixed(Scope &scope) {
  TensorFiles files;
  for (const auto &[name, path] : entry.options.fixed) {
    std::string reason;
    const Input *input = findInput(entry.model.graphs.front(), name);
    MLIRContext *context = entry.builder.getContext();
    Type type = storedTypeOf(context, input->dtype);
    ElementsAttr value = files.load(context, path, "", reason, type);
    if (value && value.getElementType() != type) {
      reason = "expected " + dtypeName(input->dtype) + ", but got " +
               dfg::dtypeOf(value.getElementType()).name.str();
      value = {};
    }
    if (!value)
      entry.diagnostics.error(entry.locate(name))
          << "cannot read '" << path << "': " << reason << " [graph-entry]";
    else
      scope.add(name, constantValue(entry, value, input->dtype, name));
  }
}

} // namespace tfc::onnx
