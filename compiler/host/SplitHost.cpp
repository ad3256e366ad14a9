// Splits long functions of entries. A function grows with its entry, and LLVM's passes are
// superlinear in the length of a function. Runs after all functions of entries have been built, and
// before control flow becomes blocks, because only straight-line code is moved.

#include "compiler/host/Passes.h"
#include "dialects/rt/Rt.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc;

namespace tfc {
#define GEN_PASS_DEF_SPLITHOST
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using LLVM::LLVMFuncOp;

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// The length of an operation and those in its regions. An operand of a call or launch is code,
/// too: it is stored or passed.
static size_t lengthOf(Operation *op) {
  size_t length = 0;
  op->walk([&](Operation *nested) {
    length += isa<rt::RtDialect>(nested->getDialect()) ? 1 + nested->getNumOperands() : 1;
  });
  return length;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

/// Operations of a function that are computed again by each part that uses them: constants,
/// addresses and small sizes. They depend only on arguments of the function.
class Recomputed {
public:
  explicit Recomputed(LLVMFuncOp function);

  bool contains(Operation *op) const { return lengths.contains(op); }
  /// Erases the operations that only parts have used.
  void eraseUnused();

private:
  /// The number of operations that compute a value, or none if it is more than a few.
  static constexpr unsigned kMost = 16;

  std::optional<unsigned> lengthOf(Operation *op) const;

  LLVMFuncOp function;
  llvm::MapVector<Operation *, unsigned> lengths;
};

/// The values that pass from one part to another, in an array on the stack of the function.
class Spilled {
public:
  explicit Spilled(LLVMFuncOp function) : function(function) {}

  /// The array as seen by the function, or by a part.
  Value arrayIn(LLVMFuncOp user);
  bool isArray(Value value) { return array && value.getDefiningOp() == array.getOperation(); }
  Value load(OpBuilder &b, Value value);
  /// The operations that store a value, which belong to the one that computes it.
  ArrayRef<Operation *> storesOf(Operation *op) const;
  /// Returns true for operations that are no steps of their own.
  bool isTransfer(Operation *op) const { return transfers.contains(op); }

  /// Returns true for types of at most 8 bytes that can be in memory.
  static bool canHold(Type type);

private:
  Value addressOf(OpBuilder &b, unsigned slot);
  unsigned slotOf(Value value);

  LLVMFuncOp function;
  LLVM::AllocaOp array;
  llvm::DenseMap<Value, unsigned> slots;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> stores; // by the operation with the result
  llvm::DenseSet<Operation *> transfers;
};

} // namespace

static LLVMFuncOp functionOf(Operation *op) {
  auto function = dyn_cast<LLVMFuncOp>(op);
  return function ? function : op->getParentOfType<LLVMFuncOp>();
}

static LLVMFuncOp functionOf(Value value) {
  return functionOf(value.getParentRegion()->getParentOp());
}

/// Returns true for an argument of the function itself.
static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner()->isEntryBlock() &&
         isa<LLVMFuncOp>(argument.getOwner()->getParentOp());
}

//===--- recomputed values ------------------------------------------------===//

Recomputed::Recomputed(LLVMFuncOp function) : function(function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (std::optional<unsigned> length = lengthOf(op))
      lengths[op] = *length;
  });
}

std::optional<unsigned> Recomputed::lengthOf(Operation *op) const {
  if (op->getNumRegions() > 0 || op->getNumResults() == 0 || !isPure(op))
    return std::nullopt;
  unsigned length = 1;
  for (Value operand : op->getOperands()) {
    if (isArgument(operand))
      continue;
    auto known = lengths.find(operand.getDefiningOp());
    if (known == lengths.end())
      return std::nullopt;
    length += known->second;
  }
  return length <= kMost ? std::optional(length) : std::nullopt;
}

void Recomputed::eraseUnused() {
  auto all = lengths.takeVector();
  for (Operation *op : llvm::reverse(llvm::make_first_range(all)))
    if (functionOf(op) == function && op->use_empty())
      op->erase();
}

//===--- spilled values ---------------------------------------------------===//

bool Spilled::canHold(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64;
  if (auto number = dyn_cast<FloatType>(type))
    return number.getWidth() <= 64 && LLVM::isCompatibleType(type);
  return isa<LLVM::LLVMPointerType>(type);
}

Value Spilled::arrayIn(LLVMFuncOp user) {
  if (user != function)
    return user.getArguments().back();
  if (!array) {
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    Value one = LLVM::ConstantOp::create(b, function.getLoc(), b.getI32IntegerAttr(1));
    array = LLVM::AllocaOp::create(b, function.getLoc(), LLVM::LLVMPointerType::get(b.getContext()),
                                   LLVM::LLVMArrayType::get(b.getI64Type(), 0), one);
    transfers.insert_range(std::initializer_list<Operation *>{one.getDefiningOp(), array});
  }
  return array;
}

Value Spilled::addressOf(OpBuilder &b, unsigned slot) {
  LLVMFuncOp user = functionOf(b.getInsertionBlock()->getParentOp());
  Value base = arrayIn(user);
  return LLVM::GEPOp::create(b, user.getLoc(), base.getType(), b.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(slot)});
}

ArrayRef<Operation *> Spilled::storesOf(Operation *op) const {
  auto known = stores.find(op);
  return known == stores.end() ? ArrayRef<Operation *>() : known->second;
}

/// Returns the element of a value, which is stored where it is computed.
unsigned Spilled::slotOf(Value value) {
  auto [known, isNew] = slots.try_emplace(value, slots.size());
  unsigned slot = known->second;
  if (!isNew)
    return slot;
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  Value address = addressOf(b, slot);
  Operation *store = LLVM::StoreOp::create(b, value.getLoc(), value, address);
  transfers.insert_range(std::initializer_list<Operation *>{address.getDefiningOp(), store});
  if (Operation *op = value.getDefiningOp())
    stores[op].append({address.getDefiningOp(), store});
  array.setElemType(LLVM::LLVMArrayType::get(b.getI64Type(), slots.size()));
  return slot;
}

Value Spilled::load(OpBuilder &b, Value value) {
  arrayIn(function);
  Value address = addressOf(b, slotOf(value));
  Value loaded = LLVM::LoadOp::create(b, value.getLoc(), value.getType(), address);
  transfers.insert_range(
      std::initializer_list<Operation *>{address.getDefiningOp(), loaded.getDefiningOp()});
  return loaded;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

namespace {

/// The steps of a block, that is, the operations that are moved, and where they can be cut.
class Cuts {
public:
  Cuts(Block &block, ArrayRef<Operation *> steps, const Spilled &spilled);

  /// Divides the steps into parts of no more than `limit` and, but for the last, no less than half
  /// of it, except where more cannot be cut. Returns the end of each part.
  SmallVector<size_t> divide(size_t limit) const;

private:
  void countResult(Block &block, size_t step, Value result);

  ArrayRef<Operation *> steps;
  const Spilled &spilled;
  llvm::DenseMap<Operation *, size_t> positions;
  /// Number of values that pass a cut before a step, as differences to the previous cut.
  std::vector<int64_t> changes;
};

} // namespace

/// No number of other values that pass a cut is as bad as one that cannot be spilled.
static constexpr int64_t kForbidden = int64_t(1) << 32;

Cuts::Cuts(Block &block, ArrayRef<Operation *> steps, const Spilled &spilled)
    : steps(steps), spilled(spilled), changes(steps.size() + 2) {
  for (auto [i, step] : llvm::enumerate(steps))
    positions[step] = i;
  for (auto [i, step] : llvm::enumerate(steps))
    for (Value result : step->getResults())
      countResult(block, i, result);
}

/// A value passes all cuts from the step that computes it to the last that uses it.
void Cuts::countResult(Block &block, size_t step, Value result) {
  size_t last = step;
  for (Operation *user : result.getUsers()) {
    if (spilled.isTransfer(user))
      continue;
    Operation *ancestor = block.findAncestorOpInBlock(*user);
    auto known = positions.find(ancestor);
    last = std::max(last, known == positions.end() ? steps.size() : known->second);
  }
  int64_t cost = Spilled::canHold(result.getType()) ? 1 : kForbidden;
  changes[step + 1] += cost;
  changes[last + 1] -= cost;
}

SmallVector<size_t> Cuts::divide(size_t limit) const {
  SmallVector<size_t> ends;
  size_t length = 0, best = 0;
  int64_t passing = 0, fewest = INT64_MAX;
  for (size_t i = 0; i < steps.size(); ++i) {
    passing += changes[i];
    // Before step i, with `length` since the last cut.
    if (length > limit / 2 && passing < kForbidden && (passing <= fewest || best == 0)) {
      best = i;
      fewest = passing;
    }
    length += lengthOf(steps[i]);
    if (length <= limit || best == 0)
      continue;
    ends.push_back(best);
    length = 0;
    for (size_t k = best; k <= i; ++k)
      length += lengthOf(steps[k]);
    best = 0;
    fewest = INT64_MAX;
  }
  ends.push_back(steps.size());
  return ends;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {

/// A function with steps of another one.
class Part {
public:
  Part(LLVMFuncOp function, Recomputed &recomputed, Spilled &spilled)
      : function(function), recomputed(recomputed), spilled(spilled) {}

  /// Moves the steps here, with the operations that store their results.
  void take(ArrayRef<Operation *> steps);
  /// Replaces values of other functions, once all steps have moved.
  void connect();

private:
  Value localOf(OpBuilder &b, Value value);

  LLVMFuncOp function;
  Recomputed &recomputed;
  Spilled &spilled;
  llvm::DenseMap<Value, Value> known; // by value of another function
};

/// Splits the blocks of one function.
class Splitter {
public:
  Splitter(LLVMFuncOp function, SymbolTable &symbols, size_t limit)
      : function(function), newest(function), symbols(symbols), limit(limit), recomputed(function),
        spilled(function) {}

  /// Returns the number of parts.
  unsigned run();

private:
  void split(Block &block);
  bool cut(Block &block);
  SmallVector<Operation *> stepsOf(Block &block);
  bool canMove(Block &block);
  Part addPart(ArrayRef<Operation *> steps);
  LLVMFuncOp addFunction(bool canFail);
  void addCall(OpBuilder &b, LLVMFuncOp part);
  void loadResults(ArrayRef<Operation *> steps);

  LLVMFuncOp function, newest; // the newest part, or the function if there is none
  SymbolTable &symbols;
  size_t limit;
  Recomputed recomputed;
  Spilled spilled;
  unsigned partCount = 0;
};

} // namespace

void Part::take(ArrayRef<Operation *> steps) {
  Operation *end = function.getBody().front().getTerminator();
  for (Operation *step : steps) {
    step->moveBefore(end);
    for (Operation *store : spilled.storesOf(step))
      store->moveBefore(end);
  }
}

void Part::connect() {
  Block &body = function.getBody().front();
  SmallVector<OpOperand *> foreign;
  function.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (functionOf(operand.get()) != function)
        foreign.push_back(&operand);
  });
  // At the first use, so that few values are live at a time.
  for (OpOperand *operand : foreign) {
    OpBuilder b(body.findAncestorOpInBlock(*operand->getOwner()));
    operand->set(localOf(b, operand->get()));
  }
}

/// Returns the value of another function in this one: an argument, computed again, or loaded.
Value Part::localOf(OpBuilder &b, Value value) {
  if (isArgument(value))
    return function.getArgument(cast<BlockArgument>(value).getArgNumber());
  if (spilled.isArray(value))
    return spilled.arrayIn(function);
  Value &local = known[value];
  if (local)
    return local;
  Operation *op = value.getDefiningOp();
  if (!op || !recomputed.contains(op))
    return local = spilled.load(b, value);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(localOf(b, operand));
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  return known[value] = copy->getResult(cast<OpResult>(value).getResultNumber());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

unsigned Splitter::run() {
  if (lengthOf(function) > limit) {
    split(function.getBody().front());
    recomputed.eraseUnused();
  }
  return partCount;
}

/// Splits a block until it is short: calls of many parts are split again.
void Splitter::split(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        split(nested);
  while (cut(block)) {
  }
}

/// Returns the operations of a block that a part may take.
SmallVector<Operation *> Splitter::stepsOf(Block &block) {
  SmallVector<Operation *> steps;
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && !isa<LLVM::AllocaOp>(op) &&
        !recomputed.contains(&op) && !spilled.isTransfer(&op))
      steps.push_back(&op);
  return steps;
}

/// Returns true if a step of the block, or an operation in it, computes the value.
static bool isComputedIn(Block &block, Value value) {
  Block *parent = value.getParentBlock();
  if (parent == &block)
    return isa<OpResult>(value);
  return block.findAncestorOpInBlock(*parent->getParentOp()) != nullptr;
}

/// Returns true if all values that enter or leave the steps of a block can be passed. Those between
/// two of them are up to the cuts.
bool Splitter::canMove(Block &block) {
  auto canPass = [&](Operation *user, Value value) {
    Operation *op = value.getDefiningOp();
    bool isInside = user != block.getTerminator() && isComputedIn(block, value);
    return isInside || Spilled::canHold(value.getType()) || (op && recomputed.contains(op));
  };
  auto check = [&](Operation *op) {
    bool isPassed = llvm::all_of(op->getOperands(), [&](Value v) { return canPass(op, v); });
    return isPassed ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !block.walk(check).wasInterrupted();
}

/// Moves the steps of a long block to parts. Returns false if that is not possible or not needed.
bool Splitter::cut(Block &block) {
  SmallVector<Operation *> steps = stepsOf(block);
  size_t length = 0;
  for (Operation *step : steps)
    length += lengthOf(step);
  if (length <= limit || !canMove(block))
    return false;
  SmallVector<size_t> ends = Cuts(block, steps, spilled).divide(limit);
  // A function of a single call is no shorter.
  if (ends.size() == 1 && isa<LLVMFuncOp>(block.getParentOp()))
    return false;
  SmallVector<Part> parts;
  size_t begin = 0;
  for (size_t end : ends) {
    parts.push_back(addPart(ArrayRef(steps).slice(begin, end - begin)));
    begin = end;
  }
  for (Part &part : parts)
    part.connect();
  loadResults(steps);
  return true;
}

static bool canFail(Operation *step) {
  return step
      ->walk([](Operation *op) {
        return op->hasTrait<rt::EndsCall>() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Part Splitter::addPart(ArrayRef<Operation *> steps) {
  ++partCount;
  LLVMFuncOp callee = addFunction(llvm::any_of(steps, canFail));
  Operation *last = steps.back();
  if (ArrayRef<Operation *> stores = spilled.storesOf(last); !stores.empty())
    last = stores.back();
  OpBuilder b(function.getContext());
  b.setInsertionPointAfter(last);
  addCall(b, callee);
  Part part(callee, recomputed, spilled);
  part.take(steps);
  return part;
}

/// Adds a function without steps, which takes the arguments of the original and the spilled values.
LLVMFuncOp Splitter::addFunction(bool canFail) {
  OpBuilder b(function.getContext());
  Location loc = function.getLoc();
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  SmallVector<Type> arguments(function.getArgumentTypes());
  arguments.push_back(LLVM::LLVMPointerType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(canFail ? b.getI32Type() : none, arguments);
  std::string name = (function.getName() + ".part" + Twine(partCount - 1)).str();
  b.setInsertionPointAfter(newest);
  auto part = LLVMFuncOp::create(b, loc, name, type);
  symbols.insert(part);
  newest = part;
  part.setNoInline(true);
  part.setPassthroughAttr(function.getPassthroughAttr());
  b.setInsertionPointToStart(part.addEntryBlock(b));
  if (!canFail) {
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return part;
  }
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  LLVM::ReturnOp::create(b, loc, ok);
  return part;
}

void Splitter::addCall(OpBuilder &b, LLVMFuncOp part) {
  SmallVector<Value> arguments(function.getArguments());
  arguments.push_back(spilled.arrayIn(function));
  auto call = LLVM::CallOp::create(b, function.getLoc(), part, arguments);
  if (call.getNumResults() > 0)
    rt::PropagateOp::create(b, function.getLoc(), call.getResult());
}

/// Loads results of steps that have moved where the function itself uses them.
void Splitter::loadResults(ArrayRef<Operation *> steps) {
  for (Operation *step : steps)
    for (Value result : step->getResults())
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        if (functionOf(use.getOwner()) != function)
          continue;
        OpBuilder b(use.getOwner());
        use.set(spilled.load(b, result));
      }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SplitHostPass : tfc::impl::SplitHostBase<SplitHostPass> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<LLVMFuncOp>()))
      if (rt::isEntryFunction(function) && !function.isExternal())
        partCount += Splitter(function, symbols, limit).run();
  }
};
} // namespace
