// Common preparation of kernels before they are scheduled for any target.

#include "compiler/kernels/Prepare.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
namespace kernel = tfc::kernel;

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

/// Looks through casts between static and dynamic types of the same shape.
static Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
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

static LogicalResult verifyTypes(tfc::kernel::FuncOp kernel) {
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

LogicalResult tfc::kernels::prepareKernel(kernel::FuncOp kernel) {
  if (failed(verifyTypes(kernel)))
    return failure();
  IRRewriter rewriter(kernel.getContext());
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
    if (auto structured = dyn_cast<linalg::LinalgOp>(op);
        structured && !isa<linalg::GenericOp>(op)) {
      rewriter.setInsertionPoint(&op);
      if (failed(linalg::generalizeNamedOp(rewriter, structured)))
        return op.emitOpError("has no code generator [not-yet]");
    }
  Operation *terminator = kernel.getBody().front().getTerminator();
  rewriter.setInsertionPoint(terminator);
  SmallPtrSet<Value, 8> seen;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value value = withoutCasts(operand.get());
    Operation *op = value.getDefiningOp();
    bool computed =
        op && (isa<linalg::GenericOp>(op) || op->getDialect()->getNamespace() == "linalg_ext");
    if (!computed || !seen.insert(value).second)
      value = createCopy(rewriter, kernel.getLoc(), operand.get());
    operand.set(value);
  }
  return success();
}
