// What stages say to later ones in attributes of kernels, entries and launches. Modules that are
// read may hold anything there.

#include "compiler/pipeline/Pipeline.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

static LogicalResult verifyPlaces(dfg::LaunchOp launch, SymbolTable &symbols) {
  constexpr StringLiteral kPlaces = "tfc.places";
  Attribute attribute = launch->getAttr(kPlaces);
  if (!attribute)
    return success();
  auto places = dyn_cast<ArrayAttr>(attribute);
  if (!places || places.size() != launch->getNumResults())
    return failWith(launch, kPlaces);
  for (auto [place, type] : llvm::zip_equal(places, launch->getResultTypes()))
    if (!isPlaceFor(place, type, launch, symbols))
      return failWith(launch, kPlaces);
  return success();
}

LogicalResult tfc::verifyAnnotations(ModuleOp module) {
  for (auto kernel : module.getOps<func::FuncOp>())
    if (failed(verifyKernel(kernel)))
      return failure();
  for (auto entry : module.getOps<dfg::EntryOp>())
    if (failed(verifyNames(entry, entry.getArgAttrsAttr())) ||
        failed(verifyNames(entry, entry.getResAttrsAttr())) || failed(verifyLimits(entry)))
      return failure();
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](dfg::LaunchOp launch) {
    return failed(verifyPlaces(launch, symbols)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
