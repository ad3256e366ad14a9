// Measures the arithmetic of kernels and the memory that they access, for `tfc profile`.

#include "compiler/kernels/Passes.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Interfaces/CastInterfaces.h"

namespace tfc::kernels {
#define GEN_PASS_DEF_MEASUREWORK
#include "compiler/kernels/Passes.h.inc"
} // namespace tfc::kernels

using namespace mlir;
using namespace tfc;
using namespace tfc::kernels;

namespace {

/// Measures a kernel whose operations are generics and those of linalg_ext.
class WorkOfKernel {
public:
  explicit WorkOfKernel(kernel::FuncOp kernel)
      : kernel(kernel), shapes(kernel), zero(getAffineConstantExpr(0, kernel.getContext())),
        read(kernel.getNumTensors(), zero) {}

  void measure();
  /// Returns the work as `kernel.work` has it; null if it depends on more than the sizes.
  AffineMap toMap(AffineExpr flops);
  AffineExpr getFlops() const { return flops; }

private:
  void add(linalg::GenericOp op);
  void addRead(const Access &access, ArrayRef<AffineExpr> loops);
  AffineExpr bytesWritten(unsigned number, Value result);
  AffineExpr bytesOf(Value tensor, AffineExpr elements);

  kernel::FuncOp kernel;
  KernelShapes shapes;
  AffineExpr zero, flops = zero;
  SmallVector<AffineExpr> read; // bytes, by the kernel's tensors
};

} // namespace

/// Returns the arithmetic of an operation on elements; that on indices is not counted.
static int64_t flopsOf(Operation &op) {
  bool isArithmetic = op.getNumResults() == 1 && !isa<CastOpInterface>(op) &&
                      !llvm::any_of(op.getOperandTypes(), llvm::IsaPred<IndexType>);
  return isArithmetic ? costOf(&op) : 0;
}

/// Returns the smaller one of two sizes where both are known, else the first.
static AffineExpr smaller(AffineExpr size, AffineExpr other) {
  auto a = dyn_cast<AffineConstantExpr>(size), b = dyn_cast<AffineConstantExpr>(other);
  return a && b && b.getValue() < a.getValue() ? other : size;
}

static AffineExpr product(ArrayRef<AffineExpr> sizes, AffineExpr one) {
  return normalize(std::accumulate(sizes.begin(), sizes.end(), one,
                                   [](AffineExpr a, AffineExpr b) { return a * b; }));
}

AffineExpr WorkOfKernel::bytesOf(Value tensor, AffineExpr elements) {
  unsigned bits = cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
  return elements * std::max<int64_t>(1, bits / 8);
}

/// Elements that loops read several times count once. Those at positions that data decide count as
/// often as they are read, which is less than the whole tensor in a lookup of few rows. Without
/// loops, all elements are read.
void WorkOfKernel::addRead(const Access &access, ArrayRef<AffineExpr> loops) {
  auto argument = dyn_cast<BlockArgument>(access.tensor);
  if (!argument || argument.getOwner()->getParentOp() != kernel)
    return;
  llvm::SmallBitVector used(loops.size());
  bool isDataDependent = false;
  for (AffineExpr index : access.indices)
    index.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        used.set(dim.getPosition());
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      isDataDependent |= symbol && symbol.getPosition() >= shapes.numSizes();
    });
  if (isDataDependent)
    used.set();
  SmallVector<AffineExpr> sizes;
  for (unsigned loop : used.set_bits())
    sizes.push_back(loops[loop]);
  AffineExpr points = product(sizes, zero + 1), all = shapes.numElements(access.tensor);
  AffineExpr elements = isDataDependent ? smaller(points, all) : smaller(all, points);
  if (loops.empty())
    elements = all;
  AffineExpr &known = read[argument.getArgNumber() - kernel.getNumSizes()];
  AffineExpr bytes = bytesOf(access.tensor, elements);
  known = known == zero ? bytes : smaller(bytes, known) == bytes ? known : bytes;
}

void WorkOfKernel::add(linalg::GenericOp op) {
  int64_t cost = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    cost += flopsOf(inner);
  SmallVector<AffineExpr> loops = shapes.loopSizes(op);
  flops = flops + product(loops, zero + 1) * cost;
  auto isStage = [](Operation *) { return true; };
  for (const Access &access : footprintOf(op, isStage).reads)
    addRead(access, loops);
}

/// A scatter in place reads and writes as many elements as it has updates.
AffineExpr WorkOfKernel::bytesWritten(unsigned number, Value result) {
  AffineExpr bytes = bytesOf(result, shapes.numElements(result));
  auto scatter = result.getDefiningOp<linalg_ext::ScatterOp>();
  std::optional<unsigned> over = kernel.getInPlace(number);
  if (scatter && over) {
    bytes = smaller(bytesOf(result, shapes.numElements(scatter.getUpdates())), bytes);
    read[*over] = bytes;
  }
  return bytes;
}

void WorkOfKernel::measure() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      add(generic);
    } else if (isa_and_nonnull<linalg_ext::LinalgExtDialect>(op.getDialect())) {
      for (const Access &access : specialFootprint(&op, [](Operation *) { return true; }).reads)
        addRead(access, {});
    }
  }
}

AffineMap WorkOfKernel::toMap(AffineExpr arithmetic) {
  SmallVector<AffineExpr> written;
  for (auto [i, result] : llvm::enumerate(kernel.getBody().front().getTerminator()->getOperands()))
    written.push_back(bytesWritten(i, result));
  SmallVector<AffineExpr> work{arithmetic};
  llvm::append_range(work, read);
  llvm::append_range(work, written);
  for (AffineExpr &expr : work) {
    expr = normalize(expr);
    bool isKnown = true;
    expr.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      isKnown &= !symbol || symbol.getPosition() < shapes.numSizes();
    });
    if (!isKnown)
      return {};
  }
  return AffineMap::get(0, shapes.numSizes(), work, kernel.getContext());
}

namespace {

struct MeasureWorkPass : kernels::impl::MeasureWorkBase<MeasureWorkPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<kernel::FuncOp>()) {
      if (kernel.isExternal())
        continue;
      WorkOfKernel work(kernel);
      work.measure();
      AffineMapAttr before = kernel::workOf(kernel);
      if (AffineMap map = work.toMap(before ? before.getValue().getResult(0) : work.getFlops()))
        kernel::setWork(kernel, AffineMapAttr::get(map));
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
