//===- Edit.cpp - Changes that make a program smaller ---------------------===//
//
// Implements the single edits that make a program smaller. Shrink.cpp decides which of them to try
// and which to keep.
//
//===----------------------------------------------------------------------===//

#include "Edit.h"
#include "dialects/dfg/Devices.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

static EntryOp findEntry(ModuleOp module, StringRef name) {
  for (auto entry : module.getOps<EntryOp>())
    if (entry.getSymName() == name)
      return entry;
  return {};
}

std::vector<Operation *> operationsOf(ModuleOp module) {
  std::vector<Operation *> ops;
  for (auto entry : module.getOps<EntryOp>())
    if (!entry.getInitializer())
      entry.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!op->hasTrait<OpTrait::IsTerminator>())
          ops.push_back(op);
      });
  return ops;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Updates the type and attributes of an entry to match its body.
static void refresh(EntryOp entry, ArrayRef<Attribute> feeds, ArrayRef<Attribute> fetches) {
  Builder b(entry.getContext());
  Block &body = entry.getBody().front();
  entry.setFunctionType(
      b.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  entry.setArgAttrsAttr(b.getArrayAttr(feeds));
  entry.setResAttrsAttr(b.getArrayAttr(fetches));
  SmallVector<std::string> used;
  for (Type type : body.getArgumentTypes())
    for (const DimExpr &size : shapeOf(type))
      size.collectSymbols(used);
  entry.setSymbolsAttr(b.getStrArrayAttr(SmallVector<StringRef>(used.begin(), used.end())));
  if (DictionaryAttr bounds = entry.getBoundsAttr()) {
    SmallVector<NamedAttribute> left;
    for (NamedAttribute bound : bounds)
      if (llvm::is_contained(used, bound.getName().str()))
        left.push_back(bound);
    entry.setBoundsAttr(b.getDictionaryAttr(left));
  }
}

static SmallVector<Attribute> listOf(ArrayAttr attributes) {
  return attributes ? llvm::to_vector(attributes.getValue()) : SmallVector<Attribute>();
}

static void dropFeeds(EntryOp entry) {
  Block &body = entry.getBody().front();
  SmallVector<Attribute> feeds = listOf(entry.getArgAttrsAttr());
  for (unsigned i = body.getNumArguments(); i-- > 0;) {
    if (!body.getArgument(i).use_empty())
      continue;
    // Another feed determines its sizes.
    SmallVector<std::string> names, others;
    for (const DimExpr &size : shapeOf(body.getArgument(i).getType()))
      size.collectSymbols(names);
    for (BlockArgument other : body.getArguments())
      if (other.getArgNumber() != i)
        for (const DimExpr &size : shapeOf(other.getType()))
          if (size.asSymbol())
            size.collectSymbols(others);
    if (!llvm::all_of(names, [&](auto &name) { return llvm::is_contained(others, name); }))
      continue;
    body.eraseArgument(i);
    feeds.erase(feeds.begin() + i);
  }
  refresh(entry, feeds, listOf(entry.getResAttrsAttr()));
}

void removeUnused(ModuleOp module) {
  std::vector<Operation *> ops = operationsOf(module);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  for (auto entry : module.getOps<EntryOp>())
    if (!entry.getInitializer())
      dropFeeds(entry);
}

bool removeUncalled(Program &program) {
  bool isChanged = false;
  llvm::StringSet<> called, used;
  for (const CallPlan &call : program.calls)
    called.insert(call.entry);
  ModuleOp module = *program.module;
  for (auto entry : llvm::make_early_inc_range(module.getOps<EntryOp>()))
    if (!entry.getInitializer() && !called.contains(entry.getSymName())) {
      entry.erase();
      isChanged = true;
    }
  for (auto entry : module.getOps<EntryOp>())
    if (!entry.getInitializer())
      entry.walk([&](Operation *op) {
        if (auto name = op->getAttrOfType<FlatSymbolRefAttr>("variable"))
          used.insert(name.getValue());
      });
  for (auto entry : module.getOps<EntryOp>())
    for (auto assign : llvm::make_early_inc_range(entry.getOps<AssignOp>()))
      if (!used.contains(assign.getVariable()))
        assign.erase();
  for (auto variable : llvm::make_early_inc_range(module.getOps<VariableOp>()))
    if (!used.contains(variable.getSymName())) {
      variable.erase();
      isChanged = true;
    }
  return isChanged;
}

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

size_t countFetches(ModuleOp module, StringRef name) {
  EntryOp entry = findEntry(module, name);
  return entry ? entry.getBody().front().getTerminator()->getNumOperands() : 0;
}

static bool setFetches(ModuleOp module, StringRef name, llvm::function_ref<bool(size_t)> stays) {
  EntryOp entry = findEntry(module, name);
  if (!entry)
    return false;
  Operation *end = entry.getBody().front().getTerminator();
  SmallVector<Attribute> attributes;
  SmallVector<Value> values;
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    if (stays(i)) {
      values.push_back(value);
      attributes.push_back(entry.getResAttrsAttr()[i]);
    }
  end->setOperands(values);
  refresh(entry, listOf(entry.getArgAttrsAttr()), attributes);
  return true;
}

bool keepFetch(ModuleOp module, StringRef entry, size_t number) {
  return setFetches(module, entry, [&](size_t i) { return i == number; });
}

bool dropFetch(ModuleOp module, StringRef entry, size_t number) {
  return setFetches(module, entry, [&](size_t i) { return i != number; });
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

std::vector<Operation *> placedOperationsOf(ModuleOp module) {
  std::vector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr(kDeviceAttr))
      ops.push_back(op);
  });
  return ops;
}

bool dropDevices(ModuleOp module, size_t begin, size_t end) {
  std::vector<Operation *> ops = placedOperationsOf(module);
  end = std::min(end, ops.size());
  for (size_t i = begin; i < end; ++i)
    ops[i]->removeAttr(kDeviceAttr);
  return begin < end;
}

bool joinDevices(ModuleOp module) {
  DeviceName other{"", std::nullopt, "cpu", 1};
  auto attribute = DeviceAttr::get(module.getContext(), other);
  bool isChanged = false;
  for (Operation *op : placedOperationsOf(module))
    if (deviceOf(op).index.value_or(0) != 0 && op->getAttr(kDeviceAttr) != attribute) {
      op->setAttr(kDeviceAttr, attribute);
      isChanged = true;
    }
  return isChanged;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Replaces the results by values of their types that the operation or its regions read.
static bool replaceByOperands(Operation *op, bool fromEnd) {
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    SmallVector<Value> operands(op->getOperands());
    if (fromEnd)
      std::reverse(operands.begin(), operands.end());
    auto *found = llvm::find_if(operands, [&](Value v) { return v.getType() == result.getType(); });
    if (found == operands.end())
      return false;
    result.replaceAllUsesWith(*found);
  }
  op->erase();
  return true;
}

/// Replaces the results by new feeds.
static bool replaceByFeeds(Operation *op) {
  auto entry = op->getParentOfType<EntryOp>();
  Builder b(op->getContext());
  SmallVector<Attribute> feeds = listOf(entry.getArgAttrsAttr());
  for (Value result : op->getResults()) {
    if (result.use_empty())
      continue;
    if (!isa<RankedTensorType>(result.getType()))
      return false;
    BlockArgument feed = entry.getBody().addArgument(result.getType(), op->getLoc());
    result.replaceAllUsesWith(feed);
    std::string name = "z" + std::to_string(feeds.size());
    for (Attribute other : feeds)
      if (cast<DictionaryAttr>(other).getAs<StringAttr>("dfg.name") == name)
        name += "_";
    feeds.push_back(b.getDictionaryAttr(b.getNamedAttr("dfg.name", b.getStringAttr(name))));
  }
  op->erase();
  refresh(entry, feeds, listOf(entry.getResAttrsAttr()));
  return true;
}

/// Replaces the operation by the contents of a region: a branch, or one iteration.
static bool inlineRegion(Operation *op, unsigned number) {
  if (op->getNumRegions() != 2)
    return false;
  Block &block = op->getRegion(number).front();
  Operation *end = block.getTerminator();
  if (isa<ConditionOp>(end) || end->getNumOperands() != op->getNumResults())
    return false;
  for (auto [argument, init] : llvm::zip_first(block.getArguments(), op->getOperands()))
    argument.replaceAllUsesWith(init);
  SmallVector<Value> values(end->getOperands());
  for (Operation &nested : llvm::make_early_inc_range(block.without_terminator()))
    nested.moveBefore(op);
  op->replaceAllUsesWith(values);
  op->erase();
  return true;
}

bool removeOperation(Operation *op, unsigned way) {
  if (op->getNumResults() == 0 && op->getNumRegions() == 0) {
    op->erase();
    return true;
  }
  switch (way) {
  case 0:
    return replaceByFeeds(op);
  case 1:
    return inlineRegion(op, 0) || replaceByOperands(op, /*fromEnd=*/false);
  case 2:
    return inlineRegion(op, 1) || replaceByOperands(op, /*fromEnd=*/true);
  default:
    return op->getNumRegions() && replaceByOperands(op, /*fromEnd=*/false);
  }
}

bool canonicalize(ModuleOp module) {
  auto countOps = [&] { return operationsOf(module).size(); };
  size_t before = countOps();
  PassManager passes(module.getContext());
  passes.addPass(createCanonicalizerPass());
  return succeeded(passes.run(module)) && countOps() < before;
}

} // namespace tfc::random
