//===- StructureOps.cpp - Entries, gradients, kernels ---------------------===//
//
// Implements entries and their feeds, kernels and launches, and the checks of calls. Most of it
// verifies that sizes are declared before they are used and that launches match their kernels.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryAttr.h"
#include "dialects/dfg/Partitions.h"
#include "dialects/dfg/Resources.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tfc::dfg;
namespace kernel = tfc::kernel;

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

/// Returns a type of a kernel with its names replaced by the sizes of a launch; null if it mentions
/// other names or is not a tensor type.
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

/// Fails if operands or results of the launch do not match the kernel's types: its code relies on
/// their sizes.
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

//===--- lowered kernels --------------------------------------------------===//

/// Returns true if the sizes are equal for several choices of the values of their names. Affine
/// expressions have a different canonical form, so equal sizes may look different.
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

/// Returns true if a tensor of the launch matches `type` of the function, whose dynamic sizes are
/// given by `map`.
static bool matches(Type type, AffineMapAttr map, RankedTensorType given, ArrayRef<DimExpr> sizes) {
  auto tensor = cast<RankedTensorType>(type);
  auto toSignless = [](Type element) -> Type {
    auto integer = dyn_cast<IntegerType>(element);
    return integer ? IntegerType::get(element.getContext(), integer.getWidth()) : element;
  };
  if (tensor.getRank() != given.getRank() ||
      toSignless(tensor.getElementType()) != toSignless(given.getElementType()))
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

/// The same for a kernel in linalg form.
static LogicalResult verifyLaunch(LaunchOp launch, kernel::FuncOp function) {
  SmallVector<DimExpr> sizes = launch.getSizes().getExprs();
  size_t sizeCount = function.getNumSizes();
  if (failed(verifyCounts(launch, function.getNumTensors(), function.getNumResults(), sizeCount)))
    return failure();
  auto fail = [&](StringRef what, unsigned i, Type expected, Type given) {
    return launch.emitOpError("expects ") << expected << " as " << what << " " << i << " of "
                                          << launch.getKernelAttr() << ", but got " << given;
  };
  for (auto [i, given] : llvm::enumerate(launch.getInputs().getTypes())) {
    Type expected = function.getArgumentTypes()[sizeCount + i];
    if (!matches(expected, function.getArgShape(sizeCount + i), cast<RankedTensorType>(given),
                 sizes))
      return fail("operand", i, expected, given);
  }
  for (auto [i, given] : llvm::enumerate(launch.getOutputs().getTypes())) {
    Type expected = function.getResultTypes()[i];
    if (!matches(expected, function.getResultShape(i), cast<RankedTensorType>(given), sizes))
      return fail("result", i, expected, given);
  }
  return success();
}

static LogicalResult verifyCallee(LaunchOp launch, Operation *callee) {
  if (auto kernel = dyn_cast_if_present<KernelOp>(callee))
    return verifyLaunch(launch, kernel);
  if (auto kernel = dyn_cast_if_present<kernel::FuncOp>(callee))
    return verifyLaunch(launch, kernel);
  // The code of a target has its own type.
  auto code = dyn_cast_if_present<FunctionOpInterface>(callee);
  if (!code || isa<FunctionType>(code.getFunctionType()))
    return launch.emitOpError("expects the name of a kernel, but got ") << launch.getKernelAttr();
  kernel::AbiAttr abi = kernel::abiOf(callee);
  size_t given = launch.getSizes().getSizes().size();
  for (AffineMapAttr map : {abi ? abi.getExtent() : nullptr, abi ? abi.getScratch() : nullptr})
    if (map && map.getValue().getNumSymbols() > given)
      return launch.emitOpError("passes ") << given << " sizes to " << launch.getKernelAttr()
                                           << ", which needs " << map.getValue().getNumSymbols();
  return success();
}

void LaunchOp::setGuard(Value guard) {
  assert(!getGuarded() && "expected a launch without a guard");
  getValuesMutable().append(guard);
  setGuarded(true);
}

LogicalResult LaunchOp::verify() {
  auto isPredicate = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getRank() == 0 && type.getElementType().isInteger(1);
  };
  if (getGuarded() && (getValues().empty() || !isPredicate(getValues().back())))
    return emitOpError("expects the last operand of a guarded launch to be a bool");
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyCallee(*this, symbols.lookupNearestSymbolFrom(*this, getKernelAttr()))))
    return failure();
  return verifyMemory(*this, symbols);
}

//===----------------------------------------------------------------------===//
// Declarations of entries and kernels
//===----------------------------------------------------------------------===//

/// The named dimensions that an entry or a kernel declares; fails with an error if a name is
/// invalid or repeated.
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

/// A kernel only divides by positive numbers and has no minima or maxima; the host computes all
/// other sizes.
static bool isKernelSize(const DimExpr &size) {
  for (const auto &term : size.getTerms())
    for (const DimExpr::Atom &atom : term.first) {
      if (atom.kind == DimExpr::AtomKind::Symbol)
        continue;
      bool isDivision = atom.kind == DimExpr::AtomKind::FloorDiv;
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

using Symbols = llvm::StringSet<>;

static Symbols symbolsOf(EntryOp entry) {
  Symbols symbols;
  if (ArrayAttr names = entry.getSymbolsAttr())
    symbols.insert_range(names.getAsValueRange<StringAttr>());
  return symbols;
}

/// Checks that bounds are numbers for names that the entry declares.
static LogicalResult verifyBounds(EntryOp entry, const Symbols &symbols) {
  DictionaryAttr bounds = entry.getBoundsAttr();
  for (NamedAttribute bound : bounds ? bounds.getValue() : ArrayRef<NamedAttribute>()) {
    auto number = dyn_cast<IntegerAttr>(bound.getValue());
    bool isBound = number && number.getType().isSignlessInteger(64) && number.getInt() >= 0;
    if (!isBound || !symbols.contains(bound.getName().strref()))
      return entry.emitOpError("expects bounds of at least 0 for sizes that it declares, but got ")
             << bound.getName() << " = " << bound.getValue();
  }
  return success();
}

/// Returns true if all names in the size are known when the call starts.
static bool isKnownAtStart(const DimExpr &size, const Symbols &symbols) {
  bool isKnown = true;
  size.forEachSymbol([&](StringRef name) { isKnown &= symbols.contains(name); });
  return isKnown;
}

static LogicalResult verifyFacts(EntryOp entry, const Symbols &symbols) {
  ArrayAttr facts = entry.getWhereAttr();
  for (Attribute attribute : facts ? facts.getValue() : ArrayRef<Attribute>()) {
    Fact fact = cast<FactAttr>(attribute).getFact();
    if (!isKnownAtStart(fact.lhs, symbols) || !isKnownAtStart(fact.rhs, symbols))
      return entry.emitOpError("expects comparisons of sizes that it declares, but got ")
             << attribute;
  }
  return success();
}

static LogicalResult verifySolved(EntryOp entry, const Symbols &symbols) {
  ArrayAttr facts = entry.getSolvedAttr();
  for (Attribute attribute : facts ? facts.getValue() : ArrayRef<Attribute>()) {
    Fact fact = cast<FactAttr>(attribute).getFact();
    if (!fact.lhs.asSymbol() || isKnownAtStart(fact.lhs, symbols) ||
        fact.comparison != Comparison::Equal || !isKnownAtStart(fact.rhs, symbols))
      return entry.emitOpError("expects a name that it does not declare, '==' and a size, but got ")
             << attribute;
  }
  return success();
}

static LogicalResult verifyLimits(EntryOp entry, const Symbols &symbols) {
  llvm::SmallDenseSet<SizeUse> uses;
  ArrayAttr limits = entry.getLimitsAttr();
  for (Attribute attribute : limits ? limits.getValue() : ArrayRef<Attribute>()) {
    auto limit = cast<LimitAttr>(attribute);
    if (!uses.insert(limit.getUse()).second)
      return entry.emitOpError("expects one limit of each use, but got another ") << limit;
    for (const DimExpr &size : limit.getSizes().getExprs())
      if (!isKnownAtStart(size, symbols))
        return entry.emitOpError("expects limits of sizes that it declares, but got ") << limit;
  }
  return success();
}

/// Checks the names of feeds and fetches, by which callers refer to them.
static LogicalResult verifyNamesOfValues(EntryOp entry, ArrayAttr attributes) {
  llvm::StringSet<> names;
  for (Attribute dictionary : attributes ? attributes.getValue() : ArrayRef<Attribute>()) {
    auto name = cast<DictionaryAttr>(dictionary).getAs<StringAttr>(kNameAttr);
    if (name && !names.insert(name.getValue()).second)
      return entry.emitOpError("has two feeds or two fetches named ") << name;
  }
  return success();
}

static LogicalResult verifyInitializer(EntryOp entry) {
  if (!entry.getInitializer() ||
      (entry.getArgumentTypes().empty() && entry.getResultTypes().empty()))
    return success();
  return entry.emitOpError("expects an initializer without feeds and fetches");
}

/// Checks that every size mentioned in the body of `function` is declared by it, or bound in it.
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

static LogicalResult verifyEnd(FunctionOpInterface function) {
  if (isa<ReturnOp>(function.getFunctionBody().front().getTerminator()))
    return success();
  return function.emitOpError("expects to end with 'dfg.return'");
}

LogicalResult EntryOp::verifyRegions() {
  Symbols symbols = symbolsOf(*this);
  return failure(failed(verifyEnd(*this)) || failed(verifySignature(*this)) ||
                 failed(verifyNamesOfValues(*this, getArgAttrsAttr())) ||
                 failed(verifyNamesOfValues(*this, getResAttrsAttr())) ||
                 failed(verifyInitializer(*this)) || failed(verifyBounds(*this, symbols)) ||
                 failed(verifyFacts(*this, symbols)) || failed(verifySolved(*this, symbols)) ||
                 failed(verifyLimits(*this, symbols)) ||
                 failed(verifyNames(*this, getSymbolsAttr())));
}

/// Programs cannot call the initializer; instances run it, so there is at most one.
LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (!module)
    return success();
  if (failed(verifyPartitions(*this, symbols)))
    return failure();
  if (!getInitializer())
    return success();
  for (auto entry : module.getOps<EntryOp>()) {
    if (entry == *this)
      break;
    if (entry.getInitializer())
      return emitOpError("expects to be the only initializer");
  }
  return success();
}

SmallVector<DimExpr> EntryOp::getLimitedSizes(SizeUse use) {
  ArrayAttr limits = getLimitsAttr();
  for (Attribute attribute : limits ? limits.getValue() : ArrayRef<Attribute>())
    if (auto limit = cast<LimitAttr>(attribute); limit.getUse() == use)
      return limit.getSizes().getExprs();
  return {};
}

LogicalResult KernelOp::verifyRegions() {
  return failure(failed(verifyEnd(*this)) || failed(verifySignature(*this)) ||
                 failed(verifyNames(*this, getSymbolsAttr())));
}

//===----------------------------------------------------------------------===//
// ReturnOp
//===----------------------------------------------------------------------===//

LogicalResult ReturnOp::verify() {
  auto function = dyn_cast<FunctionOpInterface>((*this)->getParentOp());
  if (!function)
    return emitOpError("expects to be in an entry or a kernel");
  if (TypeRange(function.getResultTypes()) != getValues().getTypes())
    return emitOpError("expects values of the result types of '") << function.getName() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// CheckOp
//===----------------------------------------------------------------------===//

void CheckOp::build(OpBuilder &b, OperationState &state, Value condition, const Message &message,
                    Failure status) {
  StringRef format = message.getFormat();
  ValueRange values = message.getValues();
  build(b, state, condition,
        b.getStringAttr(values.empty() ? fillFormat(format, {}) : format.str()), values, status,
        /*numbers=*/DenseI32ArrayAttr());
}

std::string CheckOp::getFormat() {
  return getValues().empty() ? escapeFormat(getMessage()) : getMessage().str();
}

LogicalResult CheckOp::verify() {
  if (getValues().size() > kMaxMessageValues)
    return emitOpError("expects at most ")
           << kMaxMessageValues << " values, but got " << getValues().size();
  std::optional<size_t> shown = countFormatValues(getFormat());
  if (!shown)
    return emitOpError("expects a message of text, '%lld' and '%%'");
  if (*shown != getValues().size())
    return emitOpError("expects as many values as its message shows, which are ")
           << *shown << ", but got " << getValues().size();
  for (Value value : getValues()) {
    Type element = elementTypeOf(value.getType());
    if (!shapeOf(value.getType()).empty() ||
        !(element.isSignlessInteger(32) || element.isSignlessInteger(64)))
      return emitOpError("expects scalars of type i32 or i64, but got ") << toText(value.getType());
  }
  if (std::optional<ArrayRef<int32_t>> numbers = getNumbers()) {
    size_t expected = 1;
    for (Operation *op = getOperation(); (op = op->getParentOfType<WhileOp>());)
      ++expected;
    if (numbers->size() != expected)
      return emitOpError("expects a number, and one for each loop around it, which are ")
             << expected << ", but got " << numbers->size();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// OwnFeedOp
//===----------------------------------------------------------------------===//

LogicalResult OwnFeedOp::verify() {
  auto entry = (*this)->getParentOfType<EntryOp>();
  if (!entry)
    return emitOpError("expects to be in an entry");
  // A partition has the feeds of its entry.
  if (entry.isPartition())
    return success();
  uint32_t number = getNumber();
  if (number >= entry.getNumArguments())
    return emitOpError("expects the number of a feed, but got ") << int32_t(number);
  if (Type type = entry.getArgumentTypes()[number]; type != getType())
    return emitOpError("expects ")
           << toText(type) << " for feed " << number << ", but got " << toText(getType());
  return success();
}

void OwnFeedOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), FeedResource::get());
}

//===----------------------------------------------------------------------===//
// LimitAttr, ProbeAttr
//===----------------------------------------------------------------------===//

LogicalResult LimitAttr::verify(function_ref<InFlightDiagnostic()> emitError, SizeUse,
                                DimsAttr sizes) {
  for (const DimExpr &size : sizes.getExprs())
    if (isOverflow(size))
      return emitError() << "expected sizes to limit, but got '" << size.str() << "'";
  return success();
}

LogicalResult ProbeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t number,
                                StringAttr) {
  if (number < 0)
    return emitError() << "expected the number of a probe, but got " << number;
  return success();
}

//===----------------------------------------------------------------------===//
// GradientsOp
//===----------------------------------------------------------------------===//

/// Checks that a sparse gradient of `x` consists of indices, i64[r], and as many rows.
static LogicalResult verifyRows(GradientsOp op, Value x, Value indices, Value rows) {
  Shape expected = shapeOf(x.getType()), got = shapeOf(rows.getType());
  if (expected.empty() || got.empty())
    return op.emitOpError("expects a sparse gradient of a value with rows, but got ")
           << toText(x.getType());
  expected.front() = got.front();
  if (rows.getType() == tensorOf(expected, elementTypeOf(x.getType())) &&
      indices.getType() == tensorOf({got.front()}, IntegerType::get(op.getContext(), 64)))
    return success();
  return op.emitOpError("expects i64[r] and rows of ")
         << toText(x.getType()) << " as a sparse gradient, but got " << toText(indices.getType())
         << " and " << toText(rows.getType());
}

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
    if (isSparse && failed(verifyRows(*this, x, getGrads()[next], getGrads()[next + 1])))
      return failure();
    next += isSparse ? 2 : 1;
  }
  if (next != getGrads().size())
    return emitOpError("expects a result for each operand, two for a sparse one");
  return success();
}
