//===- LowerKernels.cpp - dfg kernels to linalg on tensors ----------------===//
//
// Runs after fusion, because the iteration space of a kernel is known only when the kernel is
// complete, and before the schedule, which is made for kernels in linalg form.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "compiler/lowering/Passes.h"
#include "dialects/dfg/Devices.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::lowering;
namespace kernel = tfc::kernel;

namespace tfc {
#define GEN_PASS_DEF_LOWERKERNELS
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

/// Returns a size as a semi-affine expression over the kernel's symbols.
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
        factor = toAffine(*atom.lhs, symbols).floorDiv(toAffine(*atom.rhs, symbols));
      }
      product = product * factor;
    }
    sum = sum + product * coefficient;
  }
  return sum;
}

/// Returns the `kernel.shape` attribute of a tensor with dynamic sizes.
static DictionaryAttr shapeAttr(Type type, ArrayAttr symbols) {
  MLIRContext *context = type.getContext();
  if (cast<RankedTensorType>(type).hasStaticShape())
    return DictionaryAttr::get(context);
  SmallVector<AffineExpr> sizes;
  for (const DimExpr &size : shapeOf(type))
    sizes.push_back(toAffine(size, symbols));
  AffineMap map = AffineMap::get(0, symbols.size(), sizes, context);
  return DictionaryAttr::get(context, kernel::shapeAttr(map));
}

/// Replaces the kernel by a function with the same body, still of dfg operations.
static kernel::FuncOp convertSignature(KernelOp kernel, TensorConverter &types) {
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
  auto function = kernel::FuncOp::create(b, kernel.getLoc(), kernel.getSymName(),
                                         b.getFunctionType(inputs, results));
  function.setArgAttrsAttr(b.getArrayAttr(argAttrs));
  function.setResAttrsAttr(b.getArrayAttr(resultAttrs));
  function.setSymbolsAttr(symbols);
  // Kernels without a device are for the default target.
  if (std::string kind = deviceOf(kernel).kind; !kind.empty())
    function.setTarget(kind);

  Block *entry = &function.getBody().front();
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  // Uses in the body keep the named type until the conversion replaces them.
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
    rewriter.replaceOpWithNewOp<kernel::ReturnOp>(op, adaptor.getValues());
    return success();
  }
};

/// Emits an error for each operation that no pattern lowers, at its location in the source.
static LogicalResult checkLowered(kernel::FuncOp function) {
  LogicalResult result = success();
  function.walk([&](Operation *op) {
    if (!isa_and_present<DfgDialect>(op->getDialect()))
      return;
    emitError(op->getLoc())
        << "'" << op->getName().stripDialect()
        << "' is an operation that this version of tfc cannot compile [not-yet]";
    result = failure();
  });
  return result;
}

/// Erases casts between types, and views that all readers look through.
static void eraseUnused(kernel::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
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
    // Operations of dfg are not marked illegal: the conversion leaves those that it cannot lower,
    // and checkLowered reports them.
    target.markUnknownOpDynamicallyLegal([](Operation *op) -> std::optional<bool> {
      return isa_and_present<DfgDialect>(op->getDialect()) ? std::nullopt : std::optional(true);
    });
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      kernel::FuncOp function = convertSignature(kernel, types);
      if (failed(applyPartialConversion(function, target, frozen)) ||
          failed(checkLowered(function)))
        return signalPassFailure();
      eraseUnused(function);
    }
  }
};
} // namespace
