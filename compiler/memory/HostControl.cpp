//===- HostControl.cpp - Branches, loops, scalars in registers -------------===//

#include "compiler/memory/RunFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The type that a scalar has in a register: its own without a sign, i1 for bool.
static Type registerType(Type tensor) {
  Type element = elementTypeOf(tensor);
  if (isa<FloatType>(element))
    return element;
  return IntegerType::get(tensor.getContext(), element.getIntOrFloatBitWidth());
}

static Type memoryType(Type tensor) {
  Type type = registerType(tensor);
  return type.isInteger(1) ? IntegerType::get(tensor.getContext(), 8) : type;
}

Value RunFunction::scalarOf(Value value) {
  if (Value known = scalars.lookup(value))
    return known;
  return findScalar(value);
}

/// Computes an elementwise operation on scalars; products and sums may become one as in kernels.
void RunFunction::compute(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalarOf(operand));
  Block *current = b.getInsertionBlock();
  Operation *last = current->empty() ? nullptr : &current->back();
  Value result = cast<ScalarOpInterface>(op).buildScalar(b, operands);
  auto first = last ? std::next(last->getIterator()) : current->begin();
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  for (Operation &built : llvm::make_range(first, current->end()))
    if (auto fast = dyn_cast<arith::ArithFastMathInterface>(built))
      built.setAttr(fast.getFastMathAttrName(), contract);
  setScalar(op->getResult(0), result);
}

/// Builds constants and sizes at the start, loads feeds there, and everything else where it is
/// read.
Value RunFunction::findScalar(Value value) {
  Type type = registerType(value.getType());
  Operation *producer = value.getDefiningOp();
  auto constant = dyn_cast_or_null<ConstantOp>(producer);
  // Others are in memory.
  if (auto elements =
          constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr()) {
    auto splat = elements.getSplatValue<Attribute>();
    if (auto integer = dyn_cast<IntegerAttr>(splat))
      splat = IntegerAttr::get(type, integer.getValue());
    return scalars[value] = LLVM::ConstantOp::create(top, loc, type, cast<TypedAttr>(splat));
  }
  if (auto size = dyn_cast_or_null<SizeOp>(producer)) {
    DimExpr expr = size.getValue().getExprs().front();
    bool isBoundLater = sizes->isBoundLater(expr);
    Value wide = sizes->build(expr);
    OpBuilder &at = isBoundLater ? b : top;
    Value scalar =
        type.isInteger(64) ? wide : LLVM::TruncOp::create(at, loc, type, wide).getResult();
    // Another iteration may bind another value.
    if (!isBoundLater)
      scalars[value] = scalar;
    return scalar;
  }
  Value loaded =
      LLVM::LoadOp::create(b, loc, memoryType(value.getType()), pointerTo(rootOf(value)));
  if (!type.isInteger(1))
    return loaded;
  Value zero = LLVM::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, loaded, zero);
}

/// Notes the register, and stores it where somebody reads it from memory.
void RunFunction::setScalar(Value value, Value scalar) {
  scalars[value] = scalar;
  if (isReadFromMemory(value))
    store(scalar, pointerTo(value));
}

void RunFunction::store(Value scalar, Value to) {
  if (scalar.getType().isInteger(1))
    scalar = LLVM::ZExtOp::create(b, loc, b.getI8Type(), scalar);
  LLVM::StoreOp::create(b, loc, scalar, to);
}

/// A position or count as i64.
Value RunFunction::positionOf(Value scalar) {
  Value value = scalarOf(scalar);
  if (value.getType().isInteger(64))
    return value;
  return LLVM::SExtOp::create(b, loc, b.getI64Type(), value);
}

/// Binds a size that the data decide. A number that its check refuses is made one that memory
/// holds, for what runs before the check is looked at.
void RunFunction::bind(BindSizeOp op) {
  Value most = sizes->build(op.getBoundExpr());
  Value count = LLVM::SMinOp::create(b, loc, positionOf(op.getCount()), most);
  count = LLVM::SMaxOp::create(b, loc, count, sizes->constant(0));
  std::string name = op.getName();
  sizes->bind(name, count, b);
  auto found = llvm::find(info.found, name);
  if (found == info.found.end() || op->getBlock() != &block)
    return;
  Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), field(Field::Found),
                                    ArrayRef<LLVM::GEPArg>{int32_t(found - info.found.begin())});
  LLVM::StoreOp::create(b, loc, count, place);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

LogicalResult RunFunction::branch(IfOp op) {
  Value condition = scalarOf(op.getCondition());
  Block *onTrue = addBlock(), *onFalse = addBlock(), *join = addBlock();
  LLVM::CondBrOp::create(b, loc, condition, onTrue, onFalse);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isRegister(result))
      join->addArgument(registerType(result.getType()), loc);
    else if (isa<ListType>(result.getType()))
      join->addArgument(b.getI64Type(), loc);
    else
      targets[{op, unsigned(i)}] = pointerTo(result);
  }
  b.setInsertionPointToEnd(onTrue);
  if (failed(runBranch(op, op.getThenBlock(), join)))
    return failure();
  b.setInsertionPointToEnd(onFalse);
  if (failed(runBranch(op, op.getElseBlock(), join)))
    return failure();
  b.setInsertionPointToStart(join);
  unsigned next = 0;
  for (Value result : op.getResults())
    if (isRegister(result))
      setScalar(result, join->getArgument(next++));
    else if (isa<ListType>(result.getType()))
      lengths[result] = join->getArgument(next++);
  return success();
}

LogicalResult RunFunction::runBranch(IfOp op, Block &region, Block *join) {
  if (failed(run(region)))
    return failure();
  SmallVector<Value> joined;
  for (auto [i, value] : llvm::enumerate(region.getTerminator()->getOperands())) {
    Value result = op.getResult(i);
    if (isRegister(result)) {
      joined.push_back(scalarOf(value));
      continue;
    }
    if (!isa<ListType>(result.getType())) {
      copyYielded(value, i, targets.lookup({op, unsigned(i)}));
      continue;
    }
    copyList(value, lists.chunkOf(result));
    joined.push_back(lengthOf(value));
  }
  LLVM::BrOp::create(b, loc, joined, join);
  return success();
}

/// Copies a yielded value unless a launch of the region wrote it to its place.
void RunFunction::copyYielded(Value value, unsigned index, Value to) {
  Value root = rootOf(value);
  if (auto launch = root.getDefiningOp<LaunchOp>()) {
    Place place = placeOf(launch, cast<OpResult>(root).getResultNumber());
    if (place.kind == Place::Kind::Result && place.index == index && pointers.lookup(root) == to)
      return;
  }
  copy(to, nullptr, root);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// The header's arguments are, for each carried value in order, its register, or two pointers for
// one with two buffers: where it is and where the next one goes.

LogicalResult RunFunction::loop(WhileOp op) {
  Block *header = addBlock(), *body = addBlock(), *exit = addBlock();
  startLoop(op, header);
  b.setInsertionPointToStart(header);
  enterLoop(op, header);
  if (failed(run(op.getConditionBlock())))
    return failure();
  Value condition = scalarOf(op.getCondition().getCondition());
  LLVM::CondBrOp::create(b, loc, condition, body, exit);
  b.setInsertionPointToStart(body);
  if (failed(run(op.getBodyBlock())))
    return failure();
  goOn(op, header);
  b.setInsertionPointToStart(exit);
  leaveLoop(op);
  return success();
}

/// Puts the first values into the loop's buffers and jumps to the header.
void RunFunction::startLoop(WhileOp op, Block *header) {
  SmallVector<Value> arguments;
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    Value result = op.getResult(i);
    if (isRegister(result)) {
      arguments.push_back(scalarOf(init));
      continue;
    }
    if (isa<ListType>(result.getType())) {
      copyList(init, lists.chunkOf(result));
      arguments.push_back(lengthOf(init));
      continue;
    }
    Value current = arenaPointer(arena.slotOf(result));
    copy(current, nullptr, rootOf(init));
    pointers[result] = current;
    if (hasSingleBuffer(op, i))
      continue;
    arguments.push_back(current);
    arguments.push_back(arenaPointer(arena.otherSlotOf(result)));
  }
  header->addArguments(ValueRange(arguments).getTypes(),
                       SmallVector<Location>(arguments.size(), loc));
  LLVM::BrOp::create(b, loc, arguments, header);
}

/// Tells the regions where the carried values of an iteration are.
void RunFunction::enterLoop(WhileOp op, Block *header) {
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Value inCondition = op.getConditionBlock().getArgument(i);
    Value inBody = op.getBodyBlock().getArgument(i);
    if (isRegister(result)) {
      Value scalar = header->getArgument(next++);
      for (Value value : {inCondition, inBody, Value(result)})
        scalars[value] = scalar;
      if (isReadFromMemory(inCondition) || isReadFromMemory(inBody))
        store(scalar, pointerTo(result));
      continue;
    }
    if (isa<ListType>(result.getType())) {
      Value length = header->getArgument(next++);
      for (Value value : {inCondition, inBody, Value(result)})
        lengths[value] = length;
      continue;
    }
    if (!hasSingleBuffer(op, i)) {
      pointers[result] = header->getArgument(next++);
      targets[{op, unsigned(i)}] = header->getArgument(next++);
    } else {
      targets[{op, unsigned(i)}] = pointers[result];
    }
    Value place = pointers.lookup(result); // the map grows below
    for (Value argument : {inCondition, inBody})
      pointers[argument] = place;
  }
}

/// Ends an iteration: what was not made in its place is copied, and buffers take turns.
void RunFunction::goOn(WhileOp op, Block *header) {
  SmallVector<Value> arguments;
  copyYieldedLists(op);
  for (auto [i, value] : llvm::enumerate(op.getYield().getValues())) {
    Value result = op.getResult(i);
    if (isRegister(result)) {
      arguments.push_back(scalarOf(value));
      continue;
    }
    if (isa<ListType>(result.getType())) {
      arguments.push_back(lengthOf(value));
      continue;
    }
    bool isUnchanged = rootOf(value) == op.getBodyBlock().getArgument(i);
    Value target = targets.lookup({op, unsigned(i)});
    if (!isUnchanged)
      copyYielded(value, i, target);
    if (hasSingleBuffer(op, i))
      continue;
    arguments.push_back(target);
    arguments.push_back(pointers.lookup(result));
  }
  LLVM::BrOp::create(b, loc, arguments, header);
}

void RunFunction::leaveLoop(WhileOp op) {
  for (Value result : op.getResults())
    if (isRegister(result) && isReadFromMemory(result))
      store(scalars.lookup(result), pointerTo(result));
    else if (!isRegister(result) && !isa<ListType>(result.getType()))
      targets.erase({op, cast<OpResult>(result).getResultNumber()});
}
