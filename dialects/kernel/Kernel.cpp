//===- Kernel.cpp - Kernels in linalg form and their code -----------------===//
//
// Implements the function that holds a kernel in linalg form, and verifies the attributes with the
// targets, shapes and ABI of kernels. Stages agree on kernels through these, since no stage
// includes another one's headers.
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace tfc::kernel;

static constexpr llvm::StringLiteral kTargets = "kernel.targets", kAbi = "kernel.abi",
                                     kWork = "kernel.work", kShape = "kernel.shape",
                                     kMayShare = "kernel.may_share", kInPlace = "kernel.in_place",
                                     kConstant = "kernel.constant", kPacking = "kernel.packing",
                                     kFromLibrary = "kernel.from_library",
                                     kSchedule = "kernel.schedule";

#include "dialects/kernel/KernelDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/Kernel.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// PackingAttr
//===----------------------------------------------------------------------===//

LogicalResult PackingAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t columns,
                                  ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                                  int64_t group) {
  if (columns < 1 || sizes.empty() || sizes.size() != strides.size())
    return emitError() << "expected columns, and a stride for each of the sizes";
  if (group < 1 || (group > 1 && sizes.size() < 2))
    return emitError() << "expected a group of steps";
  // The strides must be those of a row-major tensor in some order of its dimensions.
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [size, stride] : llvm::zip(sizes, strides))
    if (size != 1)
      dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t expected = 1;
  for (auto [stride, size] : dims) {
    if (size < 1 || stride != expected || llvm::MulOverflow(expected, size, expected))
      return emitError() << "expected the strides of a dense tensor";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef, StringRef,
                                 StringRef, StringRef, int64_t l1, int64_t l2, UnitAttr,
                                 Type factors) {
  constexpr int64_t kLeast = 4096;
  if (l1 < kLeast || l2 < kLeast)
    return emitError() << "expected caches of at least " << kLeast << " bytes";
  if (factors && !factors.isTF32() && !factors.isBF16())
    return emitError() << "expected tf32 or bf16 for factors, but got " << factors;
  return success();
}

bool TargetAttr::isGpu() const { return llvm::Triple(getTriple()).isGPU(); }

void tfc::kernel::setTargets(ModuleOp module, DictionaryAttr targets) {
  module->setAttr(kTargets, targets);
}

DictionaryAttr tfc::kernel::getTargets(ModuleOp module) {
  return module->getAttrOfType<DictionaryAttr>(kTargets);
}

static LogicalResult verifyTargets(Operation *op, Attribute attribute) {
  auto targets = dyn_cast<DictionaryAttr>(attribute);
  auto isTarget = [](NamedAttribute target) { return isa<TargetAttr>(target.getValue()); };
  if (isa<ModuleOp>(op) && targets && llvm::all_of(targets, isTarget))
    return success();
  return op->emitOpError("expects '")
         << kTargets << "' to describe each target of a module by a '#kernel.target'";
}

/// Returns the description of a target, `kDefaultTarget` if it has no name; null if the module that
/// contains `op` has none.
static TargetAttr describeTarget(Operation *op, StringAttr name) {
  auto module = op->getParentOfType<ModuleOp>();
  DictionaryAttr targets = module ? getTargets(module) : DictionaryAttr();
  return targets ? targets.getAs<TargetAttr>(name ? name.getValue() : StringRef(kDefaultTarget))
                 : TargetAttr();
}

TargetAttr FuncOp::getTargetDescription() { return describeTarget(*this, getTargetAttr()); }

//===----------------------------------------------------------------------===//
// AbiAttr
//===----------------------------------------------------------------------===//

/// Returns true if the expression divides by a constant that is not positive.
static bool hasInvalidDivision(AffineExpr expr) {
  return expr
      .walk([](AffineExpr part) {
        bool divides = llvm::is_contained(
            {AffineExprKind::Mod, AffineExprKind::FloorDiv, AffineExprKind::CeilDiv},
            part.getKind());
        auto divisor = divides ? cast<AffineBinaryOpExpr>(part).getRHS() : AffineExpr();
        auto constant = dyn_cast_or_null<AffineConstantExpr>(divisor);
        return constant && constant.getValue() <= 0 ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if the map has a single result, which is not always negative.
static bool isCount(AffineMap map) {
  if (map.getNumDims() != 0 || map.getNumResults() != 1 || hasInvalidDivision(map.getResult(0)))
    return false;
  SmallVector<std::optional<int64_t>> least(map.getNumSymbols(), 0), most(map.getNumSymbols());
  std::optional<int64_t> bound =
      getBoundForAffineExpr(map.getResult(0), 0, map.getNumSymbols(), least, most, true);
  return bound.value_or(0) >= 0;
}

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                               AffineMapAttr threads, int64_t block) {
  constexpr int64_t kWarp = 32, kMost = 1024;
  auto isValid = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; };
  if (name.empty() || llvm::isDigit(name.getValue().front()) || !llvm::all_of(name, isValid))
    return emitError() << "expected a name of letters, digits, '_' and '$', but got " << name;
  if (!isCount(threads.getValue()))
    return emitError() << "expected threads over the sizes of a kernel, but got " << threads;
  if (block < kWarp || block > kMost || block % kWarp != 0)
    return emitError() << "expected a multiple of " << kWarp << " up to " << kMost
                       << " threads in a block, but got " << block;
  return success();
}

LogicalResult BinaryAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t capability,
                                 StringAttr code) {
  if (capability < 10)
    return emitError() << "expected a compute capability in tenths, but got " << capability;
  if (code.empty())
    return emitError() << "expected code for compute capability " << capability;
  return success();
}

LogicalResult AbiAttr::verify(function_ref<InFlightDiagnostic()> emitError, AffineMapAttr extent,
                              int64_t grain, AffineMapAttr scratch, StringAttr,
                              ArrayRef<GridAttr>) {
  if (!isCount(extent.getValue()))
    return emitError() << "expected an extent over the sizes of a kernel, but got " << extent;
  if (grain < 1)
    return emitError() << "expected a positive grain, but got " << grain;
  if (!isCount(scratch.getValue()))
    return emitError() << "expected scratch memory over the sizes of a kernel, but got " << scratch;
  return success();
}

AbiAttr tfc::kernel::abiOf(Operation *function) { return function->getAttrOfType<AbiAttr>(kAbi); }

SmallVector<GridAttr> tfc::kernel::gridsOf(ModuleOp module) {
  SmallVector<GridAttr> grids;
  for (Operation &op : *module.getBody())
    if (AbiAttr abi = abiOf(&op))
      llvm::append_range(grids, abi.getGrids());
  return grids;
}

TargetAttr tfc::kernel::targetOf(Operation *code) {
  return describeTarget(code, abiOf(code).getTarget());
}

void tfc::kernel::setAbi(Operation *function, AbiAttr abi) { function->setAttr(kAbi, abi); }

AffineMapAttr tfc::kernel::workOf(Operation *kernel) {
  return kernel->getAttrOfType<AffineMapAttr>(kWork);
}

void tfc::kernel::setWork(Operation *kernel, AffineMapAttr work) { kernel->setAttr(kWork, work); }

NamedSchedule tfc::kernel::scheduleOf(Operation *kernel) {
  auto named = kernel->getAttrOfType<DictionaryAttr>(kSchedule);
  if (!named)
    return {};
  return {named.getAs<StringAttr>("way"), named.getAs<StringAttr>("hash"),
          named.getAs<IntegerAttr>("count").getInt()};
}

void tfc::kernel::setSchedule(Operation *kernel, const NamedSchedule &schedule) {
  Builder b(kernel->getContext());
  kernel->setAttr(kSchedule, b.getDictionaryAttr(
                                 {b.getNamedAttr("way", b.getStringAttr(schedule.way)),
                                  b.getNamedAttr("hash", b.getStringAttr(schedule.hash)),
                                  b.getNamedAttr("count", b.getI64IntegerAttr(schedule.count))}));
}

static LogicalResult verifySchedule(Operation *op, Attribute attribute) {
  auto named = dyn_cast<DictionaryAttr>(attribute);
  auto count = named ? named.getAs<IntegerAttr>("count") : IntegerAttr();
  if (isa<FuncOp>(op) && count && count.getType().isInteger(64) && named.size() == 3 &&
      named.getAs<StringAttr>("way") && named.getAs<StringAttr>("hash"))
    return success();
  return op->emitOpError("expects 'way', 'hash' and 'count' of a kernel in '")
         << kSchedule << "', but got " << attribute;
}

static LogicalResult verifyWork(Operation *op, Attribute attribute) {
  auto map = dyn_cast<AffineMapAttr>(attribute);
  auto kernel = dyn_cast<FuncOp>(op);
  bool isValid = map && map.getValue().getNumDims() == 0 && (kernel || isa<LLVM::LLVMFuncOp>(op));
  if (isValid && kernel)
    isValid = map.getValue().getNumSymbols() <= kernel.getNumSizes() &&
              map.getValue().getNumResults() == 1 + kernel.getNumTensors() + kernel.getNumResults();
  if (isValid)
    return success();
  return op->emitOpError("expects the arithmetic of a kernel and the bytes of its tensors in '")
         << kWork << "', but got " << attribute;
}

/// Generated code takes its sizes first, as 64-bit integers.
static LogicalResult verifyAbi(Operation *op, Attribute attribute) {
  auto code = dyn_cast<LLVM::LLVMFuncOp>(op);
  auto abi = dyn_cast<AbiAttr>(attribute);
  if (!code || !abi)
    return op->emitOpError("expects '") << kAbi << "' to be the '#kernel.abi' of an 'llvm.func'";
  if (StringAttr target = abi.getTarget(); target && !describeTarget(op, target))
    return op->emitOpError("expects the name of a target of the module, but got ") << target;
  ArrayRef<Type> types = code.getArgumentTypes();
  auto isSize = [](Type type) { return type.isInteger(64); };
  unsigned sizes = llvm::find_if_not(types, isSize) - types.begin();
  SmallVector<AffineMapAttr> maps{abi.getExtent(), abi.getScratch()};
  for (GridAttr grid : abi.getGrids())
    maps.push_back(grid.getThreads());
  if (!abi.getGrids().empty() && !code.isExternal())
    return op->emitOpError("expects no body, because the code of its grids is in an image");
  for (AffineMapAttr map : maps)
    if (map.getValue().getNumSymbols() > sizes)
      return op->emitOpError("expects ") << map << " to depend on its " << sizes << " sizes alone";
  return success();
}

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == kTargets)
    return verifyTargets(op, attribute.getValue());
  if (attribute.getName() == kAbi)
    return verifyAbi(op, attribute.getValue());
  if (attribute.getName() == kWork)
    return verifyWork(op, attribute.getValue());
  if (attribute.getName() == kSchedule)
    return verifySchedule(op, attribute.getValue());
  if (attribute.getName() == kFromLibrary && isa<UnitAttr>(attribute.getValue()))
    return success();
  return op->emitOpError("has an unknown attribute ") << attribute.getName();
}

void tfc::kernel::setFromLibrary(Operation *op) {
  op->setAttr(kFromLibrary, UnitAttr::get(op->getContext()));
}

bool tfc::kernel::isFromLibrary(Operation *op) { return op->hasAttr(kFromLibrary); }

//===----------------------------------------------------------------------===//
// Attributes of arguments and results
//===----------------------------------------------------------------------===//

static LogicalResult verifyShape(FuncOp kernel, Attribute attribute, Type type) {
  auto map = dyn_cast<AffineMapAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (map && tensor && map.getValue().getNumDims() == 0 &&
      map.getValue().getNumSymbols() <= kernel.getNumSizes() &&
      map.getValue().getNumResults() == unsigned(tensor.getRank()))
    return success();
  return kernel.emitOpError("expects the sizes of ")
         << type << " over its " << kernel.getNumSizes() << " sizes, but got " << attribute;
}

static LogicalResult verifyTensors(FuncOp kernel, ArrayRef<int64_t> tensors) {
  for (int64_t tensor : tensors)
    if (tensor < 0 || tensor >= kernel.getNumTensors())
      return kernel.emitOpError("shares memory with tensor argument ")
             << tensor << ", but has " << kernel.getNumTensors();
  return success();
}

static LogicalResult verifyPacking(FuncOp kernel, PackingAttr packing, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t count = 1;
  for (int64_t size : packing.getSizes())
    count *= size;
  if (tensor && tensor.hasStaticShape() && tensor.getNumElements() == count)
    return success();
  return kernel.emitOpError("has a packing of ") << count << " elements for " << type;
}

LogicalResult KernelDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                      NamedAttribute attribute) {
  auto kernel = dyn_cast<FuncOp>(op);
  StringAttr name = attribute.getName();
  if (kernel && name == kShape)
    return verifyShape(kernel, attribute.getValue(), kernel.getArgumentTypes()[argument]);
  if (kernel && name == kConstant && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (kernel && name == kPacking && kernel.getArgAttr(argument, kConstant))
    if (auto packing = dyn_cast<PackingAttr>(attribute.getValue()))
      return verifyPacking(kernel, packing, kernel.getArgumentTypes()[argument]);
  return op->emitOpError("has an argument with the unknown attribute ") << attribute.getName();
}

LogicalResult KernelDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                         NamedAttribute attribute) {
  auto kernel = dyn_cast<FuncOp>(op);
  StringAttr name = attribute.getName();
  Attribute value = attribute.getValue();
  if (kernel && name == kShape)
    return verifyShape(kernel, value, kernel.getResultTypes()[result]);
  if (kernel && name == kMayShare)
    if (auto tensors = dyn_cast<DenseI32ArrayAttr>(value))
      return verifyTensors(kernel, SmallVector<int64_t>(tensors.asArrayRef()));
  if (kernel && name == kInPlace)
    if (auto tensor = dyn_cast<IntegerAttr>(value); tensor && tensor.getType().isInteger(32))
      return verifyTensors(kernel, tensor.getInt());
  return op->emitOpError("has a result with the invalid attribute ") << name << " = " << value;
}

NamedAttribute tfc::kernel::shapeAttr(AffineMap shape) {
  return {StringAttr::get(shape.getContext(), kShape), AffineMapAttr::get(shape)};
}

AffineMapAttr FuncOp::getArgShape(unsigned argument) {
  return getArgAttrOfType<AffineMapAttr>(argument, kShape);
}

AffineMapAttr FuncOp::getResultShape(unsigned result) {
  return getResultAttrOfType<AffineMapAttr>(result, kShape);
}

bool FuncOp::isConstant(unsigned tensor) {
  return getArgAttr(getNumSizes() + tensor, kConstant) != nullptr;
}

void FuncOp::setConstant(unsigned tensor) {
  setArgAttr(getNumSizes() + tensor, kConstant, UnitAttr::get(getContext()));
}

PackingAttr FuncOp::getPacking(unsigned tensor) {
  return getArgAttrOfType<PackingAttr>(getNumSizes() + tensor, kPacking);
}

void FuncOp::setPacking(unsigned tensor, PackingAttr packing) {
  setArgAttr(getNumSizes() + tensor, kPacking, packing);
}

bool FuncOp::mayShare(unsigned result, unsigned tensor) {
  auto tensors = getResultAttrOfType<DenseI32ArrayAttr>(result, kMayShare);
  return tensors && llvm::is_contained(tensors.asArrayRef(), int32_t(tensor));
}

void FuncOp::setMayShare(unsigned result, ArrayRef<int32_t> tensors) {
  setResultAttr(result, kMayShare, DenseI32ArrayAttr::get(getContext(), tensors));
}

std::optional<unsigned> FuncOp::getInPlace(unsigned result) {
  if (auto tensor = getResultAttrOfType<IntegerAttr>(result, kInPlace))
    return tensor.getInt();
  return std::nullopt;
}

void FuncOp::setInPlace(unsigned result, unsigned tensor) {
  setResultAttr(result, kInPlace, Builder(getContext()).getI32IntegerAttr(tensor));
}

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &b, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), b.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Block &block = state.addRegion()->emplaceBlock();
  for (Type input : type.getInputs())
    block.addArgument(input, state.location);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &b, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return b.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

unsigned FuncOp::getNumSizes() {
  ArrayRef<Type> types = getArgumentTypes();
  return llvm::find_if_not(types, llvm::IsaPred<IndexType>) - types.begin();
}

LogicalResult FuncOp::verify() {
  for (TypeRange types :
       {TypeRange(getArgumentTypes().drop_front(getNumSizes())), TypeRange(getResultTypes())})
    for (Type type : types)
      if (!isa<RankedTensorType>(type))
        return emitOpError("expects sizes, then tensors, but got ") << type;
  if (ArrayAttr symbols = getSymbolsAttr(); symbols && symbols.size() != getNumSizes())
    return emitOpError("expects a symbol for each of its ") << getNumSizes() << " sizes";
  llvm::SmallDenseSet<unsigned> overwritten;
  for (unsigned result = 0; result < getNumResults(); ++result)
    if (std::optional<unsigned> tensor = getInPlace(result);
        tensor && !overwritten.insert(*tensor).second)
      return emitOpError("writes two results over tensor argument ") << *tensor;
  if (isExternal())
    return success();
  auto end = dyn_cast<ReturnOp>(getBody().front().back());
  if (!end)
    return emitOpError("expects to end with 'kernel.return'");
  if (end.getOperandTypes() != TypeRange(getResultTypes()))
    return end.emitOpError("expects values of the types ")
           << getResultTypes() << ", but got " << end.getOperandTypes();
  return success();
}

//===----------------------------------------------------------------------===//
// ImageOp
//===----------------------------------------------------------------------===//

LogicalResult ImageOp::verify() {
  if (!isa_and_nonnull<ModuleOp>((*this)->getParentOp()))
    return emitOpError("expects to be in a module");
  if (!describeTarget(*this, getTargetAttr()))
    return emitOpError("expects the name of a target of the module, but got ") << getTargetAttr();
  for (auto other : (*this)->getParentOfType<ModuleOp>().getOps<ImageOp>())
    if (other != *this && other.getTarget() == getTarget())
      return emitOpError("expects to be the only image for ") << getTargetAttr();
  llvm::SmallDenseSet<int64_t> known;
  for (BinaryAttr binary : getKnownBinaries())
    if (!known.insert(binary.getCapability()).second)
      return emitOpError("expects one binary for compute capability ") << binary.getCapability();
  return success();
}
