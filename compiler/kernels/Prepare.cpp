// Brings kernels into the form that the schedules of all targets expect.

#include "compiler/kernels/Prepare.h"
#include "compiler/kernels/Passes.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc::kernels {
#define GEN_PASS_DEF_PREPAREKERNELS
#include "compiler/kernels/Passes.h.inc"
} // namespace tfc::kernels

using namespace mlir;
using namespace tfc;

FailureOr<SmallVector<kernel::FuncOp>>
tfc::kernels::findKernels(ModuleOp module, function_ref<bool(kernel::TargetAttr)> wanted) {
  SmallVector<kernel::FuncOp> kernels;
  for (auto kernel : module.getOps<kernel::FuncOp>()) {
    if (kernel.isExternal())
      continue;
    kernel::TargetAttr target = kernel.getTargetDescription();
    if (!target)
      return kernel.emitOpError("expects its module to describe its target");
    if (wanted(target))
      kernels.push_back(kernel);
  }
  return kernels;
}

/// Creates a generic that copies `source`.
static Value createCopy(OpBuilder &b, Location loc, Value source) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(tensor::DimOp::create(b, loc, source, i));
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto body = [](OpBuilder &builder, Location at, ValueRange arguments) {
    linalg::YieldOp::create(builder, at, arguments.front());
  };
  return linalg::GenericOp::create(b, loc, type, source, empty, {identity, identity}, loops, body)
      .getResult(0);
}

/// Returns true if tensors of the type can be stored in memory.
static bool isStored(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  Type element = tensor.getElementType();
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
         llvm::any_of(ArrayRef<unsigned>{1, 8, 16, 32, 64},
                      [&](unsigned width) { return element.isSignlessInteger(width); });
}

static LogicalResult verifyTypes(kernel::FuncOp kernel) {
  ArrayRef<Type> tensors = kernel.getArgumentTypes().drop_front(kernel.getNumSizes());
  for (TypeRange types : {TypeRange(tensors), TypeRange(kernel.getResultTypes())})
    for (Type type : types)
      if (!isStored(type))
        return kernel.emitOpError("has no code generator for ") << type << " [not-yet]";
  WalkResult result = kernel.walk([](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (isa<ShapedType>(type) && !isStored(type))
        return op->emitOpError("has no code generator for ") << type << " [not-yet]";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Returns true if a kernel can return the value as it is: it has the result's type, and a
/// structured operation computes it.
static bool canBeReturned(Value value, Type result) {
  Operation *op = value.getDefiningOp();
  return op && value.getType() == result &&
         (isa<linalg::GenericOp>(op) ||
          isa_and_nonnull<linalg_ext::LinalgExtDialect>(op->getDialect()));
}

/// Turns named operations into generic ones.
static FailureOr<bool> generalize(kernel::FuncOp kernel, IRRewriter &rewriter) {
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured || isa<linalg::GenericOp>(op))
      continue;
    rewriter.setInsertionPoint(&op);
    changed = true;
    if (failed(linalg::generalizeNamedOp(rewriter, structured)))
      return op.emitOpError("has no code generator [not-yet]");
  }
  return changed;
}

/// Returns whether the kernel changed.
static FailureOr<bool> prepare(kernel::FuncOp kernel) {
  if (failed(verifyTypes(kernel)))
    return failure();
  IRRewriter rewriter(kernel.getContext());
  FailureOr<bool> changed = generalize(kernel, rewriter);
  if (failed(changed))
    return failure();
  Operation *terminator = kernel.getBody().front().getTerminator();
  rewriter.setInsertionPoint(terminator);
  SmallPtrSet<Value, 8> seen;
  for (auto [operand, type] :
       llvm::zip_equal(terminator->getOpOperands(), kernel.getResultTypes())) {
    if (canBeReturned(operand.get(), type) && seen.insert(operand.get()).second)
      continue;
    operand.set(createCopy(rewriter, kernel.getLoc(), operand.get()));
    changed = true;
  }
  return changed;
}

namespace {

struct PrepareKernelsPass : kernels::impl::PrepareKernelsBase<PrepareKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    bool changed = false;
    for (auto kernel : getOperation().getOps<kernel::FuncOp>()) {
      if (kernel.isExternal())
        continue;
      FailureOr<bool> changedKernel = prepare(kernel);
      if (failed(changedKernel))
        return signalPassFailure();
      changed |= *changedKernel;
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
