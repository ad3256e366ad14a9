// Prints conditions of `while`. A condition is one expression; longer computations become a
// function that it calls.
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/SizeOps.h"
#include "frontend/text/print/PrintImpl.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// The largest nesting of a condition in one expression, because the parser has a limit.
static constexpr size_t kMaxInlineNesting = 64;

/// The condition as nested calls. std::nullopt if an operation is not a call, has effects, whose
/// order matters, computes a value that is used twice, or has a device, or if the calls nest too
/// deeply.
std::optional<std::string> GraphPrinter::inlineCondition(dfg::WhileOp op) {
  llvm::DenseMap<Value, size_t> nesting;
  size_t ofBlocks = indent.size() / 2;
  for (Operation &step : op.getConditionBlock().without_terminator()) {
    bool isRepeated = step.getNumOperands() > 0 && !step.use_empty() && !step.hasOneUse();
    if (step.getNumResults() != 1 || step.getNumRegions() || isRepeated ||
        !dfg::placementOf(&step).empty() || !(isa<dfg::ReadOp>(step) || isMemoryEffectFree(&step)))
      return std::nullopt;
    size_t ofOperands = 0;
    for (Value operand : step.getOperands())
      ofOperands = std::max(ofOperands, nesting.lookup(operand));
    size_t ofStep = nesting[step.getResult(0)] = ofOperands + 2;
    std::optional<std::string> text =
        ofBlocks + ofStep <= kMaxInlineNesting ? expression(step) : std::nullopt;
    if (!text)
      return std::nullopt;
    names.set(step.getResult(0), "(" + *text + ")");
  }
  return names.use(op.getCondition().getCondition());
}

/// The sizes in the types of values and in the operations of a region, except those that the region
/// binds itself.
static std::vector<std::string> sizesOf(Region &region, ArrayRef<Value> values) {
  llvm::StringSet<> mentioned = mentionedSizes(region);
  SmallVector<std::string> found;
  for (Value value : values) {
    auto list = dyn_cast<dfg::ListType>(value.getType());
    for (const dfg::DimExpr &size : dfg::shapeOf(list ? list.getElementType() : value.getType()))
      size.collectSymbols(found);
  }
  for (const std::string &name : found)
    mentioned.insert(name);
  region.walk([&](dfg::BindSizeOp binder) { mentioned.erase(binder.getName()); });
  std::vector<std::string> sizes;
  for (const auto &name : mentioned)
    sizes.push_back(name.getKey().str());
  llvm::sort(sizes);
  return sizes;
}

LogicalResult GraphPrinter::printCondition(dfg::WhileOp op, std::string &text) {
  for (Operation &step : op.getConditionBlock().without_terminator())
    if (failed(checkMeaning(step)))
      return failure();
  if (std::optional<std::string> expression = inlineCondition(op)) {
    text = *expression;
    return success();
  }
  llvm::SetVector<Value> inputs;
  for (Value carried : op.getConditionBlock().getArguments())
    if (!carried.use_empty())
      inputs.insert(carried);
  getUsedValuesDefinedAbove(op.getConditionRegion(), inputs);
  std::vector<std::string> sizes = sizesOf(op.getConditionRegion(), inputs.getArrayRef());
  std::string name = names.createDeclared("_condition_");
  text = name + "(" + names.use(inputs.getArrayRef());
  for (const std::string &size : sizes)
    text += (StringRef(text).ends_with("(") ? "" : ", ") + names.size(dfg::DimExpr::symbol(size));
  text += ")";
  return printConditionFunction(op, name, inputs.getArrayRef(), sizes);
}

/// Adds a function that computes a condition from `inputs` and `sizes` to the functions that follow
/// the declaration.
LogicalResult GraphPrinter::printConditionFunction(dfg::WhileOp op, StringRef name,
                                                   ArrayRef<Value> inputs,
                                                   ArrayRef<std::string> sizes) {
  std::string text;
  raw_string_ostream stream(text);
  SaveAndRestore<raw_ostream *> output(os, &stream);
  SaveAndRestore<std::string> outerIndent(indent, "  ");
  PrintNames::Scope outer = names.enterFunction(sizes);
  std::string params;
  for (Value input : inputs)
    params += (params.empty() ? "" : ", ") + names.create(input) + ": " + typeText(input.getType());
  for (const std::string &size : sizes)
    params += (params.empty() ? "static " : ", static ") + quoteName(size) + ": dim";
  *os << "\nfn " << name << '(' << params << ") -> bool {\n";
  bool ok = true;
  for (Operation &step : op.getConditionBlock().without_terminator())
    ok = ok && succeeded(printStatement(step));
  if (ok)
    *os << "  return " << names.use(op.getCondition().getCondition()) << "\n}\n";
  declarations += text;
  names.leaveFunction(std::move(outer));
  return success(ok);
}

} // namespace tfc::text
