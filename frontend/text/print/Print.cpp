// Prints the declarations and ordinary operations of a module as graph source. The other files of
// this folder have entries, control flow, conditions, names and long constants.
#include "frontend/text/print/PrintImpl.h"

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Gradients.h"
#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/SizeOps.h"
#include "frontend/text/elaborate/Entity.h"
#include "frontend/text/syntax/Lexer.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// Constants with more elements than this are long.
static constexpr int64_t kMaxListed = 4096;

std::string quoteName(StringRef name) {
  return isPlainName(name) ? name.str() : ("`" + name + "`").str();
}

std::string quoteString(StringRef text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (c == '\r')
      quoted += "\\r";
    else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f)
      quoted += "\\u{" + utohexstr(c) + "}";
    else if (StringRef("\"\\{}").contains(c))
      quoted += {'\\', c};
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string quoteWords(StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t plain = text.find_if([](char c) { return c == '`' || c == '_' || isAlpha(c); });
    result += text.take_front(plain);
    text = text.drop_front(std::min(plain, text.size()));
    if (text.empty())
      break;
    if (text.consume_front("`")) {
      auto [name, rest] = text.split('`');
      result += ("`" + name + "`").str();
      text = rest;
      continue;
    }
    StringRef word = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    result += quoteName(word);
    text = text.drop_front(word.size());
  }
  return result;
}

std::string sizeText(const dfg::DimExpr &size) { return quoteWords(size.str()); }

std::string typeText(Type type) {
  if (auto list = dyn_cast<dfg::ListType>(type))
    return "list[" + typeText(list.getElementType()) + "]";
  std::string text = dfg::toText(type);
  size_t sizes = std::min(text.find('['), text.size());
  return text.substr(0, sizes) + quoteWords(StringRef(text).drop_front(sizes));
}

//===----------------------------------------------------------------------===//
// Constants and attributes
//===----------------------------------------------------------------------===//

static std::string number(const APFloat &value) {
  if (value.isNaN())
    return "nan";
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  bool isWide = &value.getSemantics() == &APFloat::IEEEdouble();
  APFloat converted = value;
  bool losesInfo;
  converted.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  std::string text = isWide ? toText(converted.convertToDouble())
                            : toText(static_cast<float>(converted.convertToDouble()));
  bool isFloat = StringRef(text).find_first_of(".e") != StringRef::npos;
  return isFloat ? text : text + ".0";
}

static std::string element(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return number(real.getValue());
  auto integer = cast<IntegerAttr>(value);
  if (integer.getType().isInteger(1))
    return integer.getValue().isZero() ? "false" : "true";
  bool isUnsigned = integer.getType().isUnsignedInteger();
  SmallString<24> text;
  integer.getValue().toString(text, 10, !isUnsigned);
  return text.str().str();
}

/// Nested lists of the elements, row by row.
static std::string nested(ArrayRef<std::string> elements, ArrayRef<int64_t> shape) {
  if (shape.empty())
    return elements.front();
  size_t stride = elements.size() / shape.front();
  std::string text;
  for (int64_t i = 0; i < shape.front(); ++i)
    text += (i ? ", " : "") + nested(elements.slice(i * stride, stride), shape.drop_front());
  return "[" + text + "]";
}

/// A constant filled with one element; also for shapes without elements.
static std::string filled(Attribute value, RankedTensorType type, StringRef broadcast) {
  std::string scalar = dfg::toText(type.getElementType()) + "(" + element(value) + ")";
  if (type.getRank() == 0)
    return scalar;
  std::string shape;
  for (int64_t size : type.getShape())
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  return (broadcast + "(" + scalar + ", shape: [" + shape + "])").str();
}

static Attribute zeroOf(Type dtype) {
  if (isa<FloatType>(dtype))
    return FloatAttr::get(dtype, 0.0);
  return IntegerAttr::get(dtype, 0);
}

/// Returns true if all parts of `size` bytes are equal.
static bool isRepeated(ArrayRef<char> data, size_t size) {
  return data.size() <= size || (size && data.drop_back(size) == data.drop_front(size));
}

/// Returns true if an element exceeds the integers of the language, which are those of i64.
static bool exceedsNumbers(DenseElementsAttr value) {
  return value.getElementType().isUnsignedInteger(64) &&
         any_of(value.getValues<APInt>(),
                [](const APInt &element) { return element.isNegative(); });
}

std::optional<std::string> GraphPrinter::constant(ElementsAttr value, StringRef key) {
  auto type = cast<RankedTensorType>(value.getShapedType());
  if (type.getNumElements() == 0)
    return filled(zeroOf(type.getElementType()), type, names.function("broadcast"));
  bool isWeight = hasFunctions && !key.empty();
  bool isLong = isWeight || type.getNumElements() > kMaxListed;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    bool isListed = isLong && longConstants;
    if (isListed && (isWeight || !isRepeated(blob->getData(), type.getElementTypeBitWidth() / 8)))
      return names.function("load") + longConstants->add(resource, key);
    value = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return std::nullopt;
  if (exceedsNumbers(dense))
    return longConstants ? std::optional(names.function("load") + longConstants->add(dense, key))
                         : std::nullopt;
  if (dense.isSplat() && isLong && !isWeight)
    return filled(dense.getSplatValue<Attribute>(), type, names.function("broadcast"));
  if (isLong && longConstants)
    return names.function("load") + longConstants->add(dense, key);
  std::vector<std::string> elements;
  for (Attribute attribute : dense.getValues<Attribute>())
    elements.push_back(element(attribute));
  return dfg::toText(type.getElementType()) + "(" + nested(elements, type.getShape()) + ")";
}

std::optional<std::string> GraphPrinter::attribute(Attribute value) {
  auto list = [](auto values, auto text) {
    std::string result;
    for (auto item : values)
      result += (result.empty() ? "" : ", ") + text(item);
    return "[" + result + "]";
  };
  if (auto dims = dyn_cast<dfg::DimsAttr>(value))
    return list(dims.getExprs(), [&](const dfg::DimExpr &size) { return names.size(size); });
  if (auto ints = dyn_cast<DenseI64ArrayAttr>(value))
    return list(ints.asArrayRef(), [](int64_t item) { return std::to_string(item); });
  if (auto flags = dyn_cast<DenseBoolArrayAttr>(value))
    return list(flags.asArrayRef(), [](bool item) { return std::string(item ? "true" : "false"); });
  if (auto type = dyn_cast<TypeAttr>(value))
    return dfg::toText(type.getValue());
  if (auto flag = dyn_cast<BoolAttr>(value))
    return flag.getValue() ? "true" : "false";
  if (isa<UnitAttr>(value))
    return "true";
  if (auto text = dyn_cast<StringAttr>(value))
    return quoteString(text.getValue());
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(value))
    return names.state(symbol.getValue(), declarations);
  if (isa<FloatAttr, IntegerAttr>(value))
    return element(value);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The word for the value of an enum.
static std::optional<std::string> enumText(const dfg::AttrSignature &attr, Attribute value) {
  std::optional<StringRef> word = attr.toWord(value);
  return word ? std::optional(quoteString(*word)) : std::nullopt;
}

std::string GraphPrinter::call(Operation &op, const dfg::OpSignature &signature, bool &ok) {
  std::string args;
  auto append = [&](const std::string &text) { args += (args.empty() ? "" : ", ") + text; };
  std::optional<ArrayRef<int32_t>> segments;
  if (auto attr = op.getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"))
    segments = attr.asArrayRef();
  size_t next = 0;
  size_t fixed = signature.operands.size();
  for (auto [i, operand] : enumerate(signature.operands)) {
    bool isFlexible = operand.isVariadic || operand.isOptional;
    size_t count = segments ? (*segments)[i] : !isFlexible ? 1 : op.getNumOperands() - (fixed - 1);
    ValueRange values = op.getOperands().slice(next, count);
    next += count;
    if (operand.isVariadic)
      append("[" + names.use(values) + "]");
    else if (count && (operand.isOptional || operand.isCounter))
      append(operand.name.str() + ": " + names.use(values.front()));
    else if (count)
      append(names.use(values.front()));
  }
  for (const dfg::AttrSignature &attr : signature.attributes) {
    Attribute value = op.getAttr(attr.name);
    // Without a seed the language derives one from names.
    if (!value && attr.isSeed)
      append("seed: 0");
    if (!value)
      continue;
    if (attr.kind == dfg::OpAttrKind::NamedSizes) {
      for (NamedAttribute item : cast<DictionaryAttr>(value))
        append(quoteName(item.getName()) + ": " +
               names.size(cast<dfg::DimsAttr>(item.getValue()).getExprs().front()));
      continue;
    }
    std::optional<std::string> text =
        attr.kind == dfg::OpAttrKind::Enum ? enumText(attr, value) : attribute(value);
    ok &= text.has_value();
    append(attr.name.str() + ": " + text.value_or(""));
  }
  return names.function(signature.name) + "(" + args + ")";
}

std::optional<std::string> GraphPrinter::expression(Operation &op) {
  if (auto constantOp = dyn_cast<dfg::ConstantOp>(op))
    return constant(constantOp.getValue());
  if (auto size = dyn_cast<dfg::SizeOp>(op))
    return dfg::toText(size.getDtype()) + "(" + names.size(size.getValue().getExprs().front()) +
           ")";
  if (auto read = dyn_cast<dfg::ReadOp>(op))
    return names.state(read.getVariable(), declarations);
  if (auto assign = dyn_cast<dfg::AssignOp>(op))
    return names.function("assign") + "(" + names.state(assign.getVariable(), declarations) + ", " +
           names.use(assign.getValue()) + ")";
  if (auto feed = dyn_cast<dfg::OwnFeedOp>(op))
    return names.function("own_feed") + "(" +
           names.use(op.getParentOfType<dfg::EntryOp>().getBody().getArgument(feed.getNumber())) +
           ")";
  if (std::optional<std::string> text = queueAccess(op))
    return text;
  const dfg::OpSignature *signature = dfg::lookupOp(op.getName().stripDialect());
  if (!signature || op.getNumRegions() || op.getDialect()->getNamespace() != "dfg")
    return std::nullopt;
  bool ok = true;
  std::string text = call(op, *signature, ok);
  if (signature->hasVariadicResults && op.getNumResults() == 1)
    text += "[0]"; // of a group
  return ok ? std::optional<std::string>(text) : std::nullopt;
}

/// Returns true if the text has exactly the same sparse gradients: the language makes all gradients
/// sparse that can be. Operations that stand in a `dataflow` block may be outside of it when the
/// text is read, so that the block no longer is a reader.
static bool hasAllSparse(dfg::GradientsOp op) {
  dfg::ReadersTowards readers(op.getY());
  return all_of(enumerate(op.getXs()), [&](auto x) {
    bool isSparse = is_contained(op.getSparse(), static_cast<int64_t>(x.index()));
    SmallVector<Operation *, 1> ops = readers.of(x.value());
    auto isBlock = llvm::IsaPred<dfg::DataflowOp>;
    bool isInBlocks = any_of(ops, isBlock) && all_of(ops, [&](Operation *reader) {
                        return isBlock(reader) || dfg::gathersRows(reader);
                      });
    return isSparse == readers.isSparseGradient(x.value()) && !isInBlocks;
  });
}

/// Prints gradients as a group; sparse ones have members.
LogicalResult GraphPrinter::printGradients(dfg::GradientsOp op) {
  if (!hasAllSparse(op))
    return failWithoutText(*op);
  if (op.getSparse().empty()) {
    std::string xs = names.use(op.getXs());
    *os << indent << placement(*op) << names.define(op->getResults()) << " = "
        << names.function("gradients") << "(" << names.use(op.getY()) << ", "
        << (op.getXs().size() == 1 ? xs : "[" + xs + "]") << ")\n";
    return success();
  }
  std::string group = names.create("gradient_group");
  *os << indent << placement(*op) << group << " = " << names.function("gradients") << "("
      << names.use(op.getY()) << ", [" << names.use(op.getXs()) << "], coalesce: false)\n";
  size_t next = 0;
  for (size_t i = 0; i < op.getXs().size(); ++i) {
    std::string item = group + "[" + std::to_string(i) + "]";
    bool isSparse = is_contained(op.getSparse(), static_cast<int64_t>(i));
    SmallVector<StringRef, 2> members{""};
    if (isSparse)
      members = {".indices", ".rows"};
    for (StringRef member : members) {
      Value result = op.getGrads()[next++];
      if (!result.use_empty())
        *os << indent << names.create(result) << " = " << item << member << "\n";
    }
  }
  return success();
}

/// The annotations that say where an operation or a declaration shall be.
std::string GraphPrinter::placement(Operation &op) {
  std::string text, symbols;
  if (dfg::DeviceName device = dfg::deviceOf(&op); !device.isOpen())
    text += "@device(" + quoteString(device.str()) + ") ";
  for (FlatSymbolRefAttr symbol : dfg::colocatedWith(&op))
    symbols += (symbols.empty() ? "" : ", ") + names.state(symbol.getValue(), declarations);
  return symbols.empty() ? text : "@colocate(" + symbols + ") " + text;
}

LogicalResult GraphPrinter::printStatement(Operation &op) {
  if (implied.contains(&op))
    return success();
  if (auto gradients = dyn_cast<dfg::GradientsOp>(op))
    return printGradients(gradients);
  if (auto branch = dyn_cast<dfg::IfOp>(op))
    return printIf(branch);
  if (auto loop = dyn_cast<dfg::WhileOp>(op))
    return printWhile(loop);
  if (auto dataflow = dyn_cast<dfg::DataflowOp>(op))
    return printDataflow(dataflow);
  if (auto node = dyn_cast<dfg::NodeOp>(op))
    return printNode(node);
  if (auto binder = dyn_cast<dfg::BindSizeOp>(op)) {
    *os << indent << names.size(dfg::DimExpr::symbol(binder.getName())) << " = "
        << names.function("bounded") << "(" << names.use(binder.getCount()) << ", "
        << names.size(binder.getBoundExpr()) << ")\n";
    return success();
  }
  std::optional<std::string> text = expression(op);
  if (!text)
    return failWithoutText(op);
  if (failed(checkMeaning(op)))
    return failure();
  bool isStatement = isa<dfg::AssignOp>(op) && op.use_empty();
  *os << indent << placement(op);
  if (!isStatement)
    *os << targets(op.getResults());
  *os << *text << '\n';
  return success();
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

void GraphPrinter::printVariable(dfg::VariableOp variable) {
  // Variables without an initial value, as in imported graphs, start with zeros.
  auto first = initializers.find(variable.getSymName());
  auto type = cast<RankedTensorType>(variable.getTensorType());
  std::string zeros = filled(zeroOf(type.getElementType()), type, names.function("broadcast"));
  if (std::optional<StringRef> former = variable.getFormerly())
    *os << "@was(" << quoteString(*former) << ") ";
  if (variable.getFrozen())
    *os << "@frozen ";
  if (dfg::SliceAttr slice = variable.getSliceAttr())
    *os << "@slice(" << quoteString(slice.getWhole()) << ", axis: " << slice.getAxis()
        << ", first: " << slice.getFirst() << ", step: " << slice.getStep()
        << ", of: " << slice.getSize() << ") ";
  *os << placement(*variable) << "var " << quoteName(variable.getSymName()) << ": "
      << typeText(variable.getTensorType()) << " = "
      << (first == initializers.end() ? zeros : first->second) << '\n';
}

/// The operations on which the values depend, in their order.
static llvm::SetVector<Operation *> slice(Value value) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && found.insert(op))
      pending.append(op->operand_begin(), op->operand_end());
  }
  SmallVector<Operation *> ordered(found.begin(), found.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return llvm::SetVector<Operation *>(ordered.begin(), ordered.end());
}

/// Prints a private function for each initial value that is not a constant.
LogicalResult GraphPrinter::printInitializers(dfg::EntryOp entry) {
  for (Operation &op : entry.getBody().front()) {
    auto assign = dyn_cast<dfg::AssignOp>(op);
    if (!assign)
      continue;
    llvm::SetVector<Operation *> needed = slice(assign.getValue());
    auto whole = needed.size() == 1 ? dyn_cast<dfg::ConstantOp>(needed.front()) : dfg::ConstantOp();
    std::optional<std::string> simple =
        whole ? constant(whole.getValue(), assign.getVariable()) : std::nullopt;
    if (simple) {
      initializers[assign.getVariable()] = *simple;
      continue;
    }
    std::string name = names.createDeclared("_initial_");
    initializers[assign.getVariable()] = name + "()";
    names.enterInitializer();
    *os << "fn " << name << "() -> " << typeText(assign.getValue().getType()) << " {\n";
    for (Operation *step : needed)
      if (failed(printStatement(*step)))
        return failure();
    *os << "  return " << names.use(assign.getValue()) << "\n}\n"
        << std::exchange(declarations, {});
  }
  return success();
}

LogicalResult GraphPrinter::print() {
  findImplied();
  if (failed(checkNames(module)))
    return failure();
  *os << "graph " << quoteName(module.getSymName().value_or("converted")) << " edition 1\n\n";
  for (auto entry : module.getOps<dfg::EntryOp>())
    if (entry.getInitializer() && failed(printInitializers(entry)))
      return failure();
  for (Operation &op : *module.getBody()) {
    if (auto variable = dyn_cast<dfg::VariableOp>(op))
      printVariable(variable);
    else if (auto queue = dyn_cast<dfg::QueueOp>(op))
      printQueue(queue);
    else if (auto dataset = dyn_cast<dfg::DatasetOp>(op))
      printDataset(dataset);
    else if (!isa<dfg::EntryOp>(op))
      return failWithoutText(op);
  }
  for (auto entry : module.getOps<dfg::EntryOp>())
    if (!entry.getInitializer() && failed(printEntry(entry)))
      return failure();
  return success();
}

LogicalResult printGraph(ModuleOp module, raw_ostream &os, LongConstants *longConstants,
                         bool hasFunctions) {
  return GraphPrinter(module, os, longConstants, hasFunctions).print();
}

} // namespace tfc::text
