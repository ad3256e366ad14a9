//===- Resize.cpp - A program with other sizes ----------------------------===//
//
// Every operation is created again, so that its types follow.
//
//===----------------------------------------------------------------------===//

#include "Edit.h"
#include "dialects/dfg/Devices.h"
#include "frontend/GraphBuilder.h"
#include "mlir/IR/IRMapping.h"
#include <set>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

std::vector<int64_t> sizesOf(ModuleOp module) {
  std::set<int64_t, std::greater<>> sizes;
  module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          sizes.insert(tensor.getShape().begin(), tensor.getShape().end());
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        sizes.insert(tensor.getShape().begin(), tensor.getShape().end());
  });
  std::vector<int64_t> result;
  llvm::copy_if(sizes, std::back_inserter(result), [](int64_t size) { return size > 1; });
  return result;
}

namespace {

class Resizer {
public:
  Resizer(ModuleOp source, int64_t from, int64_t to)
      : source(source), target(ModuleOp::create(source.getLoc(), source.getSymName())),
        builder(*target), from(from), to(to) {}

  OwningOpRef<ModuleOp> run();

private:
  bool copyBlock(Block &block);
  bool copyEntry(EntryOp entry);
  bool copyOperation(Operation *op);
  bool copyBranch(IfOp op);
  bool copyLoop(WhileOp op);

  DimExpr resize(const DimExpr &size) const { return size.isConstant(from) ? DimExpr(to) : size; }
  Type resize(Type type) const;
  Attribute resize(NamedAttribute attribute) const;
  Attribute resizeConstant(DenseElementsAttr value) const;
  SmallVector<Value> mapped(ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrNull(v); });
  }

  ModuleOp source;
  OwningOpRef<ModuleOp> target;
  GraphBuilder builder;
  IRMapping mapping;
  int64_t from, to;
};

} // namespace

Type Resizer::resize(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  Shape shape = llvm::map_to_vector(shapeOf(type), [&](const DimExpr &s) { return resize(s); });
  return tensorOf(shape, tensor.getElementType());
}

/// The first elements.
Attribute Resizer::resizeConstant(DenseElementsAttr value) const {
  auto type = cast<RankedTensorType>(resize(value.getType()));
  if (value.isSplat())
    return DenseElementsAttr::get(type, value.getSplatValue<Attribute>());
  SmallVector<Attribute> elements(value.getValues<Attribute>());
  if (type.getNumElements() == 0 || type.getNumElements() > int64_t(elements.size()))
    return DenseElementsAttr::get(type, elements.front());
  elements.resize(type.getNumElements());
  return DenseElementsAttr::get(type, elements);
}

Attribute Resizer::resize(NamedAttribute attribute) const {
  Attribute value = attribute.getValue();
  if (auto dims = dyn_cast<DimsAttr>(value)) {
    SmallVector<DimExpr> sizes;
    for (const DimExpr &size : dims.getExprs())
      sizes.push_back(resize(size));
    return DimsAttr::get(value.getContext(), sizes);
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return resizeConstant(dense);
  return value;
}

bool Resizer::copyBranch(IfOp op) {
  IfOp copy = builder.beginIf(mapping.lookup(op.getCondition()), op.getLoc());
  SmallVector<Value> values[2];
  for (unsigned i = 0; i < 2; ++i) {
    builder.toEnd(copy->getRegion(i).front());
    if (!copyBlock(op->getRegion(i).front()))
      return false;
    values[i] = mapped(op->getRegion(i).front().getTerminator()->getOperands());
  }
  if (ValueRange(values[0]).getTypes() != ValueRange(values[1]).getTypes())
    return false;
  mapping.map(op.getResults(), builder.finishIf(copy, values[0], values[1]).getResults());
  return true;
}

bool Resizer::copyLoop(WhileOp op) {
  WhileOp copy = builder.beginWhile(mapped(op.getInits()), op.getLoc());
  mapping.map(op.getConditionBlock().getArguments(), copy.getConditionBlock().getArguments());
  mapping.map(op.getBodyBlock().getArguments(), copy.getBodyBlock().getArguments());
  builder.toEnd(copy.getConditionBlock());
  if (!copyBlock(op.getConditionBlock()))
    return false;
  builder.condition(mapping.lookup(op.getCondition().getCondition()), op.getLoc());
  builder.toEnd(copy.getBodyBlock());
  if (!copyBlock(op.getBodyBlock()))
    return false;
  SmallVector<Value> next = mapped(op.getYield().getValues());
  if (ValueRange(next).getTypes() != copy.getInits().getTypes())
    return false;
  copy = builder.finishWhile(copy, {}, next, std::nullopt, op.getRecompute());
  mapping.map(op.getResults(), copy.getResults());
  return true;
}

bool Resizer::copyOperation(Operation *op) {
  if (auto branch = dyn_cast<IfOp>(op))
    return copyBranch(branch);
  if (auto loop = dyn_cast<WhileOp>(op))
    return copyLoop(loop);
  if (op->getNumRegions())
    return false;
  SmallVector<Value> operands = mapped(op->getOperands());
  if (auto read = dyn_cast<ReadOp>(op)) {
    auto type = cast<RankedTensorType>(resize(read.getType()));
    mapping.map(read.getResult(),
                builder.getResources().read(read.getVariable(), type, op->getLoc()));
    return true;
  }
  if (auto assign = dyn_cast<AssignOp>(op)) {
    if (resize(assign.getType()) != operands[0].getType())
      return false;
    mapping.map(assign.getResult(),
                builder.getResources().assign(assign.getVariable(), operands[0], op->getLoc()));
    return true;
  }
  if (auto gradients = dyn_cast<GradientsOp>(op)) {
    Operation *copy = builder.gradients(operands[0], ArrayRef(operands).drop_front(),
                                        gradients.getSparse(), op->getLoc());
    copyPlacement(op, copy);
    mapping.map(op->getResults(), copy->getResults());
    return true;
  }
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrs())
    attributes.emplace_back(attribute.getName(), resize(attribute));
  FailureOr<Operation *> copy =
      builder.create(op->getName().stripDialect(), operands, attributes, op->getLoc());
  if (failed(copy) || (*copy)->getNumResults() != op->getNumResults())
    return false;
  mapping.map(op->getResults(), (*copy)->getResults());
  return true;
}

bool Resizer::copyBlock(Block &block) {
  return llvm::all_of(block.without_terminator(),
                      [&](Operation &op) { return copyOperation(&op); });
}

bool Resizer::copyEntry(EntryOp entry) {
  EntryHeader header;
  header.name = entry.getSymName().str();
  header.isInitializer = entry.getInitializer();
  for (BlockArgument feed : entry.getBody().getArguments()) {
    auto name = entry.getArgAttrOfType<StringAttr>(feed.getArgNumber(), "dfg.name");
    header.feeds.push_back(
        {name.str(), cast<RankedTensorType>(resize(feed.getType())), feed.getLoc()});
  }
  EntryOp copy = builder.beginEntry(header, entry.getLoc());
  for (StringRef name : {"symbols", "bounds", "where"})
    if (Attribute value = entry->getAttr(name))
      copy->setAttr(name, value);
  mapping.map(entry.getBody().getArguments(), copy.getBody().getArguments());
  Block &body = entry.getBody().front();
  if (!copyBlock(body))
    return false;
  SmallVector<Value> values = mapped(body.getTerminator()->getOperands());
  std::vector<EntryValue> results;
  for (auto [i, value] : llvm::enumerate(values))
    results.push_back({entry.getResultAttrOfType<StringAttr>(i, "dfg.name").str(),
                       cast<RankedTensorType>(value.getType()), entry.getLoc()});
  builder.finishEntry(results, values, entry.getLoc());
  return true;
}

OwningOpRef<ModuleOp> Resizer::run() {
  for (Operation &op : *source.getBody()) {
    if (auto variable = dyn_cast<VariableOp>(op)) {
      builder.getResources().createVariable(
          variable.getSymName(), cast<RankedTensorType>(resize(variable.getTensorType())),
          variable.getFrozen(), "", op.getLoc());
      copyPlacement(&op, target->lookupSymbol(variable.getSymName()));
    } else if (auto entry = dyn_cast<EntryOp>(op); !entry || !copyEntry(entry))
      return {};
  }
  return std::move(target);
}

bool replaceSize(OwningOpRef<ModuleOp> &module, int64_t from, int64_t to) {
  OwningOpRef<ModuleOp> copy = Resizer(*module, from, to).run();
  if (!copy)
    return false;
  module = std::move(copy);
  return true;
}

} // namespace tfc::random
