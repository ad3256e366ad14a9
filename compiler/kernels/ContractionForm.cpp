// Recognition of sums of products and of their linear accesses. Separate from the schedule, because
// the schedule and the emitters of products both need it.

#include "compiler/kernels/ContractionForm.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tfc::kernels {

std::optional<int64_t> constantOf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

AffineExpr ContractionForm::extentOf(ArrayRef<unsigned> loops) const {
  AffineExpr size = getAffineConstantExpr(1, loopSizes[n].getContext());
  for (unsigned loop : loops)
    size = size * loopSizes[loop];
  return size;
}

void splitCounter(ArrayRef<AffineExpr> sizes, ArrayRef<unsigned> loops, AffineExpr counter,
                  MutableArrayRef<AffineExpr> indices) {
  for (unsigned loop : llvm::reverse(loops.drop_front(loops.empty() ? 0 : 1))) {
    indices[loop] = counter % sizes[loop];
    counter = counter.floorDiv(sizes[loop]);
  }
  if (!loops.empty())
    indices[loops.front()] = counter;
}

void ContractionForm::split(ArrayRef<unsigned> loops, AffineExpr counter,
                            MutableArrayRef<AffineExpr> indices) const {
  splitCounter(loopSizes, loops, counter, indices);
}

SmallVector<AffineExpr> ContractionForm::point(ArrayRef<AffineExpr> fixed, AffineExpr mIndex,
                                               AffineExpr nIndex, AffineExpr kIndex) const {
  AffineExpr zero = getAffineConstantExpr(0, nIndex.getContext());
  SmallVector<AffineExpr> indices(fixed);
  for (AffineExpr &index : indices)
    index = index ? index : zero;
  split(m, mIndex, indices);
  split(k, kIndex, indices);
  indices[n] = nIndex;
  return indices;
}

llvm::BitVector loopsOf(linalg::GenericOp op, const ContractionFactor &factor) {
  llvm::BitVector loops(op.getNumLoops());
  for (unsigned input : factor.inputs)
    for (AffineExpr result : op.getMatchingIndexingMap(op.getDpsInputOperand(input)).getResults())
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (result.isFunctionOfDim(loop))
          loops.set(loop);
  return loops;
}

namespace {

bool isCast(Operation *op) {
  return isa_and_nonnull<CastOpInterface>(op) && op->getNumOperands() == 1;
}

/// Collects the inputs that `value` is computed from; fails if it is not an elementwise function of
/// inputs.
LogicalResult collectInputs(linalg::GenericOp op, Value value, SmallVectorImpl<unsigned> &inputs) {
  if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == op.getBody()) {
    if (arg.getArgNumber() >= op.getNumDpsInputs() ||
        !isa<RankedTensorType>(op->getOperand(arg.getArgNumber()).getType()))
      return failure();
    if (!llvm::is_contained(inputs, arg.getArgNumber()))
      inputs.push_back(arg.getArgNumber());
    return success();
  }
  Operation *def = value.getDefiningOp();
  if (!def)
    return failure();
  if (def->getBlock() != op.getBody())
    return success(def->hasTrait<OpTrait::ConstantLike>());
  if (isa<arith::ConstantOp>(def))
    return success();
  if (!OpTrait::hasElementwiseMappableTraits(def) || !isMemoryEffectFree(def))
    return failure();
  for (Value operand : def->getOperands())
    if (failed(collectInputs(op, operand, inputs)))
      return failure();
  return success();
}

/// Returns the multiplication whose result is added to the accumulator at the end of the body, or
/// null.
Operation *matchMultiplyAdd(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Value accumulator = op.getBody()->getArgument(op.getNumDpsInputs());
  Value sum = yield.getOperand(0);
  if (Operation *cast = sum.getDefiningOp(); isCast(cast)) {
    if (!isa<arith::TruncFOp, arith::TruncIOp>(cast))
      return nullptr;
    sum = cast->getOperand(0);
    auto extended = accumulator.hasOneUse() ? *accumulator.user_begin() : nullptr;
    if (!isCast(extended) || extended->getResult(0).getType() != sum.getType())
      return nullptr;
    accumulator = extended->getResult(0);
  }
  Operation *add = sum.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) || !accumulator.hasOneUse())
    return nullptr;
  unsigned position = add->getOperand(0) == accumulator ? 1 : 0;
  if (add->getOperand(1 - position) != accumulator)
    return nullptr;
  Operation *multiply = add->getOperand(position).getDefiningOp();
  return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply) ? multiply : nullptr;
}

/// Returns true if loops `first` and `second` index adjacent dimensions in each of the maps that
/// use them, so that one counter can replace both.
bool areNeighbours(ArrayRef<AffineMap> maps, unsigned first, unsigned second) {
  return llvm::all_of(maps, [&](AffineMap map) {
    if (!map.isFunctionOfDim(first) && !map.isFunctionOfDim(second))
      return true;
    for (unsigned i = 0; i + 1 < map.getNumResults(); ++i)
      if (map.getResult(i) == getAffineDimExpr(first, map.getContext()) &&
          map.getResult(i + 1) == getAffineDimExpr(second, map.getContext()))
        return true;
    return false;
  });
}

/// Keeps the innermost run of adjacent loops in `loops` and moves the others to `outer`.
void keepNeighbours(function_ref<bool(unsigned, unsigned)> areNeighbours,
                    SmallVectorImpl<unsigned> &loops, SmallVectorImpl<unsigned> &outer) {
  unsigned kept = loops.size();
  while (kept > 0 && (kept == loops.size() || areNeighbours(loops[kept - 1], loops[kept])))
    --kept;
  outer.append(loops.begin(), loops.begin() + kept);
  loops.erase(loops.begin(), loops.begin() + kept);
}

/// Returns the strides of a dense row-major operand along all loops, or std::nullopt if its
/// addresses are not linear.
std::optional<SmallVector<AffineExpr>> loopStrides(linalg::GenericOp op, KernelShapes &shapes,
                                                   OpOperand *operand) {
  AffineExpr address = getAffineConstantExpr(0, op.getContext());
  ArrayRef<AffineExpr> shape = shapes.shapeOf(operand->get());
  for (auto [index, size] : llvm::zip_equal(indicesOf(op, operand), shape))
    address = address * size + index;
  SmallVector<AffineExpr> strides(op.getNumLoops());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    auto dim = cast<AffineDimExpr>(getAffineDimExpr(loop, op.getContext()));
    AffineExpr rest;
    if (!Polynomial(normalize(address)).split(dim, strides[loop], rest))
      return std::nullopt;
    address = rest;
  }
  return strides;
}

/// Merges loops of m, and loops of k, that have one common stride in all operands, if both factors
/// are read from memory at linear addresses. Otherwise, merges loops of m that index adjacent
/// dimensions, and all loops of k, because the factors are then computed from the delinearized
/// counter.
void mergeLoops(linalg::GenericOp op, KernelShapes &shapes, ContractionForm &form,
                ArrayRef<AffineMap> maps) {
  SmallVector<SmallVector<AffineExpr>> strides;
  bool isLinear = true;
  auto addStrides = [&](OpOperand *operand) {
    std::optional<SmallVector<AffineExpr>> known = loopStrides(op, shapes, operand);
    isLinear &= known.has_value();
    strides.push_back(known.value_or(SmallVector<AffineExpr>()));
  };
  for (const ContractionFactor *factor : {&form.a, &form.b}) {
    OpOperand *operand = op.getDpsInputOperand(factor->inputs.front());
    addStrides(operand);
    // Arguments of the kernel are in memory; values computed by the kernel may be computed in
    // place.
    isLinear &= factor->inputs.size() == 1 && isa<BlockArgument>(operand->get());
  }
  addStrides(op.getDpsInitOperand(0));
  auto moveAsOne = [&](ArrayRef<unsigned> operands) {
    return [&, operands](unsigned first, unsigned second) {
      return llvm::all_of(operands, [&](unsigned i) {
        return strides[i][first] == normalize(strides[i][second] * form.loopSizes[second]);
      });
    };
  };
  auto neighbours = [&](unsigned first, unsigned second) {
    return areNeighbours(maps, first, second);
  };
  if (!isLinear)
    return keepNeighbours(neighbours, form.m, form.mOuter);
  keepNeighbours(moveAsOne({0, 2}), form.m, form.mOuter);
  keepNeighbours(moveAsOne({0, 1}), form.k, form.kOuter);
}

Type computeTypeOf(Type factorType) {
  if (auto floatType = dyn_cast<FloatType>(factorType))
    return floatType.getWidth() < 32 ? Float32Type::get(floatType.getContext()) : factorType;
  if (auto integer = dyn_cast<IntegerType>(factorType); integer && integer.getWidth() >= 8)
    return integer.getWidth() < 32 ? IntegerType::get(integer.getContext(), 32) : factorType;
  return nullptr;
}

/// Classifies the loops as n, m, k and outer loops; fails if no output loop is suitable
/// for lanes.
LogicalResult assignLoops(linalg::GenericOp op, KernelShapes &shapes, ContractionForm &form) {
  AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!outMap.isProjectedPermutation())
    return failure();
  SmallVector<unsigned> parallel;
  for (AffineExpr result : outMap.getResults())
    if (unsigned loop = cast<AffineDimExpr>(result).getPosition();
        constantOf(form.loopSizes[loop]) != 1)
      parallel.push_back(loop);
  if (parallel.empty())
    return failure();
  form.n = parallel.pop_back_val();

  llvm::BitVector inA = loopsOf(op, form.a), inB = loopsOf(op, form.b);
  if (inA[form.n] == inB[form.n])
    return failure();
  if (inA[form.n]) {
    std::swap(form.a, form.b);
    std::swap(inA, inB);
  }
  for (unsigned loop : parallel)
    (inA[loop] && !inB[loop] ? form.m : form.outer).push_back(loop);
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (type == utils::IteratorType::reduction && constantOf(form.loopSizes[loop]) != 1)
      form.k.push_back(loop);
    else if (type == utils::IteratorType::parallel && !outMap.isFunctionOfDim(loop))
      return failure();
  }

  SmallVector<AffineMap> maps{outMap};
  for (unsigned input : form.a.inputs)
    maps.push_back(op.getMatchingIndexingMap(op.getDpsInputOperand(input)));
  mergeLoops(op, shapes, form, maps);
  return success();
}

} // namespace

std::optional<ContractionForm> matchContraction(linalg::GenericOp op, KernelShapes &shapes) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Operation *multiply = matchMultiplyAdd(op);
  if (!multiply)
    return std::nullopt;
  ContractionForm form;
  form.a.root = multiply->getOperand(0);
  form.b.root = multiply->getOperand(1);
  form.factorType = multiply->getResult(0).getType();
  form.computeType = computeTypeOf(form.factorType);
  if (!form.computeType || failed(collectInputs(op, form.a.root, form.a.inputs)) ||
      failed(collectInputs(op, form.b.root, form.b.inputs)))
    return std::nullopt;
  form.loopSizes = shapes.loopSizes(op);
  if (failed(assignLoops(op, shapes, form)))
    return std::nullopt;
  return form;
}

/// Extracts the stride of `counter` from an address and leaves the rest in `address`; fails if the
/// stride is not loop-invariant.
static LogicalResult takeStride(AffineExpr &address, AffineDimExpr counter, AffineExpr &stride) {
  AffineExpr rest;
  if (!Polynomial(address).split(counter, stride, rest))
    return failure();
  bool varies = false;
  stride.walk([&](AffineExpr inner) { varies |= isa<AffineDimExpr>(inner); });
  address = rest;
  return failure(varies);
}

std::optional<LinearAccess> linearAccess(linalg::GenericOp op, const ContractionForm &form,
                                         bool isA, ArrayRef<AffineExpr> strides,
                                         ArrayRef<AffineExpr> fixed) {
  const ContractionFactor &factor = isA ? form.a : form.b;
  if (factor.inputs.size() != 1)
    return std::nullopt;
  OpOperand *input = op.getDpsInputOperand(factor.inputs.front());
  if (getElementTypeOrSelf(input->get().getType()).isInteger(1))
    return std::nullopt;
  // Placeholders for the counters, with numbers beyond those of the dims in outer indices.
  MLIRContext *context = op.getContext();
  auto counter = [&](unsigned i) {
    return cast<AffineDimExpr>(getAffineDimExpr((1u << 20) + i, context));
  };
  AffineDimExpr m = counter(0), n = counter(1), k = counter(2);
  SmallVector<AffineExpr> counters(fixed);
  for (auto [i, loop] : llvm::enumerate(form.kOuter))
    counters[loop] = counter(3 + i);
  SmallVector<AffineExpr> point = form.point(counters, m, n, k);
  AffineExpr address = getAffineConstantExpr(0, context);
  for (auto [result, stride] : llvm::zip_equal(indicesOf(op, input), strides))
    address = address + result.replaceDims(point) * stride;
  LinearAccess access;
  access.base = normalize(address);
  if (failed(takeStride(access.base, isA ? m : n, access.across)) ||
      failed(takeStride(access.base, k, access.k)))
    return std::nullopt;
  access.kOuter.resize(form.kOuter.size());
  for (unsigned i = 0; i < form.kOuter.size(); ++i)
    if (failed(takeStride(access.base, counter(3 + i), access.kOuter[i])))
      return std::nullopt;
  return access;
}

std::optional<LinearAccess> denseAccess(KernelShapes &shapes, linalg::GenericOp op,
                                        const ContractionForm &form, bool isA) {
  const ContractionFactor &factor = isA ? form.a : form.b;
  Value tensor = op.getDpsInputOperand(factor.inputs.front())->get();
  MLIRContext *context = op.getContext();
  ArrayRef<AffineExpr> shape = shapes.shapeOf(tensor);
  SmallVector<AffineExpr> strides(shape.size());
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (unsigned i = shape.size(); i-- > 0; stride = stride * shape[i])
    strides[i] = stride;
  SmallVector<AffineExpr> fixed(form.loopSizes.size());
  for (ArrayRef<unsigned> loops : {ArrayRef(form.outer), ArrayRef(form.mOuter)})
    for (unsigned loop : loops)
      fixed[loop] = getAffineDimExpr(loop, context);
  return linearAccess(op, form, isA, strides, fixed);
}

} // namespace tfc::kernels
