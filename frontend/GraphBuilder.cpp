// Creates operations by name: type inference, verification in the language's terms, entries.
// GraphBuilderControl.cpp has operations with regions.
#include "frontend/GraphBuilder.h"

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Gradients.h"
#include "dialects/dfg/Numbers.h"
#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/OperandTypes.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc {

namespace {
/// The properties of an operation that does not exist yet, for type inference.
class PendingProperties {
public:
  explicit PendingProperties(OperationName name)
      : name(name), storage((name.getOpPropertyByteSize() + sizeof(std::max_align_t) - 1) /
                            sizeof(std::max_align_t)) {
    if (isUsed())
      name.initOpProperties(get(), OpaqueProperties(nullptr));
  }
  ~PendingProperties() {
    if (isUsed())
      name.destroyOpProperties(get());
  }
  PendingProperties(const PendingProperties &) = delete;
  PendingProperties &operator=(const PendingProperties &) = delete;

  bool isUsed() const { return name.getOpPropertyByteSize() != 0; }
  OpaqueProperties get() {
    return OpaqueProperties(isUsed() ? static_cast<void *>(storage.data()) : nullptr);
  }

private:
  OperationName name;
  std::vector<std::max_align_t> storage;
};
} // namespace

GraphBuilder::GraphBuilder(ModuleOp module)
    : module(module), builder(module.getContext()), resources(module, builder) {
  builder.setListener(&listener);
  builder.setInsertionPointToEnd(module.getBody());
}

/// Returns true for operations that are where the graph says. Those on a list are where it was
/// made, as those on variables are where these are.
static bool isPlaced(Operation *op) {
  auto isList = [](Type type) { return isa<dfg::ListType>(type); };
  return dfg::isOnDevice(op) && llvm::none_of(op->getOperandTypes(), isList);
}

void GraphBuilder::Listener::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint before) {
  bool isNew = !before.isSet();
  count += isNew ? std::max(op->getNumResults(), 1u) : 0;
  if (isNew && !placement.empty() && isPlaced(op))
    for (NamedAttribute attribute : placement)
      op->setAttr(attribute.getName(), attribute.getValue());
}

/// Verifies an operation. Errors about operands are in the language's terms.
static LogicalResult verifyAsWritten(Operation *op) {
  return failure(failed(dfg::verifyOperandTypes(op)) ||
                 failed(verify(op, /*verifyRecursively=*/false)));
}

/// Returns true if the operation is a statement that only uses its operands, such as a check: it
/// has no results, no regions and no effects on named resources.
static bool isPlainStatement(RegisteredOperationName name) {
  return name.hasTrait<OpTrait::ZeroResults>() && name.hasTrait<OpTrait::ZeroRegions>() &&
         !name.hasTrait<OpTrait::IsTerminator>() && !name.hasInterface<SymbolOpInterface>() &&
         !name.hasInterface<MemoryEffectOpInterface>();
}

static FailureOr<SmallVector<Type>> inferTypes(RegisteredOperationName name, ValueRange operands,
                                               DictionaryAttr attributes, Location location) {
  auto *inference = name.getInterface<InferTypeOpInterface>();
  if (!inference && isPlainStatement(name))
    return SmallVector<Type>();
  if (!inference) {
    emitError(location) << dfg::quotedName(location, name.stripDialect())
                        << " cannot be called like a function";
    return failure();
  }
  PendingProperties properties(name);
  auto fail = [&] { return emitError(location); };
  if (properties.isUsed() &&
      failed(name.setOpPropertiesFromAttribute(name, properties.get(), attributes, fail)))
    return failure();
  SmallVector<Type> types;
  if (failed(inference->inferReturnTypes(location.getContext(), location, operands, attributes,
                                         properties.get(), {}, types)))
    return failure();
  return types;
}

/// Fails if a finite number among the attributes becomes infinite in the type in which an operation
/// on floats computes.
static LogicalResult checkNumbers(StringRef op, ArrayRef<NamedAttribute> attributes,
                                  TypeRange results, Location location) {
  auto tensor = results.empty() ? RankedTensorType() : dyn_cast<RankedTensorType>(results.front());
  if (!tensor || !isa<FloatType>(tensor.getElementType()))
    return success();
  Type element = tensor.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(element.getContext());
  for (const NamedAttribute &attribute : attributes)
    if (auto number = dyn_cast<FloatAttr>(attribute.getValue()))
      if (failed(dfg::checkElement(location, op, attribute.getName(), number.getValue(), element)))
        return failure();
  return success();
}

static bool hasTooManyAxes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > dfg::kMaxRank;
}

/// Inference multiplies sizes, so they must not be large polynomials.
static LogicalResult checkSizeComplexity(Location location, StringRef op, ValueRange operands,
                                         ArrayRef<NamedAttribute> attributes) {
  auto isTooComplex = [](Attribute attribute) {
    auto dims = dyn_cast_or_null<dfg::DimsAttr>(attribute);
    return dims && dfg::isTooComplex(dims.getSizes());
  };
  auto encodingOf = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.getEncoding() : Attribute();
  };
  if (any_of(operands.getTypes(), [&](Type type) { return isTooComplex(encodingOf(type)); }) ||
      any_of(attributes, [&](NamedAttribute attr) { return isTooComplex(attr.getValue()); }))
    return emitError(location) << "the sizes of " << dfg::quotedName(location, op)
                               << " are too complex [too-large]";
  return success();
}

/// Fails if numbers among the attributes or the results are too large.
static LogicalResult checkLimits(StringRef op, ArrayRef<NamedAttribute> attributes,
                                 TypeRange results, Location location) {
  if (failed(dfg::checkSizes(location, op, results)) ||
      failed(dfg::checkSizes(location, op, attributes)) ||
      failed(checkNumbers(op, attributes, results, location)))
    return failure();
  if (none_of(results, hasTooManyAxes))
    return success();
  return emitError(location) << "the result of " << dfg::quotedName(location, op)
                             << " has more than " << dfg::kMaxRank << " axes [too-large]";
}

FailureOr<Operation *> GraphBuilder::create(StringRef op, ValueRange operands,
                                            ArrayRef<NamedAttribute> attributes,
                                            Location location) {
  std::optional<RegisteredOperationName> name =
      RegisteredOperationName::lookup(("dfg." + op).str(), getContext());
  if (!name) {
    emitError(location) << "there is no operation '" << op << "'";
    return failure();
  }
  if (failed(checkSizeComplexity(location, op, operands, attributes)))
    return failure();
  DictionaryAttr dictionary = builder.getDictionaryAttr(attributes);
  FailureOr<SmallVector<Type>> types = inferTypes(*name, operands, dictionary, location);
  if (failed(types) || failed(checkLimits(op, attributes, *types, location)))
    return failure();
  OperationState state(location, *name, operands, *types, attributes);
  Operation *operation = builder.create(state);
  if (succeeded(dfg::checkNumbers(operation)) && succeeded(verifyAsWritten(operation)))
    return operation;
  operation->erase();
  return failure();
}

/// Fails unless the number of operands is one that the definition of the operation allows.
static LogicalResult checkOperandCount(Operation *op) {
  const dfg::OpSignature *signature = dfg::lookupOp(op->getName().stripDialect());
  size_t most = signature->operands.size(), given = op->getNumOperands();
  bool isVariadic = most && signature->operands.back().isVariadic;
  size_t least = count_if(signature->operands, [](const dfg::OperandSignature &operand) {
    return !operand.isVariadic && !operand.isOptional;
  });
  if (given >= least && (isVariadic || given <= most))
    return success();
  return emitError(op->getLoc()) << dfg::quotedName(op->getLoc(), signature->name) << " expects "
                                 << (least == most ? "" : "at least ") << least
                                 << (least == 1 ? " operand" : " operands") << ", but got " << given
                                 << " [wrong-count]";
}

/// Fails unless the types of the results are those that follow from the operands and attributes.
static LogicalResult checkResultTypes(Operation *op) {
  RegisteredOperationName name = *op->getRegisteredInfo();
  auto *inference = name.getInterface<InferTypeOpInterface>();
  if (!inference || op->getNumRegions())
    return success();
  FailureOr<SmallVector<Type>> types =
      inferTypes(name, op->getOperands(), op->getAttrDictionary(), op->getLoc());
  if (failed(types))
    return failure();
  if (inference->isCompatibleReturnTypes(*types, op->getResultTypes()))
    return success();
  auto list = [](TypeRange types) {
    std::string text = join(map_range(types, [](Type type) { return dfg::toText(type); }), ", ");
    return text.empty() ? "no result" : text;
  };
  return emitError(op->getLoc()) << "'" << name.stripDialect() << "' returns " << list(*types)
                                 << ", but the graph declares " << list(op->getResultTypes())
                                 << " [type-mismatch]";
}

LogicalResult GraphBuilder::checkDeclared(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (failed(checkOperandCount(op)) ||
      failed(checkSizeComplexity(op->getLoc(), name, op->getOperands(), op->getAttrs())) ||
      failed(checkResultTypes(op)) ||
      failed(checkLimits(name, op->getAttrs(), op->getResultTypes(), op->getLoc())))
    return failure();
  // Regions are verified with the module.
  if (op->getNumRegions())
    return success();
  return failure(failed(verifyAsWritten(op)) || failed(dfg::checkNumbers(op)));
}

void GraphBuilder::toHoistPlace() {
  if (hoistPlace)
    builder.setInsertionPoint(hoistPlace);
}

FailureOr<Operation *> GraphBuilder::createOutside(StringRef op, ValueRange operands,
                                                   ArrayRef<NamedAttribute> attributes,
                                                   Location location) {
  OpBuilder::InsertionGuard guard(builder);
  toHoistPlace();
  return create(op, operands, attributes, location);
}

Value GraphBuilder::constant(ElementsAttr value, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  toHoistPlace();
  return dfg::ConstantOp::create(builder, location, value);
}

Value GraphBuilder::scalar(double value, Type elementType, Location location) {
  auto type = RankedTensorType::get({}, elementType);
  auto floatType = cast<FloatType>(elementType);
  return constant(DenseElementsAttr::get(type, {FloatAttr::get(floatType, value).getValue()}),
                  location);
}

Value GraphBuilder::scalar(int64_t value, Type elementType, Location location) {
  if (isa<FloatType>(elementType))
    return scalar(static_cast<double>(value), elementType, location);
  auto type = RankedTensorType::get({}, elementType);
  APInt bits(64, static_cast<uint64_t>(value));
  return constant(DenseElementsAttr::get(type, {bits.trunc(elementType.getIntOrFloatBitWidth())}),
                  location);
}

Value GraphBuilder::size(const dfg::DimExpr &value, Type elementType, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  toHoistPlace();
  if (std::optional<int64_t> constant = value.constant())
    return scalar(*constant, elementType, location);
  bool isIndex = elementType.isSignlessInteger(32) || elementType.isSignlessInteger(64);
  Type sizeType = isIndex ? elementType : builder.getI64Type();
  Value result = dfg::SizeOp::create(builder, location, dfg::DimsAttr::get(getContext(), {value}),
                                     TypeAttr::get(sizeType));
  if (sizeType == elementType)
    return result;
  return dfg::CastOp::create(builder, location, result, TypeAttr::get(elementType));
}

void GraphBuilder::check(Value condition, const Twine &subject, ArrayRef<dfg::DimExpr> sizes,
                         dfg::Failure status, Location location) {
  dfg::Message message(builder, location);
  message.text("does not hold").namesIn(sizes).about(subject + dfg::sitePhrase(location));
  dfg::CheckOp::create(builder, location, condition, message, status);
}

Operation *GraphBuilder::ownFeed(BlockArgument feed, Location location) {
  return dfg::OwnFeedOp::create(builder, location, feed.getType(), feed.getArgNumber());
}

Operation *GraphBuilder::bindSize(Value count, StringRef name, const dfg::DimExpr &bound,
                                  Location location) {
  return dfg::BindSizeOp::create(builder, location, count,
                                 dfg::DimsAttr::get(getContext(), {dfg::DimExpr::symbol(name)}),
                                 dfg::DimsAttr::get(getContext(), {bound}));
}

/// The indices and rows of sparse gradients, and the types of the others.
static SmallVector<Type> typesOfGradients(const dfg::ReadersTowards &readers, ValueRange xs,
                                          ArrayRef<int64_t> sparse) {
  SmallVector<Type> types;
  llvm::DenseSet<int64_t> isSparse(sparse.begin(), sparse.end());
  for (auto [position, x] : enumerate(xs)) {
    if (!isSparse.contains(position)) {
      types.push_back(x.getType());
      continue;
    }
    auto type = cast<RankedTensorType>(x.getType());
    dfg::Shape rows = dfg::shapeOf(type);
    rows.front() = readers.sparseRowCount(x);
    types.push_back(dfg::tensorOf({rows.front()}, IntegerType::get(x.getContext(), 64)));
    types.push_back(dfg::tensorOf(rows, type.getElementType()));
  }
  return types;
}

Operation *GraphBuilder::gradients(Value y, ValueRange xs, ArrayRef<int64_t> sparse,
                                   Location location) {
  SmallVector<Type> types(xs.getTypes());
  if (!sparse.empty())
    types = typesOfGradients(dfg::ReadersTowards(y), xs, sparse);
  return dfg::GradientsOp::create(builder, location, types, y, xs,
                                  builder.getDenseI64ArrayAttr(sparse));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

bool EntryHeader::addFact(const dfg::Fact &fact) {
  std::string text = fact.lhs.canonical() + dfg::spelling(fact.comparison).str();
  bool isNew = stated.insert(text + fact.rhs.canonical()).second;
  if (isNew)
    where.push_back(fact);
  return isNew;
}

EntryHeader EntryHeader::initializer() {
  EntryHeader header;
  header.name = "tfc.init";
  header.isInitializer = true;
  return header;
}

dfg::EntryOp GraphBuilder::beginEntry(const EntryHeader &header, Location location) {
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> inputs;
  for (const EntryValue &feed : header.feeds)
    inputs.push_back(feed.type);
  entry = dfg::EntryOp::create(builder, location, header.name, builder.getFunctionType(inputs, {}));
  if (entry.getBody().empty())
    entry.getBody().emplaceBlock();
  Block &body = entry.getBody().front();
  SmallVector<Attribute> names;
  for (auto [i, feed] : enumerate(header.feeds)) {
    if (body.getNumArguments() <= i)
      body.addArgument(feed.type, feed.location);
    names.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(dfg::kNameAttr, builder.getStringAttr(feed.name))));
  }
  if (!names.empty())
    entry.setArgAttrsAttr(builder.getArrayAttr(names));
  if (!header.symbols.empty()) {
    SmallVector<StringRef> symbols(header.symbols.begin(), header.symbols.end());
    entry.setSymbolsAttr(builder.getStrArrayAttr(symbols));
  }
  setFacts(header);
  if (!header.doc.empty())
    entry.setDoc(header.doc);
  entry.setInitializer(header.isInitializer);
  builder.setInsertionPointToEnd(&body);
  return entry;
}

static ArrayAttr factsAttr(Builder &builder, ArrayRef<dfg::Fact> facts) {
  return builder.getArrayAttr(to_vector(map_range(facts, [&](const dfg::Fact &fact) -> Attribute {
    return dfg::FactAttr::get(builder.getContext(), fact);
  })));
}

void GraphBuilder::setFacts(const EntryHeader &header) {
  SmallVector<NamedAttribute> bounds;
  for (const auto &[name, bound] : header.bounds)
    bounds.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(bound)));
  if (!bounds.empty())
    entry.setBoundsAttr(builder.getDictionaryAttr(bounds));
  if (!header.where.empty()) {
    entry.setWhereAttr(factsAttr(builder, header.where));
    entry->setLoc(dfg::withSites(entry.getLoc(), header.where));
  }
  if (!header.solved.empty())
    entry.setSolvedAttr(factsAttr(builder, header.solved));
}

void GraphBuilder::finishEntry(ArrayRef<EntryValue> results, ValueRange values, Location location) {
  dfg::ReturnOp::create(builder, location, values);
  finishEntry(results);
}

void GraphBuilder::finishEntry(ArrayRef<EntryValue> results) {
  SmallVector<Type> types;
  SmallVector<Attribute> names;
  for (const EntryValue &result : results) {
    types.push_back(result.type);
    names.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(dfg::kNameAttr, builder.getStringAttr(result.name))));
  }
  FunctionType type = entry.getFunctionType();
  entry.setFunctionType(builder.getFunctionType(type.getInputs(), types));
  if (!names.empty())
    entry.setResAttrsAttr(builder.getArrayAttr(names));
  entry = nullptr;
  builder.setInsertionPointToEnd(module.getBody());
}

void GraphBuilder::dropEntry() {
  if (entry)
    entry.erase();
  entry = nullptr;
  hoistPlace = nullptr;
  builder.setInsertionPointToEnd(module.getBody());
}

Type elementTypeByName(MLIRContext *context, StringRef name) {
  return dfg::elementTypeNamed(context, name, &dfg::Dtype::name);
}

} // namespace tfc
