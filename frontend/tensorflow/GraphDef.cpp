// Reads the protocol buffers of a GraphDef. Element data is checked here, so that tensors of a node
// are either valid or reported.

#include "frontend/tensorflow/GraphDef.h"
#include "frontend/Fmt.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Dtypes.h"
#include "frontend/ForeignFile.h"
#include "frontend/TensorFile.h"
#include "frontend/importer/MappedTensors.h"
#include "frontend/tensorflow/Functions.h"
#include "frontend/tensorflow/graph.pb.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

namespace {
/// A DataType of TensorFlow, which tensors of the dialect may or may not support.
struct Dtype {
  int number;
  StringLiteral name;
};
} // namespace

static constexpr Dtype kDtypes[] = {
    {1, "float32"},  {2, "float64"}, {3, "int32"},       {4, "uint8"},     {5, "int16"},
    {6, "int8"},     {7, "string"},  {8, "complex64"},   {9, "int64"},     {10, "bool"},
    {11, "qint8"},   {12, "quint8"}, {13, "qint32"},     {14, "bfloat16"}, {15, "qint16"},
    {16, "quint16"}, {17, "uint16"}, {18, "complex128"}, {19, "float16"},  {20, "resource"},
    {21, "variant"}, {22, "uint32"}, {23, "uint64"},
};

/// The numbers of references are those of their types plus 100.
static int64_t plainDtype(int64_t dtype) { return dtype > 100 ? dtype - 100 : dtype; }

std::string dtypeName(int64_t dtype) {
  for (const Dtype &known : kDtypes)
    if (known.number == plainDtype(dtype))
      return known.name.str();
  return "type " + std::to_string(dtype);
}

Type elementTypeOf(MLIRContext *context, int64_t dtype) {
  std::string name = dtypeName(dtype);
  // Quantised integers are integers; what they stand for is in other tensors.
  StringRef plain = name;
  plain.consume_front("q");
  return dfg::elementTypeNamed(context, plain, &dfg::Dtype::longName);
}

bool isComplexDtype(int64_t dtype) {
  return plainDtype(dtype) == kComplex64Dtype || plainDtype(dtype) == kComplex128Dtype;
}

Type planeTypeOf(MLIRContext *context, int64_t dtype) {
  if (!isComplexDtype(dtype))
    return {};
  return plainDtype(dtype) == kComplex128Dtype ? Type(Float64Type::get(context))
                                               : Type(Float32Type::get(context));
}

Location Graph::locate(MLIRContext *context) const {
  return FileLineColLoc::get(context, file, 0, 0);
}

Location Graph::locate(MLIRContext *context, unsigned node) const {
  return NameLoc::get(StringAttr::get(context, nodes[node].name), locate(context));
}

std::string Graph::edgeName(Edge edge) const {
  return fmt::format("{}:{}", nodes[edge.node].name, edge.output);
}

std::optional<Edge> Graph::findTensor(StringRef name) const {
  auto parts = splitTensorName(name);
  if (!parts)
    return std::nullopt;
  if (auto result = results.find(fmt::format("{}:{}", parts->first, parts->second));
      result != results.end())
    return result->second;
  auto found = byName.find(parts->first);
  return found == byName.end() ? std::nullopt : std::optional(Edge{found->second, parts->second});
}

unsigned Graph::add(Node node) {
  unsigned index = nodes.size();
  std::string name = node.name;
  while (!byName.try_emplace(node.name, index).second)
    node.name = fmt::format("{}_{}", name, ++suffixes[name]);
  nodes.push_back(std::move(node));
  return index;
}

const InitializedVariable *Graph::findVariable(unsigned node) const {
  auto found = variables.find(variableName(nodes[node]));
  return found == variables.end() ? nullptr : &found->second;
}

std::optional<int64_t> constantOf(const Node &node) {
  auto value = node.op == "Const" ? dyn_cast_or_null<DenseElementsAttr>(node.attr("value").tensor)
                                  : DenseElementsAttr();
  if (!value || !value.isSplat() || !value.getElementType().isSignlessInteger() ||
      value.getElementType().isInteger(1))
    return std::nullopt;
  return value.getSplatValue<APInt>().getSExtValue();
}

std::string variableName(const Node &node) {
  const std::string &shared = node.attr("shared_name").text;
  return shared.empty() ? node.name : shared;
}

std::string portName(StringRef tensor) {
  tensor.consume_back(":0");
  return tensor.str();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Tensors of more elements must not abbreviate repeated ones.
static constexpr int64_t kMaxSpelled = int64_t(1) << 26;

static PartialShape readShape(const wire::Shape &shape) {
  PartialShape result;
  result.hasRank = !shape.unknown_rank();
  for (const wire::Shape::Dim &dim : shape.dim()) {
    result.sizes.push_back(std::max<int64_t>(dim.size(), -1));
    result.names.push_back(dim.name());
  }
  return result;
}

/// TensorFlow's tensors have no more axes.
static constexpr int kMaxRank = 254;

static bool checkShape(const wire::Shape &shape, std::string &error) {
  for (const wire::Shape::Dim &dim : shape.dim())
    if (dim.size() < -1)
      error =
          fmt::format("expected sizes of a shape, or -1 for unknown ones, but got {}", dim.size());
  if (shape.dim_size() > kMaxRank)
    error =
        fmt::format("expected a shape of at most {} axes, but got {}", kMaxRank, shape.dim_size());
  return error.empty();
}

/// Returns the number of elements, or std::nullopt if the shape is unknown or far too large.
static std::optional<int64_t> countElements(const PartialShape &shape) {
  if (!shape.isStatic())
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : shape.sizes)
    if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 40))
      return std::nullopt;
  return count;
}

static Attribute makeElement(Type type, double value) { return FloatAttr::get(type, value); }

/// Elements of f16 and bf16 are given by their bits.
static SmallVector<Attribute> spelledHalves(const wire::Tensor &tensor, Type type,
                                            std::string &error) {
  const fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  SmallVector<Attribute> elements;
  for (int32_t bits : tensor.half_val()) {
    if (!isUInt<16>(bits)) {
      error = fmt::format("its tensor has the element {}, which is not of 16 bits", bits);
      return {};
    }
    elements.push_back(FloatAttr::get(type, APFloat(semantics, APInt(16, bits))));
  }
  return elements;
}

/// Returns true if the type has the number, which is one of i64 or of u64.
template <typename Number> static bool holds(IntegerType type, Number value) {
  bool isSigned = !type.isUnsigned() && type.getWidth() > 1;
  if (value < 0)
    return isSigned && isIntN(type.getWidth(), value);
  return isUIntN(type.getWidth() - (isSigned ? 1 : 0), value);
}

/// Returns the listed elements, of which the last one is repeated for the rest. If one is not of
/// the type, sets `error` and returns no elements.
static SmallVector<Attribute> spelledElements(const wire::Tensor &tensor, Type type,
                                              std::string &error) {
  if (type.isF16() || type.isBF16())
    return spelledHalves(tensor, type, error);
  SmallVector<Attribute> elements;
  for (float value : tensor.float_val())
    elements.push_back(makeElement(type, value));
  if (isa<FloatType>(type)) {
    for (double value : tensor.double_val())
      elements.push_back(makeElement(type, value));
    return elements;
  }
  elements.clear();
  auto integer = cast<IntegerType>(type);
  auto add = [&](auto value) {
    if (error.empty() && !holds(integer, value))
      error = fmt::format("its tensor has the element {}, which is out of range for {}", value,
                          dfg::toText(type));
    elements.push_back(
        IntegerAttr::get(type, APInt(64, uint64_t(value)).trunc(integer.getWidth())));
  };
  for (int32_t value : tensor.int_val())
    add(int64_t(value));
  for (int64_t value : tensor.int64_val())
    add(value);
  for (uint64_t value : tensor.uint32_val())
    add(value);
  for (uint64_t value : tensor.uint64_val())
    add(value);
  for (bool value : tensor.bool_val())
    add(int64_t(value));
  return elements;
}

/// Returns null and sets `error` if an element or the number of elements is wrong.
static ElementsAttr readSpelled(const wire::Tensor &tensor, RankedTensorType type, int64_t count,
                                std::string &error) {
  Type element = type.getElementType();
  SmallVector<Attribute> elements = spelledElements(tensor, element, error);
  if (!error.empty())
    return {};
  if (elements.empty())
    return DenseElementsAttr::get(type, Builder(element.getContext()).getZeroAttr(element));
  if (elements.size() == 1 && count > 0)
    return DenseElementsAttr::get(type, elements.front());
  if (int64_t(elements.size()) > count || count > kMaxSpelled) {
    error = "its tensor has more or fewer elements than its shape";
    return {};
  }
  elements.resize(count, elements.back());
  return DenseElementsAttr::get(type, elements);
}

/// Returns a complex tensor as one of its planes. Returns null and sets `error` if it is damaged.
static ElementsAttr readComplex(const wire::Tensor &tensor, Type plane, ArrayRef<int64_t> sizes,
                                int64_t count, StringRef bytes, std::string &error) {
  unsigned width = plane.getIntOrFloatBitWidth() / 8;
  SmallVector<Attribute> parts[2];
  auto add = [&](double real, double imaginary) {
    parts[0].push_back(makeElement(plane, real));
    parts[1].push_back(makeElement(plane, imaginary));
  };
  auto readPart = [&](const char *at) {
    return width == 4 ? double(support::endian::read<float, endianness::little>(at))
                      : support::endian::read<double, endianness::little>(at);
  };
  for (size_t at = 0; at + 2 * width <= bytes.size(); at += 2 * width)
    add(readPart(bytes.data() + at), readPart(bytes.data() + at + width));
  for (int i = 0; i + 1 < tensor.scomplex_val_size() && bytes.empty(); i += 2)
    add(tensor.scomplex_val(i), tensor.scomplex_val(i + 1));
  for (int i = 0; i + 1 < tensor.dcomplex_val_size() && bytes.empty(); i += 2)
    add(tensor.dcomplex_val(i), tensor.dcomplex_val(i + 1));
  bool isWhole = bytes.empty() || bytes.size() == size_t(2 * width * count);
  if (!isWhole || int64_t(parts[0].size()) > count || count > kMaxSpelled) {
    error = "its tensor has more or fewer elements than its shape";
    return {};
  }
  if (parts[0].empty())
    add(0, 0);
  for (SmallVector<Attribute> &part : parts)
    part.resize(count, part.back());
  SmallVector<int64_t> shape{2};
  llvm::append_range(shape, sizes);
  return DenseElementsAttr::get(RankedTensorType::get(shape, plane),
                                to_vector(concat<Attribute>(parts[0], parts[1])));
}

namespace {
class Reader {
public:
  Reader(MLIRContext *context, const ForeignFile &file) : context(context), file(file) {
    graph.file = file.path.str();
  }
  std::optional<Graph> read(wire::Graph wire);

private:
  ElementsAttr readTensor(const wire::Tensor &tensor, StringRef name, std::string &error);
  void addNode(const wire::Node &node);
  void connect(unsigned node, const std::string &input);
  Attr readAttr(const wire::Attr &attr, StringRef name, std::string &error);
  InFlightDiagnostic error(unsigned node) {
    hasErrors = true;
    return emitError(graph.locate(context, node));
  }

  MLIRContext *context;
  const ForeignFile &file;
  Graph graph;
  bool hasErrors = false;
};
} // namespace

/// Returns null and sets `error` if the tensor is damaged; returns null without an error if its
/// dtype is not supported.
ElementsAttr Reader::readTensor(const wire::Tensor &tensor, StringRef name, std::string &error) {
  Type plane = planeTypeOf(context, tensor.dtype());
  Type element = plane ? plane : elementTypeOf(context, tensor.dtype());
  if (!element)
    return {};
  std::optional<int64_t> count = countElements(readShape(tensor.tensor_shape()));
  error = "the shape of its tensor is not known";
  if (!count)
    return {};
  auto type = RankedTensorType::get(readShape(tensor.tensor_shape()).sizes, element);
  error.clear();
  StringRef bytes = file.buffer->getBuffer();
  ElementsAttr result;
  if (plane) {
    StringRef given = tensor.mapped_size()
                          ? bytes.substr(tensor.mapped_offset(), tensor.mapped_size())
                          : StringRef(tensor.tensor_content());
    return readComplex(tensor, plane, type.getShape(), *count, given, error);
  }
  if (tensor.mapped_size())
    result = mapTensor(type, bytes.substr(tensor.mapped_offset(), tensor.mapped_size()),
                       file.buffer, name);
  else if (tensor.tensor_content().empty())
    return readSpelled(tensor, type, *count, error);
  else
    result = makeTensor(type, tensor.tensor_content(), name);
  if (!result)
    error = "its tensor has more or fewer bytes than its shape";
  return result;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static AttrKind kindOf(const wire::Attr::List &list) {
  if (!list.i().empty())
    return AttrKind::Ints;
  if (!list.type().empty())
    return AttrKind::Types;
  if (!list.shape().empty())
    return AttrKind::Shapes;
  if (!list.f().empty())
    return AttrKind::Floats;
  if (!list.s().empty())
    return AttrKind::Strings;
  return !list.b().empty() ? AttrKind::OtherList : AttrKind::EmptyList;
}

static AttrKind kindOf(const wire::Attr &attr) {
  switch (attr.value_case()) {
  case wire::Attr::kList:
    return kindOf(attr.list());
  case wire::Attr::kS:
    return AttrKind::String;
  case wire::Attr::kI:
    return AttrKind::Int;
  case wire::Attr::kF:
    return AttrKind::Float;
  case wire::Attr::kB:
    return AttrKind::Bool;
  case wire::Attr::kType:
    return AttrKind::Type;
  case wire::Attr::kShape:
    return AttrKind::Shape;
  case wire::Attr::kTensor:
    return AttrKind::Tensor;
  case wire::Attr::kPlaceholder:
  case wire::Attr::kFunc:
  case wire::Attr::VALUE_NOT_SET:
    break;
  }
  return AttrKind::None;
}

Attr Reader::readAttr(const wire::Attr &attr, StringRef name, std::string &error) {
  Attr result;
  result.kind = kindOf(attr);
  result.number = attr.has_b() ? attr.b() : attr.has_type() ? attr.type() : attr.i();
  result.real = attr.f();
  result.text = attr.s();
  if (attr.has_shape() && checkShape(attr.shape(), error))
    result.shape = readShape(attr.shape());
  else
    result.shape.hasRank = false;
  if (attr.has_tensor() && !checkShape(attr.tensor().tensor_shape(), error))
    return result;
  if (attr.has_tensor())
    result.tensor = readTensor(attr.tensor(), name, error);
  const auto &texts = attr.tensor().string_val();
  result.texts.assign(texts.begin(), texts.end());
  const wire::Attr::List &list = attr.list();
  result.numbers.assign(list.i().begin(), list.i().end());
  result.numbers.insert(result.numbers.end(), list.type().begin(), list.type().end());
  result.reals.assign(list.f().begin(), list.f().end());
  result.texts.insert(result.texts.end(), list.s().begin(), list.s().end());
  for (const wire::Shape &shape : list.shape())
    if (checkShape(shape, error))
      result.shapes.push_back(readShape(shape));
  return result;
}

void Reader::addNode(const wire::Node &wire) {
  unsigned index = graph.nodes.size();
  Node &node = graph.nodes.emplace_back();
  node.name = wire.name();
  node.op = wire.op();
  if (node.name.empty())
    error(index) << "expected a name for each node, but node " << index << " has none [graph-file]";
  else if (!graph.byName.try_emplace(node.name, index).second)
    error(index) << "expected one node of this name, but got two [graph-file]";
  std::string reason;
  std::optional<dfg::DeviceName> device = dfg::DeviceName::parse(wire.device(), reason);
  if (device)
    node.device = *device;
  else
    error(index) << "'" << wire.device() << "' is not the name of a device: " << reason
                 << " [bad-device]";
  for (const auto &[name, attr] : wire.attr()) {
    std::string damage;
    node.attrs[name] = readAttr(attr, node.name, damage);
    if (!damage.empty())
      error(index) << damage << " [graph-file]";
  }
}

void Reader::connect(unsigned index, const std::string &input) {
  StringRef text = input;
  bool isControl = text.consume_front("^");
  auto parts = splitTensorName(text);
  auto found = parts ? graph.byName.find(isControl ? text : parts->first) : graph.byName.end();
  if (found == graph.byName.end()) {
    error(index) << "its input '" << input << "' is not a node of the graph [graph-file]";
    return;
  }
  Node &node = graph.nodes[index];
  if (isControl)
    node.controls.push_back(found->second);
  else
    node.inputs.add({found->second, parts->second});
}

/// Parses a file whose outermost message is a SavedModel or a graph, but leaves the bytes of large
/// tensors in it.
static bool parse(StringRef file, bool isGraph, google::protobuf::MessageLite &message) {
  // The outermost message is 0.
  enum : unsigned { Outermost, MetaGraph, Graph, Node, Entry, Attr, Tensor, Library, Function };
  constexpr unsigned kValueOfEntry = 2; // of maps
  const unsigned graph = isGraph ? Outermost : Graph;
  const importer::MessageField fields[] = {
      {isGraph ? unsigned(Function) + 1 : Outermost, wire::SavedModel::kMetaGraphsFieldNumber,
       MetaGraph},
      {MetaGraph, wire::MetaGraph::kGraphDefFieldNumber, Graph},
      {graph, wire::Graph::kNodeFieldNumber, Node},
      {graph, wire::Graph::kLibraryFieldNumber, Library},
      {Library, wire::Library::kFunctionFieldNumber, Function},
      {Function, wire::Function::kNodeDefFieldNumber, Node},
      {Node, wire::Node::kAttrFieldNumber, Entry},
      {Entry, kValueOfEntry, Attr},
      {Attr, wire::Attr::kTensorFieldNumber, Tensor},
  };
  return importer::parseWithMappedTensors(file,
                                          {fields, Tensor, wire::Tensor::kTensorContentFieldNumber,
                                           wire::Tensor::kMappedOffsetFieldNumber,
                                           wire::Tensor::kMappedSizeFieldNumber},
                                          message);
}

std::optional<Graph> Reader::read(wire::Graph wire) {
  ResultNames results = inlineFunctions(wire, [&](StringRef node, const std::string &text) {
    hasErrors = true;
    emitError(NameLoc::get(StringAttr::get(context, node), graph.locate(context))) << text;
  });
  if (hasErrors)
    return std::nullopt;
  for (const wire::Node &node : wire.node())
    addNode(node);
  for (auto [index, node] : enumerate(wire.node()))
    for (const std::string &input : node.input())
      connect(index, input);
  for (const auto &[old, replacement] : results)
    if (auto parts = splitTensorName(replacement))
      if (auto found = graph.byName.find(parts->first); found != graph.byName.end())
        graph.results[old] = {found->second, parts->second};
  if (hasErrors)
    return std::nullopt;
  return std::move(graph);
}

static Location fileOf(MLIRContext *context, const ForeignFile &file) {
  return FileLineColLoc::get(context, file.path, 0, 0);
}

/// Protocol buffers have no more bytes.
static bool hasValidSize(MLIRContext *context, const ForeignFile &file, StringRef kind) {
  if (file.buffer->getBufferSize() <= size_t(INT32_MAX))
    return true;
  emitError(fileOf(context, file)) << kind << " is limited to 2 GB [graph-file]";
  return false;
}

std::optional<Graph> makeGraph(MLIRContext *context, const ForeignFile &file, wire::Graph nodes) {
  return Reader(context, file).read(std::move(nodes));
}

std::optional<Graph> readGraphDef(MLIRContext *context, const ForeignFile &file) {
  wire::Graph nodes;
  if (!hasValidSize(context, file, "a GraphDef"))
    return std::nullopt;
  if (parse(file.buffer->getBuffer(), /*isGraph=*/true, nodes) && !nodes.node().empty())
    return makeGraph(context, file, std::move(nodes));
  emitError(fileOf(context, file)) << "this is not a binary GraphDef [graph-file]";
  return std::nullopt;
}

bool parseSavedModel(MLIRContext *context, const ForeignFile &file, wire::SavedModel &model) {
  if (!hasValidSize(context, file, "a SavedModel"))
    return false;
  if (parse(file.buffer->getBuffer(), /*isGraph=*/false, model) && !model.meta_graphs().empty())
    return true;
  emitError(fileOf(context, file)) << "this is not a SavedModel [graph-file]";
  return false;
}

} // namespace tfc::tensorflow
