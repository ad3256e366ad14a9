//===- ControlOps.cpp - Branches and loops as regions ---------------------===//
//
// Implements branches and loops as regions, and the patterns that drop their unused results. Their
// graph form is in DataflowOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/RegionParser.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace tfc::dfg;

static std::string listTypes(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(types, os, [&](Type type) { os << toText(type); });
  os << ')';
  return text;
}

/// Checks that a region ends with a `dfg.yield` of the types.
static LogicalResult verifyYield(Operation *op, Block &block, TypeRange expected,
                                 StringRef region) {
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError("expects ") << region << " to end with 'dfg.yield'";
  if (yield.getValues().getTypes() != expected)
    return yield.emitOpError("expects values of the types ")
           << listTypes(expected) << ", but got " << listTypes(yield.getValues().getTypes());
  return success();
}

static Block &addBlock(OpBuilder &b, OperationState &state, TypeRange arguments) {
  Block &block = state.addRegion()->emplaceBlock();
  for (Type type : arguments)
    block.addArgument(type, state.location);
  return block;
}

//===----------------------------------------------------------------------===//
// IfOp
//===----------------------------------------------------------------------===//

void IfOp::build(OpBuilder &b, OperationState &state, TypeRange results, Value condition) {
  state.addOperands(condition);
  state.addTypes(results);
  addBlock(b, state, {});
  addBlock(b, state, {});
}

ParseResult IfOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand condition;
  RankedTensorType type;
  return failure(parser.parseOperand(condition) || parser.parseColonType(type) ||
                 parser.resolveOperand(condition, type, result.operands) ||
                 parseOptionalResultTypes(parser, result) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parseRegion(parser, result) || parser.parseKeyword("else") ||
                 parseRegion(parser, result));
}

void IfOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCondition() << " : " << getCondition().getType();
  printOptionalResultTypes(printer, getResultTypes());
  printAttributesAndRegions(printer, *this, "else");
}

YieldOp IfOp::getThenYield() { return cast<YieldOp>(getThenBlock().getTerminator()); }
YieldOp IfOp::getElseYield() { return cast<YieldOp>(getElseBlock().getTerminator()); }

LogicalResult IfOp::verify() {
  if (failed(verifyYield(*this, getThenBlock(), getResultTypes(), "the first region")))
    return failure();
  return verifyYield(*this, getElseBlock(), getResultTypes(), "the second region");
}

/// Moves the operations of a block before `op` and replaces `op` by the yielded values.
static void inlineBlock(PatternRewriter &rewriter, Operation *op, Block &block,
                        ValueRange arguments) {
  Operation *yield = block.getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    for (Value &result : results)
      if (result == argument)
        result = value;
  rewriter.inlineBlockBefore(&block, op, arguments);
  rewriter.replaceOp(op, results);
}

namespace {
/// Replaces a branch on a constant by the chosen region.
struct ChooseBranch : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr value;
    if (!matchPattern(op.getCondition(), m_Constant(&value)))
      return failure();
    bool isTrue = value.getSplatValue<bool>();
    inlineBlock(rewriter, op, isTrue ? op.getThenBlock() : op.getElseBlock(), {});
    return success();
  }
};

/// Drops unused results, and results for which both branches yield the same value from outside.
struct DropBranchResults : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    auto onTrue = op.getThenYield(), onFalse = op.getElseYield();
    llvm::BitVector drop(op.getNumResults());
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      Value value = onTrue.getValues()[i];
      bool isSame =
          value == onFalse.getValues()[i] && value.getParentRegion() != &op.getThenRegion();
      if (isSame)
        rewriter.replaceAllUsesWith(result, value);
      if (isSame || result.use_empty())
        drop.set(i);
    }
    if (drop.none())
      return failure();
    SmallVector<Type> types;
    SmallVector<Value> kept;
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      if (!drop.test(i)) {
        types.push_back(result.getType());
        kept.push_back(result);
      }
    rewriter.modifyOpInPlace(onTrue, [&] { onTrue->eraseOperands(drop); });
    rewriter.modifyOpInPlace(onFalse, [&] { onFalse->eraseOperands(drop); });
    OperationState state(op.getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
    state.addRegion()->takeBody(op.getThenRegion());
    state.addRegion()->takeBody(op.getElseRegion());
    Operation *replacement = rewriter.create(state);
    for (auto [old, value] : llvm::zip_equal(kept, replacement->getResults()))
      rewriter.replaceAllUsesWith(old, value);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ChooseBranch, DropBranchResults>(context);
}

//===----------------------------------------------------------------------===//
// WhileOp
//===----------------------------------------------------------------------===//

void WhileOp::build(OpBuilder &b, OperationState &state, ValueRange inits) {
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  addBlock(b, state, inits.getTypes());
  addBlock(b, state, inits.getTypes());
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SMLoc location;
  if (parser.parseLParen() || parser.getCurrentLocation(&location) ||
      parser.parseOperandList(inits) || parser.parseRParen() ||
      parser.parseOptionalColonTypeList(result.types) ||
      parser.resolveOperands(inits, result.types, location, result.operands))
    return failure();
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parseRegion(parser, result) || parser.parseKeyword("do") ||
                 parseRegion(parser, result));
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInits() << ')';
  if (!getInits().empty())
    printer << " : " << getInits().getTypes();
  printAttributesAndRegions(printer, *this, "do");
}

LogicalResult WhileOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  llvm::append_range(results, adaptor.getInits().getTypes());
  return success();
}

ConditionOp WhileOp::getCondition() {
  return cast<ConditionOp>(getConditionBlock().getTerminator());
}
YieldOp WhileOp::getYield() { return cast<YieldOp>(getBodyBlock().getTerminator()); }

Block::BlockArgListType WhileOp::getRegionIterArgs() { return getBodyBlock().getArguments(); }
std::optional<MutableArrayRef<OpOperand>> WhileOp::getYieldedValuesMutable() {
  return getYield().getValuesMutable();
}
std::optional<ResultRange> WhileOp::getLoopResults() { return getResults(); }

Numbers WhileOp::getNumbers() {
  if (!getTrips())
    return {};
  return {{getTrips()->getExprs()[0], IntegerType::get(getContext(), 64)}};
}

SmallVector<Region *> WhileOp::getLoopRegions() {
  return {&getConditionRegion(), &getBodyRegion()};
}

LogicalResult WhileOp::verify() {
  TypeRange carried = getInits().getTypes();
  for (Block *block : {&getConditionBlock(), &getBodyBlock()})
    if (block->getArgumentTypes() != carried)
      return emitOpError("expects its regions to take the carried values ")
             << listTypes(carried) << ", but got " << listTypes(block->getArgumentTypes());
  if (getConditionBlock().empty() || !isa<ConditionOp>(getConditionBlock().back()))
    return emitOpError("expects the first region to end with 'dfg.condition'");
  if (getTrips() && getTrips()->getSizes().size() != 1)
    return emitOpError("expects one size for trips");
  return verifyYield(*this, getBodyBlock(), carried, "the body");
}

namespace {
/// Removes carried values that are invariant, and those on which only they themselves depend.
struct DropCarried : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    llvm::BitVector drop(op.getInits().size());
    Block &condition = op.getConditionBlock(), &body = op.getBodyBlock();
    auto yield = op.getYield();
    for (auto [i, init] : llvm::enumerate(op.getInits())) {
      Value next = yield.getValues()[i];
      if (next != body.getArgument(i) && next != init)
        continue;
      rewriter.replaceAllUsesWith(condition.getArgument(i), init);
      rewriter.replaceAllUsesWith(body.getArgument(i), init);
      rewriter.replaceAllUsesWith(op.getResult(i), init);
      drop.set(i);
    }
    markUnneeded(op, drop);
    if (drop.none())
      return failure();
    replace(op, drop, rewriter);
    return success();
  }

private:
  /// Marks carried values that are not needed by a result, the condition, an effect or another
  /// needed carried value.
  static void markUnneeded(WhileOp op, llvm::BitVector &drop) {
    Block &body = op.getBodyBlock();
    auto yield = op.getYield();
    llvm::SmallDenseSet<Value> needed;
    SmallVector<Value> work;
    auto need = [&](Value value) {
      if (needed.insert(value).second)
        work.push_back(value);
    };
    auto needOperands = [&](Operation *top) {
      top->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          need(operand);
      });
    };
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      if (!result.use_empty() || !op.getConditionBlock().getArgument(i).use_empty())
        need(yield.getValues()[i]);
    for (Operation &nested : body.without_terminator())
      if (!isMemoryEffectFree(&nested))
        needOperands(&nested);
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body)
        need(yield.getValues()[argument.getArgNumber()]);
      else if (Operation *producer = value.getDefiningOp();
               producer && op->isProperAncestor(producer))
        needOperands(body.findAncestorOpInBlock(*producer) ? body.findAncestorOpInBlock(*producer)
                                                           : producer);
    }
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      if (result.use_empty() && op.getConditionBlock().getArgument(i).use_empty() &&
          !needed.contains(body.getArgument(i)))
        drop.set(i);
  }

  static void replace(WhileOp op, const llvm::BitVector &drop, PatternRewriter &rewriter) {
    Block &condition = op.getConditionBlock(), &body = op.getBodyBlock();
    SmallVector<Value> inits, results;
    for (auto [i, init] : llvm::enumerate(op.getInits())) {
      if (!drop.test(i)) {
        inits.push_back(init);
        results.push_back(op.getResult(i));
        continue;
      }
      // Remaining uses of a dropped value are dead, too.
      rewriter.replaceAllUsesWith(condition.getArgument(i), init);
      rewriter.replaceAllUsesWith(body.getArgument(i), init);
    }
    rewriter.modifyOpInPlace(op.getYield(), [&] { op.getYield()->eraseOperands(drop); });
    condition.eraseArguments(drop);
    body.eraseArguments(drop);
    OperationState state(op.getLoc(), op->getName(), inits, ValueRange(inits).getTypes(),
                         op->getAttrs());
    state.addRegion()->takeBody(op.getConditionRegion());
    state.addRegion()->takeBody(op.getBodyRegion());
    Operation *replacement = rewriter.create(state);
    for (auto [old, value] : llvm::zip_equal(results, replacement->getResults()))
      rewriter.replaceAllUsesWith(old, value);
    rewriter.eraseOp(op);
  }
};

/// A loop whose condition is the constant false does nothing.
struct DropLoop : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr value;
    if (!matchPattern(op.getCondition().getCondition(), m_Constant(&value)) ||
        value.getSplatValue<bool>() || !isMemoryEffectFree(op))
      return failure();
    rewriter.replaceOp(op, op.getInits());
    return success();
  }
};
} // namespace

void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropCarried, DropLoop>(context);
}
