//===- SizeOps.cpp - Data-dependent sizes ---------------------------------===//
//
// Implements `bind_size`, which names a data-dependent size, and `true_positions`, whose result may
// have such a size.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/SizeOps.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Resources.h"
#include "dialects/dfg/ScanOps.h"

using namespace mlir;
using namespace tfc::dfg;

#define GET_OP_CLASSES
#include "dialects/dfg/SizeOps.cpp.inc"

//===----------------------------------------------------------------------===//
// BindSizeOp
//===----------------------------------------------------------------------===//

void BindSizeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), SizeResource::get());
}

LogicalResult BindSizeOp::verify() {
  SmallVector<DimExpr> size = getSize().getExprs();
  if (size.size() != 1 || !size[0].asSymbol())
    return emitOpError("expects one name to bind");
  if (getBound().getSizes().size() != 1)
    return emitOpError("expects one size as the bound");
  SmallVector<std::string> names;
  getBoundExpr().collectSymbols(names);
  if (llvm::is_contained(names, getName()))
    return emitOpError("expects a bound that is known before '") << getName() << "'";
  return success();
}

std::string BindSizeOp::getName() { return getSize().getExprs()[0].asSymbol()->str(); }

DimExpr BindSizeOp::getBoundExpr() { return getBound().getExprs()[0]; }

/// Returns true if the number counts elements of a tensor with at most as many elements as the
/// bound.
static bool countsElements(BindSizeOp op) {
  auto sum = op.getCount().getDefiningOp<SumOp>();
  auto cast = sum ? sum.getX().getDefiningOp<CastOp>() : CastOp();
  return cast && elementTypeOf(cast.getX().getType()).isInteger(1) &&
         elementCount(shapeOf(cast.getX().getType())) == op.getBoundExpr();
}

std::optional<DataCheck> BindSizeOp::buildCheck(OpBuilder &b) {
  if (getChecked() || countsElements(*this))
    return std::nullopt;
  Term count(b, getLoc(), CastOp::create(b, getLoc(), getCount(), b.getI64Type()));
  Term bound = count.with(sizeAs(b, getLoc(), getBoundExpr(), b.getI64Type()));
  Value holds = call<LogicalAndOp>(call<GreaterEqualOp>(count, count.number(0)),
                                   call<LessEqualOp>(count, bound));
  Message message(b, getLoc());
  message.text("is ").number(count).text(", which is not in [0, " + getBoundExpr().str() + "]");
  return DataCheck{holds, message.namesIn(getBoundExpr()), "the size '" + getName() + "'"};
}

Failure BindSizeOp::getCheckStatus() { return Failure::OutOfRange; }

//===----------------------------------------------------------------------===//
// TruePositionsOp
//===----------------------------------------------------------------------===//

LogicalResult TruePositionsOp::inferReturnTypes(MLIRContext *context,
                                                std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &results) {
  Type mask = adaptor.getMask().getType();
  if (failed(checkDtypes(location, "true_positions", Dtypes::Bool, mask)))
    return failure();
  if (shapeOf(mask).size() != 1)
    return emitErrorAbout(location, "true_positions", "expects a mask with one axis, but got ",
                          toText(mask), " [rank]");
  if (adaptor.getSize().getSizes().size() != 1)
    return emitErrorAbout(location, "true_positions", "expects one size [size]");
  results.push_back(tensorOf(adaptor.getSize().getExprs(), IntegerType::get(context, 64)));
  return success();
}

/// Each position is stored at the index given by the number of true elements before it.
SmallVector<Value> TruePositionsOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Term mask(b, loc, getMask());
  auto i64 = TypeAttr::get(b.getI64Type());
  auto count = TypeAttr::get(positionType(b, mask.getShape().front()));
  Term before = call<CumsumOp>(call<CastOp>(mask, count), b.getI64IntegerAttr(0),
                               b.getBoolAttr(true), b.getBoolAttr(false));
  Term places = select(mask, before, before.number(-1));
  Value empty = filled(b, loc, cast<RankedTensorType>(getType()), 0);
  Value all = IotaOp::create(b, loc, DimsAttr::get(b.getContext(), mask.getShape()), i64);
  return {ScatterUpdateOp::create(b, loc, empty, places, all,
                                  OutsideAttr::get(b.getContext(), Outside::Skip))};
}
