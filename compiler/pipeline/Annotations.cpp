// What stages say to later ones in attributes of kernels, entries and launches. Modules that are
// read may hold anything there.

#include "compiler/pipeline/Pipeline.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc;

static LogicalResult failWith(Operation *op, StringRef attribute) {
  return op->emitOpError("has an invalid attribute '") << attribute << "'";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Sizes of a tensor over the kernel's leading index arguments.
static bool isShapeOf(Attribute attribute, Type type, unsigned sizes) {
  auto map = dyn_cast<AffineMapAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return map && tensor && map.getValue().getNumDims() == 0 &&
         map.getValue().getNumSymbols() <= sizes &&
         map.getValue().getNumResults() == unsigned(tensor.getRank());
}

static bool isNumberBelow(Attribute attribute, int64_t end) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getValue().getSignificantBits() <= 64 && number.getInt() >= 0 &&
         number.getInt() < end;
}

static LogicalResult verifyKernel(func::FuncOp kernel) {
  unsigned sizes = 0;
  while (sizes < kernel.getNumArguments() && isa<IndexType>(kernel.getArgumentTypes()[sizes]))
    ++sizes;
  int64_t tensors = kernel.getNumArguments() - sizes;
  auto fail = [&](StringRef name) { return failWith(kernel, name); };
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (Attribute shape = kernel.getArgAttr(i, "tfc.shape"))
      if (!isShapeOf(shape, kernel.getArgumentTypes()[i], sizes))
        return fail("tfc.shape");
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    if (Attribute shape = kernel.getResultAttr(i, "tfc.shape"))
      if (!isShapeOf(shape, kernel.getResultTypes()[i], sizes))
        return fail("tfc.shape");
    if (Attribute operand = kernel.getResultAttr(i, "tfc.inplace"))
      if (!isNumberBelow(operand, tensors))
        return fail("tfc.inplace");
    if (Attribute operands = kernel.getResultAttr(i, "tfc.may_share")) {
      auto list = dyn_cast<ArrayAttr>(operands);
      if (!list || llvm::any_of(list, [&](Attribute a) { return !isNumberBelow(a, tensors); }))
        return fail("tfc.may_share");
    }
  }
  if (Attribute symbols = kernel->getAttr("tfc.symbols")) {
    auto list = dyn_cast<ArrayAttr>(symbols);
    if (!list || list.size() > sizes || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
      return fail("tfc.symbols");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The names of feeds, or of fetches, are different.
static LogicalResult verifyNames(dfg::EntryOp entry, ArrayAttr attributes) {
  constexpr StringLiteral kName = "dfg.name";
  llvm::StringSet<> names;
  for (Attribute dictionary : attributes ? attributes.getValue() : ArrayRef<Attribute>()) {
    Attribute attribute = cast<DictionaryAttr>(dictionary).get(kName);
    auto name = dyn_cast_or_null<StringAttr>(attribute);
    if (attribute && !name)
      return failWith(entry, kName);
    if (name && !names.insert(name.getValue()).second)
      return entry.emitOpError("has two feeds or two fetches of the name ") << name;
  }
  return success();
}

/// Limits are sizes that the entry can compute when it is called.
static LogicalResult verifyLimit(dfg::EntryOp entry, StringRef name) {
  Attribute attribute = entry->getAttr(name);
  if (!attribute)
    return success();
  auto limits = dyn_cast<dfg::DimsAttr>(attribute);
  if (!limits)
    return failWith(entry, name);
  llvm::StringSet<> known;
  if (ArrayAttr symbols = entry.getSymbolsAttr())
    for (StringRef symbol : symbols.getAsValueRange<StringAttr>())
      known.insert(symbol);
  for (const dfg::DimExpr &limit : limits.getExprs()) {
    SmallVector<std::string> used;
    limit.collectSymbols(used);
    if (dfg::isOverflow(limit) ||
        !llvm::all_of(used, [&](StringRef symbol) { return known.contains(symbol); }))
      return failWith(entry, name);
  }
  return success();
}

static LogicalResult verifyLimits(dfg::EntryOp entry) {
  if (failed(verifyLimit(entry, dfg::kMemoryLimit.attribute)))
    return failure();
  for (const dfg::SizeLimit &limit : dfg::kNumberLimits)
    if (failed(verifyLimit(entry, limit.attribute)))
      return failure();
  return success();
}

/// Others are verified where the entry returns.
static LogicalResult verifyEnd(dfg::EntryOp entry) {
  if (isa<dfg::ReturnOp>(entry.getBody().front().getTerminator()))
    return success();
  return entry.emitOpError("expects 'dfg.return' at its end");
}

/// At most one entry is the initializer; programs cannot call it.
static LogicalResult verifyInitializers(ModuleOp module) {
  dfg::EntryOp initializer;
  for (auto entry : module.getOps<dfg::EntryOp>()) {
    if (!entry.getInitializer())
      continue;
    if (initializer)
      return entry.emitOpError("expects to be the only initializer");
    if (!entry.getArgumentTypes().empty() || !entry.getResultTypes().empty())
      return entry.emitOpError("expects neither feeds nor fetches of an initializer");
    initializer = entry;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Whether values of one type fit into the memory of another.
static bool haveSameBytes(Type a, Type b) {
  auto first = dyn_cast<RankedTensorType>(a), second = dyn_cast<RankedTensorType>(b);
  return first && second && dfg::byteCount(first) == dfg::byteCount(second);
}

/// Whether `place` is memory for a value of the type: of the arena, of a variable, a fetch, an
/// operand, or a result of the operation around the launch.
static bool isPlaceFor(Attribute place, Type type, dfg::LaunchOp launch, SymbolTable &symbols) {
  if (isa<UnitAttr>(place))
    return true;
  if (auto name = dyn_cast<FlatSymbolRefAttr>(place)) {
    auto variable = symbols.lookup<dfg::VariableOp>(name.getValue());
    return variable && haveSameBytes(variable.getTensorType(), type);
  }
  auto dictionary = dyn_cast<DictionaryAttr>(place);
  if (!dictionary || dictionary.size() != 1)
    return false;
  NamedAttribute kind = *dictionary.begin();
  SmallVector<Type> types;
  if (kind.getName() == "operand")
    llvm::append_range(types, launch.getInputs().getTypes());
  else if (kind.getName() == "result")
    llvm::append_range(types, launch->getParentOp()->getResultTypes());
  else if (auto entry = launch->getParentOfType<dfg::EntryOp>(); kind.getName() == "fetch" && entry)
    llvm::append_range(types, entry.getResultTypes());
  return isNumberBelow(kind.getValue(), types.size()) &&
         haveSameBytes(types[cast<IntegerAttr>(kind.getValue()).getInt()], type);
}

/// Whether result `number` of the launch is in the memory that its kernel gives it: an operand of
/// its size.
static bool agreesWithKernel(dfg::LaunchOp launch, unsigned number, Attribute place,
                             func::FuncOp kernel) {
  auto inplace = kernel.getResultAttrOfType<IntegerAttr>(number, "tfc.inplace");
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(place);
  auto operand = dictionary ? dictionary.getAs<IntegerAttr>("operand") : IntegerAttr();
  if (!inplace)
    return !operand;
  return haveSameBytes(launch.getInputs()[inplace.getInt()].getType(),
                       launch.getOutputs()[number].getType()) &&
         (!operand || operand.getInt() == inplace.getInt());
}

static LogicalResult verifyInPlace(dfg::LaunchOp launch, ArrayAttr places, func::FuncOp kernel) {
  for (unsigned i = 0; i < launch->getNumResults(); ++i)
    if (!agreesWithKernel(launch, i, places ? places[i] : Attribute(), kernel))
      return launch.emitOpError("expects result ")
             << i << " in the memory that " << launch.getKernelAttr() << " gives it";
  return success();
}

static LogicalResult verifyPlaces(dfg::LaunchOp launch, SymbolTable &symbols) {
  constexpr StringLiteral kPlaces = "tfc.places";
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  Attribute attribute = launch->getAttr(kPlaces);
  if (!attribute)
    return kernel ? verifyInPlace(launch, {}, kernel) : success();
  auto places = dyn_cast<ArrayAttr>(attribute);
  if (!places || places.size() != launch->getNumResults())
    return failWith(launch, kPlaces);
  for (auto [place, type] : llvm::zip_equal(places, launch->getResultTypes()))
    if (!isPlaceFor(place, type, launch, symbols))
      return failWith(launch, kPlaces);
  return kernel ? verifyInPlace(launch, places, kernel) : success();
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

static bool isNumber(Attribute attribute, int64_t least, unsigned bits) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(bits) && number.getInt() >= least;
}

/// A size over the sizes that a generated kernel takes first.
static bool isSizeOfCode(Operation *op, Attribute attribute) {
  auto code = dyn_cast<LLVM::LLVMFuncOp>(op);
  auto map = dyn_cast<AffineMapAttr>(attribute);
  if (!code || !map || map.getValue().getNumDims() || map.getValue().getNumResults() != 1)
    return false;
  ArrayRef<Type> types = code.getArgumentTypes();
  auto isSize = [](Type type) { return type.isInteger(64); };
  size_t sizeCount = llvm::find_if_not(types, isSize) - types.begin();
  SmallVector<dfg::DimExpr> sizes;
  for (size_t i = 0; i < sizeCount; ++i)
    sizes.push_back(dfg::DimExpr::symbol("s" + std::to_string(i)));
  std::optional<dfg::DimExpr> size = dfg::sizeInLaunch(map.getValue().getResult(0), sizes);
  return size && dfg::isNonNegative(*size) != false;
}

static bool isGrain(Operation *op, Attribute attribute) {
  return isa<LLVM::LLVMFuncOp>(op) && isNumber(attribute, 1, 64);
}

/// Carried tensors.
static bool areSingleBuffers(Operation *op, Attribute attribute) {
  auto carried = dyn_cast<DenseI64ArrayAttr>(attribute);
  return isa<dfg::WhileOp>(op) && carried && llvm::all_of(carried.asArrayRef(), [&](int64_t i) {
           return i >= 0 && i < op->getNumResults() &&
                  isa<RankedTensorType>(op->getResultTypes()[i]);
         });
}

static bool isInRegister(Operation *op, Attribute attribute) {
  return isa<UnitAttr>(attribute) && isa<dfg::ScalarOpInterface>(op) &&
         llvm::all_of(op->getOperandTypes(), dfg::isRegisterType) &&
         llvm::all_of(op->getResultTypes(), dfg::isRegisterType);
}

static bool isProbe(Operation *op, Attribute attribute) {
  if (isa<ModuleOp>(op))
    return isNumber(attribute, INT64_MIN, 64);
  auto module = op->getParentOfType<ModuleOp>();
  return isa<dfg::PushOp>(op) && isNumber(attribute, 0, 64) && module->hasAttr(dfg::kProbeAttr) &&
         op->getAttrOfType<StringAttr>("tfc.op");
}

static bool areWeights(Operation *op, Attribute attribute) {
  auto weights = dyn_cast<ArrayAttr>(attribute);
  return isa<ModuleOp>(op) && weights && llvm::all_of(weights, [](Attribute weight) {
           return isa<DenseElementsAttr, DenseResourceElementsAttr>(weight) &&
                  dfg::isDtype(cast<ElementsAttr>(weight).getElementType());
         });
}

static bool isChunkCount(Operation *op, Attribute attribute) {
  constexpr int64_t kMost = 1 << 20;
  return isa<ModuleOp>(op) && isNumber(attribute, 0, 32) && isNumberBelow(attribute, kMost + 1);
}

/// An attribute, and whether an operation may have it with that value.
struct Annotation {
  StringLiteral name;
  bool (*isValid)(Operation *op, Attribute attribute);
};

static constexpr Annotation kAnnotations[] = {
    {"tfc.extent", isSizeOfCode},     {"tfc.scratch", isSizeOfCode},  {"tfc.grain", isGrain},
    {"tfc.single", areSingleBuffers}, {"tfc.register", isInRegister}, {dfg::kProbeAttr, isProbe},
    {"tfc.weights", areWeights},      {"tfc.chunks", isChunkCount},
};

static bool hasData(DenseResourceElementsAttr resource) {
  auto type = dyn_cast<RankedTensorType>(resource.getType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  std::optional<int64_t> bytes = type ? dfg::byteCount(type).constant() : std::nullopt;
  return blob && bytes && blob->getData().size() == uint64_t(*bytes);
}

/// Data of constants and weights that stand outside of the operations.
static LogicalResult verifyData(Operation *op) {
  SmallVector<Attribute> values;
  if (auto constant = dyn_cast<dfg::ConstantOp>(op))
    values.push_back(constant.getValue());
  if (auto weights = op->getAttrOfType<ArrayAttr>("tfc.weights"))
    llvm::append_range(values, weights);
  for (Attribute value : values)
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value); resource && !hasData(resource))
      return op->emitOpError("expects the data of ") << resource.getType() << " in a resource";
  return success();
}

static LogicalResult verifyOther(Operation *op) {
  if (failed(verifyData(op)))
    return failure();
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    for (const Annotation &annotation : kAnnotations)
      if (attribute.getName() == annotation.name && !annotation.isValid(op, attribute.getValue()))
        return failWith(op, annotation.name);
  return success();
}

/// Code generation replaces entries, which describe the model, by functions.
static LogicalResult verifyEntriesExist(ModuleOp module) {
  if (!module.getOps<dfg::EntryOp>().empty())
    return success();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.getName().starts_with("tfc_entry_"))
      return function.emitError("the entries of this module are code already and cannot be called; "
                                "expected what an earlier stage than 'codegen' left");
  return success();
}

LogicalResult tfc::verifyAnnotations(ModuleOp module) {
  if (failed(verifyEntriesExist(module)))
    return failure();
  for (auto kernel : module.getOps<func::FuncOp>())
    if (failed(verifyKernel(kernel)))
      return failure();
  for (auto entry : module.getOps<dfg::EntryOp>())
    if (failed(verifyNames(entry, entry.getArgAttrsAttr())) ||
        failed(verifyNames(entry, entry.getResAttrsAttr())) || failed(verifyLimits(entry)) ||
        failed(verifyEnd(entry)))
      return failure();
  if (failed(verifyInitializers(module)))
    return failure();
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](Operation *op) {
    auto launch = dyn_cast<dfg::LaunchOp>(op);
    bool isWrong = failed(verifyOther(op)) || (launch && failed(verifyPlaces(launch, symbols)));
    return isWrong ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
