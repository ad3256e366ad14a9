//===- StructureOps.cpp - Entries, gradients, kernels ---------------------===//

#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tfc::dfg;

//===----------------------------------------------------------------------===//
// EntryOp, KernelOp
//===----------------------------------------------------------------------===//

template <typename Op>
static void buildFunction(OpBuilder &b, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), b.getStringAttr(name));
  state.addAttribute(Op::getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  for (Type input : type.getInputs())
    block.addArgument(input, state.location);
}

template <typename Op>
static ParseResult parseFunction(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &b, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return b.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, Op::getFunctionTypeAttrName(result.name), buildType,
      Op::getArgAttrsAttrName(result.name), Op::getResAttrsAttrName(result.name));
}

template <typename Op> static void printFunction(OpAsmPrinter &printer, Op op) {
  function_interface_impl::printFunctionOp(printer, op, /*isVariadic=*/false,
                                           op.getFunctionTypeAttrName(), op.getArgAttrsAttrName(),
                                           op.getResAttrsAttrName());
}

void EntryOp::build(OpBuilder &b, OperationState &state, StringRef name, FunctionType type) {
  buildFunction<EntryOp>(b, state, name, type);
}
ParseResult EntryOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<EntryOp>(parser, result);
}
void EntryOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

void KernelOp::build(OpBuilder &b, OperationState &state, StringRef name, FunctionType type) {
  buildFunction<KernelOp>(b, state, name, type);
}
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<KernelOp>(parser, result);
}
void KernelOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

/// What a type of a kernel is in a launch that gives its named sizes; null if it names others, or
/// is no type of a tensor.
static RankedTensorType typeInLaunch(Type type, LaunchOp launch, ArrayAttr symbols) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape())
    return tensor;
  SmallVector<DimExpr> sizes = launch.getSizes().getExprs();
  auto lookup = [&](StringRef name) -> std::optional<DimExpr> {
    for (auto [i, symbol] : llvm::enumerate(symbols.getAsValueRange<StringAttr>()))
      if (symbol == name)
        return sizes[i];
    return std::nullopt;
  };
  Shape shape = shapeOf(tensor);
  for (DimExpr &size : shape) {
    std::optional<DimExpr> given = size.substitute(lookup);
    if (!given)
      return {};
    size = *given;
  }
  return tensorOf(shape, tensor.getElementType());
}

/// Fails if operands or results of the launch are not what the kernel takes or gives: its code
/// relies on their sizes.
static LogicalResult verifyTypesInLaunch(LaunchOp launch, StringRef what, TypeRange types,
                                         TypeRange kernelTypes, ArrayAttr symbols) {
  for (auto [i, type, kernelType] : llvm::enumerate(types, kernelTypes)) {
    Type expected = typeInLaunch(kernelType, launch, symbols);
    if (!expected || elementTypeOf(expected) != elementTypeOf(type) ||
        shapeOf(expected) != shapeOf(type))
      return launch.emitOpError("expects ")
             << (expected ? expected : kernelType) << " as " << what << " " << i << " of "
             << launch.getKernelAttr() << ", but got " << type;
  }
  return success();
}

static LogicalResult verifyCounts(LaunchOp launch, size_t operands, size_t results, size_t sizes) {
  if (operands != launch.getInputs().size() || results != launch.getOutputs().size())
    return launch.emitOpError("expects the operands and results of kernel ")
           << launch.getKernelAttr();
  if (launch.getSizes().getSizes().size() != sizes)
    return launch.emitOpError("expects ") << sizes << " sizes";
  return success();
}

static LogicalResult verifyLaunch(LaunchOp launch, KernelOp kernel) {
  ArrayAttr names =
      kernel.getSymbols() ? kernel.getSymbolsAttr() : ArrayAttr::get(launch.getContext(), {});
  if (failed(verifyCounts(launch, kernel.getArgumentTypes().size(), kernel.getResultTypes().size(),
                          names.size())) ||
      failed(verifyTypesInLaunch(launch, "operand", launch.getInputs().getTypes(),
                                 kernel.getArgumentTypes(), names)))
    return failure();
  return verifyTypesInLaunch(launch, "result", launch.getOutputs().getTypes(),
                             kernel.getResultTypes(), names);
}

//===--- lowered kernels ---------------------------------------------------===//

/// Whether the sizes are equal for some choices of what they mention: affine expressions have
/// another canonical form, so that what is equal may look different.
static bool haveSameValues(const DimExpr &lhs, const DimExpr &rhs) {
  if (lhs == rhs)
    return true;
  constexpr uint64_t kChoices = 8, kMost = 1000;
  for (uint64_t choice = 0; choice < kChoices; ++choice) {
    auto value = [&](StringRef name) -> std::optional<int64_t> {
      return llvm::xxh3_64bits((name + Twine(choice)).str()) % kMost + 1;
    };
    std::optional<int64_t> size = lhs.evaluate(value);
    if (!size || size != rhs.evaluate(value))
      return false;
  }
  return true;
}

/// Whether a tensor of the launch is what the function takes or returns as `type`, whose dynamic
/// sizes `shape` tells where it is there.
static bool matches(Type type, Attribute shape, RankedTensorType given, ArrayRef<DimExpr> sizes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto toSignless = [](Type element) -> Type {
    auto integer = dyn_cast<IntegerType>(element);
    return integer ? IntegerType::get(element.getContext(), integer.getWidth()) : element;
  };
  if (!tensor || tensor.getRank() != given.getRank() ||
      toSignless(tensor.getElementType()) != toSignless(given.getElementType()))
    return false;
  auto map = dyn_cast_or_null<AffineMapAttr>(shape);
  if (map && map.getValue().getNumResults() != tensor.getRank())
    return false;
  for (auto [axis, size] : llvm::enumerate(shapeOf(given))) {
    std::optional<DimExpr> expected;
    if (!tensor.isDynamicDim(axis))
      expected = DimExpr(tensor.getDimSize(axis));
    else if (map)
      expected = sizeInLaunch(map.getValue().getResult(axis), sizes);
    else
      continue;
    if (!expected || !haveSameValues(*expected, size))
      return false;
  }
  return true;
}

/// The same for a kernel that lowering made a function: sizes are its first arguments, and
/// `tfc.shape` has the sizes of tensors.
static LogicalResult verifyLaunch(LaunchOp launch, FunctionOpInterface function) {
  constexpr StringLiteral kShape = "tfc.shape";
  ArrayRef<Type> arguments = function.getArgumentTypes();
  SmallVector<DimExpr> sizes = launch.getSizes().getExprs();
  size_t sizeCount = llvm::find_if_not(arguments, llvm::IsaPred<IndexType>) - arguments.begin();
  if (failed(
          verifyCounts(launch, arguments.size() - sizeCount, function.getNumResults(), sizeCount)))
    return failure();
  auto fail = [&](StringRef what, unsigned i, Type expected, Type given) {
    return launch.emitOpError("expects ") << expected << " as " << what << " " << i << " of "
                                          << launch.getKernelAttr() << ", but got " << given;
  };
  for (auto [i, given] : llvm::enumerate(launch.getInputs().getTypes())) {
    Type expected = arguments[sizeCount + i];
    if (!matches(expected, function.getArgAttr(sizeCount + i, kShape),
                 cast<RankedTensorType>(given), sizes))
      return fail("operand", i, expected, given);
  }
  for (auto [i, given] : llvm::enumerate(launch.getOutputs().getTypes())) {
    Type expected = function.getResultTypes()[i];
    if (!matches(expected, function.getResultAttr(i, kShape), cast<RankedTensorType>(given), sizes))
      return fail("result", i, expected, given);
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (auto kernel = dyn_cast_if_present<KernelOp>(callee))
    return verifyLaunch(*this, kernel);
  auto function = dyn_cast_if_present<FunctionOpInterface>(callee);
  if (!function || isa<EntryOp>(callee))
    return emitOpError("expects the name of a kernel, but got ") << getKernelAttr();
  // The code of a target has its own type.
  return isa<FunctionType>(function.getFunctionType()) ? verifyLaunch(*this, function) : success();
}

//===----------------------------------------------------------------------===//
// ReturnOp
//===----------------------------------------------------------------------===//

/// The named dimensions that an entry or a kernel declares; nothing, after an error, if a name is
/// none or stands there twice.
static FailureOr<llvm::StringSet<>> declaredNames(Operation *function, ArrayAttr symbols) {
  llvm::StringSet<> names;
  for (Attribute attribute : symbols ? symbols.getValue() : ArrayRef<Attribute>()) {
    auto symbol = cast<StringAttr>(attribute);
    DimExpr name = DimExpr::symbol(symbol.getValue());
    if (isOverflow(name) || DimExpr::parse(name.str()) != name)
      return function->emitOpError("expects names of sizes, but got ") << symbol;
    if (!names.insert(symbol.getValue()).second)
      return function->emitOpError("declares the size ") << symbol << " twice";
  }
  return names;
}

/// A kernel divides by positive numbers alone, and takes no minimum: the host does all else.
static bool isKernelSize(const DimExpr &size) {
  for (const auto &term : size.getTerms())
    for (const DimExpr::Atom &atom : term.first) {
      if (atom.kind == DimExpr::AtomKind::Symbol)
        continue;
      bool isDivision =
          atom.kind == DimExpr::AtomKind::FloorDiv || atom.kind == DimExpr::AtomKind::Mod;
      if (!isDivision || atom.rhs->constant().value_or(0) <= 0 || !isKernelSize(*atom.lhs))
        return false;
    }
  return true;
}

static LogicalResult verifyTypes(Operation *op, TypeRange types, bool isInKernel) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getRank() > kMaxRank)
      return op->emitOpError("expects at most ")
             << kMaxRank << " axes, but got " << tensor.getRank();
    if (!tensor || tensor.hasStaticShape())
      continue;
    if (!isa_and_nonnull<DimsAttr>(tensor.getEncoding()))
      return op->emitOpError("expects a name for each size that is not static, but got ") << type;
    if (isInKernel && !llvm::all_of(shapeOf(type), isKernelSize))
      return op->emitOpError("expects sizes that a kernel can compute, but got ") << toText(type);
  }
  return success();
}

static LogicalResult verifySignature(FunctionOpInterface function) {
  for (TypeRange types :
       {TypeRange(function.getArgumentTypes()), TypeRange(function.getResultTypes())})
    for (Type type : types) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !isDtype(tensor.getElementType()))
        return function.emitOpError("expects tensors as operands and results, but got ") << type;
    }
  return success();
}

/// Bounds are numbers for names that the entry declares.
static LogicalResult verifyBounds(EntryOp entry) {
  DictionaryAttr bounds = entry.getBoundsAttr();
  for (NamedAttribute bound : bounds ? bounds.getValue() : ArrayRef<NamedAttribute>()) {
    auto number = dyn_cast<IntegerAttr>(bound.getValue());
    bool isBound = number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
    if (!isBound || !entry.getSymbols() ||
        !llvm::is_contained(entry.getSymbolsAttr(), Attribute(bound.getName())))
      return entry.emitOpError("expects bounds of at least 0 for sizes that it declares, but got ")
             << bound.getName() << " = " << bound.getValue();
  }
  return success();
}

/// Whether the text compares two sizes of the names.
static bool isFact(StringRef text, const llvm::StringSet<> &names) {
  auto isSize = [&](StringRef side) {
    std::optional<DimExpr> size = DimExpr::parse(side.trim());
    SmallVector<std::string> used;
    if (size)
      size->collectSymbols(used);
    return size && !isOverflow(*size) && !isTooComplex(*size) &&
           llvm::all_of(used, [&](StringRef name) { return names.contains(name); });
  };
  for (StringRef relation : {">=", "<=", "==", "!=", ">", "<"})
    if (size_t at = text.find(relation); at != StringRef::npos)
      return isSize(text.take_front(at)) && isSize(text.drop_front(at + relation.size()));
  return false;
}

static LogicalResult verifyFacts(EntryOp entry) {
  llvm::StringSet<> names;
  if (ArrayAttr symbols = entry.getSymbolsAttr())
    names.insert_range(symbols.getAsValueRange<StringAttr>());
  ArrayAttr facts = entry.getWhereAttr();
  for (Attribute fact : facts ? facts.getValue() : ArrayRef<Attribute>())
    if (!isFact(cast<StringAttr>(fact).getValue(), names))
      return entry.emitOpError("expects comparisons of sizes that it declares, but got ") << fact;
  return success();
}

/// Every size that the body of `function` mentions is declared by it, or bound in it.
static LogicalResult verifyNames(Operation *function, ArrayAttr symbols) {
  FailureOr<llvm::StringSet<>> names = declaredNames(function, symbols);
  if (failed(names))
    return failure();
  bool isKernel = isa<KernelOp>(function);
  RunTimeSizes bound(function);
  WalkResult result = function->walk([&](Operation *op) -> WalkResult {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(verifyTypes(op, block.getArgumentTypes(), isKernel)))
          return WalkResult::interrupt();
    if (failed(verifyTypes(op, op->getResultTypes(), isKernel)))
      return WalkResult::interrupt();
    for (StringRef name : RunTimeSizes::namesIn(op))
      if (!names->contains(name) && !bound.binds(name))
        return op->emitOpError("mentions the size '")
               << name << "', which '" << SymbolTable::getSymbolName(function).getValue()
               << "' does not declare";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The functions have no verifier of their own: what they declare is compared where they end.
static LogicalResult verifyFunction(FunctionOpInterface function) {
  if (failed(verifySignature(function)))
    return failure();
  if (auto entry = dyn_cast<EntryOp>(*function))
    return failure(failed(verifyBounds(entry)) || failed(verifyFacts(entry)) ||
                   failed(verifyNames(entry, entry.getSymbolsAttr())));
  if (auto kernel = dyn_cast<KernelOp>(*function))
    return verifyNames(kernel, kernel.getSymbolsAttr());
  return success();
}

LogicalResult ReturnOp::verify() {
  auto function = dyn_cast<FunctionOpInterface>((*this)->getParentOp());
  if (!function)
    return emitOpError("expects an entry or a kernel around it");
  if (TypeRange(function.getResultTypes()) != getValues().getTypes())
    return emitOpError("expects values of the result types of '") << function.getName() << "'";
  return verifyFunction(function);
}

//===----------------------------------------------------------------------===//
// GradientsOp
//===----------------------------------------------------------------------===//

LogicalResult GradientsOp::verify() {
  if (cast<RankedTensorType>(getY().getType()).getRank() != 0)
    return emitOpError("expects a scalar to differentiate, but got ") << toText(getY().getType());
  ArrayRef<int64_t> sparse = getSparse();
  size_t next = 0;
  for (auto [i, x] : llvm::enumerate(getXs())) {
    bool isSparse = llvm::is_contained(sparse, int64_t(i));
    if (next + (isSparse ? 2 : 1) > getGrads().size())
      return emitOpError("expects a result for each operand, two for a sparse one");
    if (!isSparse && getGrads()[next].getType() != x.getType())
      return emitOpError("expects gradients of the operands' types, but got ")
             << toText(getGrads()[next].getType()) << " for " << toText(x.getType());
    next += isSparse ? 2 : 1;
  }
  if (next != getGrads().size())
    return emitOpError("expects a result for each operand, two for a sparse one");
  return success();
}
