//===- LowerKernels.cpp - dfg kernels to linalg on tensors ----------------===//
//
// Stands after fusion, because the iteration space of a kernel is known only
// when it is whole, and before the memory plan, which needs the kernels' scratch.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "compiler/lowering/Passes.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;

namespace tfc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

/// A size as a semi-affine expression over the kernel's symbols.
static AffineExpr toAffine(const DimExpr &size, ArrayAttr symbols) {
  MLIRContext *context = symbols.getContext();
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto &[monomial, coefficient] : size.getTerms()) {
    AffineExpr product = getAffineConstantExpr(1, context);
    for (const DimExpr::Atom &atom : monomial) {
      AffineExpr factor;
      if (atom.kind == DimExpr::AtomKind::Symbol) {
        auto it = llvm::find(symbols, StringAttr::get(context, atom.name));
        factor = getAffineSymbolExpr(std::distance(symbols.begin(), it), context);
      } else {
        AffineExpr lhs = toAffine(*atom.lhs, symbols), rhs = toAffine(*atom.rhs, symbols);
        factor = atom.kind == DimExpr::AtomKind::FloorDiv ? lhs.floorDiv(rhs) : lhs % rhs;
      }
      product = product * factor;
    }
    sum = sum + product * coefficient;
  }
  return sum;
}

/// `tfc.shape`, for a tensor with dynamic sizes.
static DictionaryAttr shapeAttr(Type type, ArrayAttr symbols) {
  MLIRContext *context = type.getContext();
  if (cast<RankedTensorType>(type).hasStaticShape())
    return DictionaryAttr::get(context);
  SmallVector<AffineExpr> sizes;
  for (const DimExpr &size : shapeOf(type))
    sizes.push_back(toAffine(size, symbols));
  AffineMap map = AffineMap::get(0, symbols.size(), sizes, context);
  Builder b(context);
  return b.getDictionaryAttr(b.getNamedAttr("tfc.shape", AffineMapAttr::get(map)));
}

/// Replaces the kernel by a function with its body, still of dfg operations.
static func::FuncOp convertSignature(KernelOp kernel, TensorConverter &types) {
  OpBuilder b(kernel);
  ArrayAttr symbols = kernel.getSymbolsAttr() ? kernel.getSymbolsAttr() : b.getArrayAttr({});
  SmallVector<Type> inputs(symbols.size(), b.getIndexType()), results;
  SmallVector<Attribute> argAttrs(symbols.size(), b.getDictionaryAttr({})), resultAttrs;
  for (Type type : kernel.getArgumentTypes()) {
    inputs.push_back(types.convertType(type));
    argAttrs.push_back(shapeAttr(type, symbols));
  }
  for (Type type : kernel.getResultTypes()) {
    results.push_back(types.convertType(type));
    resultAttrs.push_back(shapeAttr(type, symbols));
  }
  auto function = func::FuncOp::create(b, kernel.getLoc(), kernel.getSymName(),
                                       b.getFunctionType(inputs, results));
  function.setPrivate();
  function.setArgAttrsAttr(b.getArrayAttr(argAttrs));
  function.setResAttrsAttr(b.getArrayAttr(resultAttrs));
  function->setAttr("tfc.kernel", b.getUnitAttr());
  function->setAttr("tfc.symbols", symbols);

  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  // Uses in the body see the named type until the conversion replaces them.
  for (auto [old, argument] : llvm::zip(kernel.getBody().getArguments(),
                                        entry->getArguments().drop_front(symbols.size()))) {
    Value cast = argument;
    if (old.getType() != argument.getType())
      cast = UnrealizedConversionCastOp::create(b, kernel.getLoc(), old.getType(), argument)
                 .getResult(0);
    mapping.map(old, cast);
  }
  for (Operation &op : kernel.getBody().front())
    b.clone(op, mapping);
  kernel.erase();
  return function;
}

namespace {
struct ReturnLowering : OpConversionPattern<tfc::dfg::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tfc::dfg::ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, adaptor.getValues());
    return success();
  }
};

/// What no pattern lowers is an error at the author's line, not one of the conversion.
static LogicalResult convertBody(func::FuncOp function, const ConversionTarget &target,
                                 const FrozenRewritePatternSet &patterns) {
  std::optional<Location> place;
  std::string name;
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
      std::string text = diagnostic.str();
      StringRef rest = text;
      if (!rest.consume_front("failed to legalize operation 'dfg."))
        return failure();
      place = diagnostic.getLocation();
      name = rest.split('\'').first.str();
      return success();
    });
    result = applyPartialConversion(function, target, patterns);
  }
  if (succeeded(result) || !place)
    return result;
  return emitError(*place) << "'" << name
                           << "' is an operation that this tfc cannot compile yet "
                              "[not-yet]";
}

struct LowerKernelsPass : tfc::impl::LowerKernelsBase<LowerKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    TensorConverter types;
    RewritePatternSet patterns(context);
    populateContractionPatterns(types, patterns);
    populateElementwisePatterns(types, patterns);
    populateGatherPatterns(types, patterns);
    populatePositionPatterns(types, patterns);
    populateReductionPatterns(types, patterns);
    populateScanPatterns(types, patterns);
    populateShapePatterns(types, patterns);
    populateSortPatterns(types, patterns);
    populateViewPatterns(types, patterns);
    populateWindowPatterns(types, patterns);
    patterns.add<ReturnLowering>(types, context);
    FrozenRewritePatternSet frozen(std::move(patterns));

    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<DfgDialect>();
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      func::FuncOp function = convertSignature(kernel, types);
      if (failed(convertBody(function, target, frozen)))
        return signalPassFailure();
      function.walk([](UnrealizedConversionCastOp cast) {
        if (cast->use_empty())
          cast.erase();
      });
    }
  }
};
} // namespace
