//===- Places.cpp - In which memory a value is ----------------------------===//

#include "compiler/memory/Places.h"
#include "compiler/memory/Lists.h"
#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::memory {

static constexpr llvm::StringLiteral kPlaces = "tfc.places";

Attribute Place::toAttr(MLIRContext *context) const {
  Builder b(context);
  switch (kind) {
  case Kind::Arena:
    return b.getUnitAttr();
  case Kind::Variable:
    return variable;
  case Kind::Fetch:
    return b.getDictionaryAttr(b.getNamedAttr("fetch", b.getI32IntegerAttr(index)));
  case Kind::Operand:
    return b.getDictionaryAttr(b.getNamedAttr("operand", b.getI32IntegerAttr(index)));
  case Kind::Result:
    return b.getDictionaryAttr(b.getNamedAttr("result", b.getI32IntegerAttr(index)));
  }
  return {};
}

void setPlaces(LaunchOp launch, ArrayRef<Place> places) {
  SmallVector<Attribute> attrs;
  for (const Place &place : places)
    attrs.push_back(place.toAttr(launch.getContext()));
  launch->setAttr(kPlaces, ArrayAttr::get(launch.getContext(), attrs));
}

Place placeOf(LaunchOp launch, unsigned result) {
  auto places = launch->getAttrOfType<ArrayAttr>(kPlaces);
  if (!places || result >= places.size())
    return {};
  if (auto variable = dyn_cast<FlatSymbolRefAttr>(places[result]))
    return Place::inVariable(variable);
  if (auto dictionary = dyn_cast<DictionaryAttr>(places[result])) {
    if (auto fetch = dictionary.getAs<IntegerAttr>("fetch"))
      return Place::inFetch(fetch.getInt());
    if (auto operand = dictionary.getAs<IntegerAttr>("operand"))
      return Place::inOperand(operand.getInt());
    if (auto result = dictionary.getAs<IntegerAttr>("result"))
      return Place::inResult(result.getInt());
  }
  return {};
}

Value rootOf(Value value) {
  while (true) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    else if (isa<ListType>(value.getType()) && isListView(value))
      value = value.getDefiningOp<ListUnstackOp>().getX();
    else
      return value;
  }
}

Value storageOf(Value root) {
  while (auto launch = root.getDefiningOp<LaunchOp>()) {
    Place place = placeOf(launch, cast<OpResult>(root).getResultNumber());
    if (place.kind != Place::Kind::Operand)
      break;
    root = rootOf(launch.getInputs()[place.index]);
  }
  return root;
}

/// Whether a root is in the one buffer of a carried value: the old value, or one that is made on
/// the way to the next.
static bool isInSingleBuffer(Value root, WhileOp loop, int64_t carried) {
  if (root == loop.getBodyBlock().getArgument(carried))
    return true;
  auto launch = root.getDefiningOp<LaunchOp>();
  if (!launch || launch->getParentOp() != loop)
    return false;
  Place place = placeOf(launch, cast<OpResult>(root).getResultNumber());
  return place.kind == Place::Kind::Result && place.index == carried;
}

/// Whether a root is in the memory of a variable: its old value, or one on the way to the next.
static bool isInVariable(Value root, FlatSymbolRefAttr variable) {
  if (auto read = root.getDefiningOp<ReadOp>())
    return read.getVariableAttr() == variable;
  auto launch = root.getDefiningOp<LaunchOp>();
  if (!launch)
    return false;
  Place place = placeOf(launch, cast<OpResult>(root).getResultNumber());
  return place.kind == Place::Kind::Variable && place.variable == variable;
}

bool isWrittenOverOperand(LaunchOp launch, unsigned result) {
  Place place = placeOf(launch, result);
  auto loop = dyn_cast<WhileOp>(launch->getParentOp());
  if (place.kind == Place::Kind::Result && loop && hasSingleBuffer(loop, place.index))
    return llvm::any_of(launch.getInputs(), [&](Value input) {
      return isInSingleBuffer(rootOf(input), loop, place.index);
    });
  if (place.kind != Place::Kind::Variable)
    return place.kind == Place::Kind::Operand;
  return llvm::any_of(launch.getInputs(),
                      [&](Value input) { return isInVariable(rootOf(input), place.variable); });
}

bool isInArena(Value root) {
  Value storage = storageOf(root);
  auto launch = storage.getDefiningOp<LaunchOp>();
  return launch &&
         placeOf(launch, cast<OpResult>(storage).getResultNumber()).kind == Place::Kind::Arena;
}

static constexpr llvm::StringLiteral kSingle = "tfc.single";

void setSingleBuffers(WhileOp loop, ArrayRef<int64_t> carried) {
  loop->setAttr(kSingle, DenseI64ArrayAttr::get(loop.getContext(), carried));
}

bool hasSingleBuffer(WhileOp loop, unsigned carried) {
  auto single = loop->getAttrOfType<DenseI64ArrayAttr>(kSingle);
  return single && llvm::is_contained(single.asArrayRef(), int64_t(carried));
}

bool isReadFromMemory(Value scalar) {
  return llvm::any_of(scalar.getUses(), [](OpOperand &use) { return !takesRegister(use); });
}

bool isRegister(Value value) {
  if (!isRegisterType(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return !isa<EntryOp>(argument.getOwner()->getParentOp());
  Operation *producer = value.getDefiningOp();
  return isInRegister(producer) || producer->getNumRegions() > 0 || isa<ListSizeOp>(producer);
}

SmallVector<AssignOp> copiedAtEnd(Block &block) {
  SmallVector<AssignOp> copies;
  for (auto assign : block.getOps<AssignOp>()) {
    if (!isInVariable(rootOf(assign.getValue()), assign.getVariableAttr()))
      copies.push_back(assign);
  }
  return copies;
}

SmallVector<ReadOp> savedBeforeCopies(Block &block) {
  llvm::SmallDenseSet<Attribute> changed;
  for (auto assign : block.getOps<AssignOp>())
    changed.insert(assign.getVariableAttr());
  llvm::SetVector<Operation *> saved;
  for (AssignOp assign : copiedAtEnd(block)) {
    auto read = rootOf(assign.getValue()).getDefiningOp<ReadOp>();
    if (read && changed.contains(read.getVariableAttr()))
      saved.insert(read);
  }
  return llvm::map_to_vector(saved, [](Operation *op) { return cast<ReadOp>(op); });
}

DimExpr launchSize(LaunchOp launch, Operation *kernel, StringRef attribute) {
  auto map = kernel->getAttrOfType<AffineMapAttr>(attribute);
  if (!map || map.getValue().getNumResults() != 1)
    return DimExpr(0);
  SmallVector<DimExpr> sizes = launch.getSizes().getExprs();
  return sizeInLaunch(map.getValue().getResult(0), sizes).value_or(DimExpr(0));
}

bool isStep(Operation *op) {
  return !op->hasTrait<SourceRole>() && !isa<AssignOp, ReshapeOp>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

static bool isHostOp(Operation *op) {
  return !isStep(op) || isa<LaunchOp, CheckOp>(op) || op->getNumRegions() > 0 || isInRegister(op) ||
         usesLists(op) || hasOrderedEffects(op) || isa<BindSizeOp>(op);
}

LogicalResult checkSteps(Block &block) {
  llvm::SmallDenseSet<Attribute> seen;
  for (Operation &op : block) {
    if (!isHostOp(&op))
      return op.emitOpError("has no place in an entry whose memory is planned");
    if (isa<ReadOp, AssignOp>(op) && !isa<EntryOp>(block.getParentOp()))
      return op.emitOpError("expects to stand outside of branches and loops");
    if (auto read = dyn_cast<ReadOp>(op); read && seen.contains(read.getVariableAttr()))
      return read.emitOpError("expects reads of ")
             << read.getVariableAttr() << " to stand before its assignment";
    if (auto assign = dyn_cast<AssignOp>(op);
        assign && !seen.insert(assign.getVariableAttr()).second)
      return assign.emitOpError("expects one assignment of ") << assign.getVariableAttr();
  }
  return success();
}

int64_t elementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

DimExpr bytesOf(Type tensor) {
  return elementCount(shapeOf(tensor)) * DimExpr(elementBytes(elementTypeOf(tensor)));
}

} // namespace tfc::memory
