// Reads the protocol buffers of a model. Calls of the model's own functions are replaced by the
// nodes of these functions, so that later steps see only operations.

#include "frontend/onnx/Model.h"

#include "frontend/ForeignFile.h"
#include "frontend/importer/MappedTensors.h"
#include "frontend/onnx/Tensors.h"
#include "frontend/onnx/onnx.pb.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

Location Model::locate(MLIRContext *context) const {
  return FileLineColLoc::get(context, file, 0, 0);
}

Location Model::locate(MLIRContext *context, StringRef name) const {
  return NameLoc::get(StringAttr::get(context, name), locate(context));
}

//===----------------------------------------------------------------------===//
// The reader
//===----------------------------------------------------------------------===//

namespace {

using Opsets = std::map<std::string, int64_t>; // versions by domain

/// The names and attributes that the nodes of a function get from its call.
struct Call {
  std::string prefix; // of the function's own values
  const wire::Function *function = nullptr;
  std::map<std::string, std::string> names;
  std::map<std::string, Attr> attrs;
  Opsets opsets;
  const Call *outer = nullptr;

  std::string nameOf(const std::string &name) const {
    if (name.empty() || !function)
      return name;
    auto found = names.find(name);
    return found == names.end() ? prefix + name : found->second;
  }
};

class Reader {
public:
  Reader(MLIRContext *context, const ForeignFile &file)
      : context(context), file(file), tensors(context, file) {
    model.file = file.path.str();
  }
  std::optional<Model> read();

private:
  /// Deeper calls, and more nodes after expanding all, are treated as an error.
  static constexpr unsigned kMaxDepth = 64;
  static constexpr uint64_t kMaxNodes = 1 << 20, kMaxNameBytes = 1 << 28;

  unsigned readGraph(const wire::Graph &wire, const Call &call);
  void readInitializer(const wire::Tensor &wire, Graph &graph, const Call &call);
  void addNodes(const google::protobuf::RepeatedPtrField<wire::Node> &nodes, unsigned graph,
                const Call &call);
  Node readNode(const wire::Node &wire, const Call &call);
  void expand(const Node &node, const wire::Function &function, unsigned graph, const Call &call);
  /// Returns a tensor in an attribute. Those of functions are read once for all calls.
  ElementsAttr readTensor(const wire::Tensor &wire, StringRef node);
  Attr readAttr(const wire::Attribute &wire, StringRef node, const Call &call);
  void readAttrs(const wire::Node &wire, Node &node, const Call &call);
  bool isTooLarge() const { return nodeCount > kMaxNodes || nameBytes > kMaxNameBytes; }
  InFlightDiagnostic error(StringRef name) {
    hasErrors = true;
    return emitError(model.locate(context, name));
  }

  MLIRContext *context;
  const ForeignFile &file;
  TensorReader tensors;
  Model model;
  std::map<std::pair<std::string, std::string>, const wire::Function *> functions;
  llvm::DenseMap<const wire::Tensor *, ElementsAttr> attrTensors;
  uint64_t nodeCount = 0, nameBytes = 0;
  unsigned depth = 0;
  bool hasErrors = false;
};

} // namespace

template <typename List> static Opsets readOpsets(const List &list) {
  Opsets opsets;
  for (const wire::OperatorSet &set : list)
    opsets[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
  return opsets;
}

/// Returns the name of a node: its own, or else that of its first output, or of its operator.
static std::string nameOf(const wire::Node &node) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return output;
  return node.op_type();
}

static std::optional<PartialShape> readShape(const wire::Type::OfTensor &type) {
  if (!type.has_shape())
    return std::nullopt;
  PartialShape shape;
  for (const wire::Shape::Dim &dim : type.shape().dim()) {
    bool isNumber = dim.has_dim_value() && dim.dim_value() >= 0;
    shape.sizes.push_back(isNumber ? dim.dim_value() : -1);
    shape.names.push_back(isNumber ? "" : dim.dim_param());
  }
  return shape;
}

static Input readInput(const wire::Value &wire, const Call &call) {
  Input input;
  input.name = call.nameOf(wire.name());
  input.isTensor = wire.type().has_tensor_type();
  input.dtype = wire.type().tensor_type().elem_type();
  input.shape = readShape(wire.type().tensor_type());
  return input;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// AttributeProto.AttributeType.
enum AttributeType {
  UNDEFINED,
  FLOAT,
  INT,
  STRING,
  TENSOR,
  GRAPH,
  FLOATS,
  INTS,
  STRINGS,
  TENSORS,
  GRAPHS
};
} // namespace

/// Returns the type of an attribute. The first version of the format does not store it; it follows
/// from the field that is set.
static int typeOf(const wire::Attribute &wire) {
  if (wire.type() != UNDEFINED)
    return wire.type();
  std::pair<bool, AttributeType> fields[] = {
      {wire.has_f(), FLOAT},
      {wire.has_i(), INT},
      {wire.has_s(), STRING},
      {wire.has_t(), TENSOR},
      {wire.has_g(), GRAPH},
      {!wire.floats().empty(), FLOATS},
      {!wire.ints().empty(), INTS},
      {!wire.strings().empty(), STRINGS},
      {!wire.tensors().empty(), TENSORS},
  };
  for (auto [isThere, type] : fields)
    if (isThere)
      return type;
  return INTS; // an empty list
}

static AttrKind kindOf(const wire::Attribute &wire) {
  switch (typeOf(wire)) {
  case FLOAT:
    return AttrKind::Float;
  case INT:
    return AttrKind::Int;
  case STRING:
    return AttrKind::String;
  case TENSOR:
    return AttrKind::Tensor;
  case GRAPH:
    return AttrKind::Graph;
  case FLOATS:
    return wire.floats().empty() ? AttrKind::EmptyList : AttrKind::Floats;
  case INTS:
    return wire.ints().empty() ? AttrKind::EmptyList : AttrKind::Ints;
  case STRINGS:
    return wire.strings().empty() ? AttrKind::EmptyList : AttrKind::Strings;
  default:
    return AttrKind::OtherList;
  }
}

ElementsAttr Reader::readTensor(const wire::Tensor &wire, StringRef node) {
  auto [found, isNew] = attrTensors.try_emplace(&wire);
  if (!isNew)
    return found->second;
  std::string damage;
  ElementsAttr tensor = tensors.read(wire, node, damage);
  if (!damage.empty())
    error(node) << damage << " [graph-file]";
  return found->second = tensor;
}

Attr Reader::readAttr(const wire::Attribute &wire, StringRef node, const Call &call) {
  Attr attr;
  attr.kind = kindOf(wire);
  attr.number = wire.i();
  attr.real = wire.f();
  attr.text = wire.s();
  attr.numbers.assign(wire.ints().begin(), wire.ints().end());
  attr.reals.assign(wire.floats().begin(), wire.floats().end());
  attr.texts.assign(wire.strings().begin(), wire.strings().end());
  if (attr.kind == AttrKind::Graph)
    attr.number = readGraph(wire.g(), call);
  if (attr.kind != AttrKind::Tensor)
    return attr;
  attr.number = wire.t().data_type();
  attr.tensor = readTensor(wire.t(), node);
  return attr;
}

void Reader::readAttrs(const wire::Node &wire, Node &node, const Call &call) {
  for (const wire::Attribute &attr : wire.attribute()) {
    if (attr.ref_attr_name().empty())
      node.attrs[attr.name()] = readAttr(attr, node.name, call);
    else if (auto found = call.attrs.find(attr.ref_attr_name()); found != call.attrs.end())
      node.attrs[attr.name()] = found->second;
  }
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Node Reader::readNode(const wire::Node &wire, const Call &call) {
  Node node;
  node.name = call.prefix + nameOf(wire);
  std::string domain = wire.domain() == "ai.onnx" ? "" : wire.domain();
  node.op = domain.empty() ? wire.op_type() : domain + "." + wire.op_type();
  auto version = call.opsets.find(domain);
  node.version = version == call.opsets.end() ? 1 : version->second;
  for (const std::string &input : wire.input())
    node.inputs.push_back(call.nameOf(input));
  for (const std::string &output : wire.output())
    node.outputs.push_back(call.nameOf(output));
  readAttrs(wire, node, call);
  return node;
}

void Reader::expand(const Node &node, const wire::Function &function, unsigned graph,
                    const Call &call) {
  for (const Call *outer = &call; outer; outer = outer->outer)
    if (outer->function == &function) {
      error(node.name) << "the function '" << function.name() << "' calls itself [graph-file]";
      return;
    }
  Call inner;
  inner.prefix = node.name + "/";
  inner.function = &function;
  inner.opsets = readOpsets(function.opset_import());
  inner.outer = &call;
  for (const wire::Attribute &attr : function.attribute_proto())
    inner.attrs[attr.name()] = readAttr(attr, node.name, call);
  for (const auto &[name, attr] : node.attrs)
    inner.attrs[name] = attr;
  for (auto [i, name] : enumerate(function.input()))
    inner.names[name] = i < node.inputs.size() ? node.inputs[i] : "";
  // An input that is returned as it is has two names.
  std::vector<std::pair<std::string, std::string>> passed;
  for (auto [i, name] : enumerate(function.output())) {
    if (i >= node.outputs.size() || node.outputs[i].empty())
      continue;
    if (auto [known, isNew] = inner.names.try_emplace(name, node.outputs[i]); !isNew)
      passed.emplace_back(known->second, node.outputs[i]);
  }
  addNodes(function.node(), graph, inner);
  for (const auto &[from, to] : passed) {
    Node &identity = model.graphs[graph].nodes.emplace_back();
    identity.name = inner.prefix + to;
    identity.op = "Identity";
    identity.inputs = {from};
    identity.outputs = {to};
  }
}

/// The names of the nodes of functions contain those of all calls around them.
static uint64_t bytesOfNames(const Node &node) {
  uint64_t bytes = node.name.size();
  for (const auto *names : {&node.inputs, &node.outputs})
    for (const std::string &name : *names)
      bytes += name.size();
  return bytes;
}

void Reader::addNodes(const google::protobuf::RepeatedPtrField<wire::Node> &nodes, unsigned graph,
                      const Call &call) {
  if (++depth > kMaxDepth)
    error(call.prefix) << "expected at most " << kMaxDepth
                       << " functions and graphs inside each other [graph-file]";
  for (const wire::Node &wire : nodes) {
    if (hasErrors && (depth > kMaxDepth || isTooLarge()))
      break;
    Node node = readNode(wire, call);
    ++nodeCount;
    nameBytes += bytesOfNames(node);
    if (isTooLarge()) {
      error(nameOf(wire)) << "expected at most " << kMaxNodes << " nodes, with names of "
                          << kMaxNameBytes << " bytes in all [graph-file]";
      break;
    }
    auto function =
        functions.find({wire.domain() == "ai.onnx" ? "" : wire.domain(), wire.op_type()});
    if (function != functions.end())
      expand(node, *function->second, graph, call);
    else
      model.graphs[graph].nodes.push_back(std::move(node));
  }
  --depth;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void Reader::readInitializer(const wire::Tensor &wire, Graph &graph, const Call &call) {
  std::string damage;
  ElementsAttr value = tensors.read(wire, wire.name(), damage);
  if (!damage.empty())
    error(wire.name()) << damage << " [graph-file]";
  graph.initializers.push_back({call.nameOf(wire.name()), wire.data_type(), value});
}

unsigned Reader::readGraph(const wire::Graph &wire, const Call &call) {
  unsigned number = model.graphs.size();
  Graph graph;
  graph.name = wire.name();
  for (const wire::Tensor &tensor : wire.initializer())
    readInitializer(tensor, graph, call);
  for (const wire::SparseTensor &tensor : wire.sparse_initializer())
    error(tensor.values().name()) << "tfc does not support sparse tensors [dtype]";
  for (const wire::Value &input : wire.input())
    graph.inputs.push_back(readInput(input, call));
  for (const wire::Value &output : wire.output())
    graph.outputs.push_back(call.nameOf(output.name()));
  model.graphs.push_back(std::move(graph));
  addNodes(wire.node(), number, call);
  return number;
}

/// Parses a file, but leaves the bytes of large tensors in it.
static bool parseModel(StringRef file, wire::Model &model) {
  enum : unsigned { Model, Graph, Node, Attribute, Tensor, Function };
  static constexpr importer::MessageField kFields[] = {
      {Model, wire::Model::kGraphFieldNumber, Graph},
      {Model, wire::Model::kFunctionsFieldNumber, Function},
      {Function, wire::Function::kNodeFieldNumber, Node},
      {Graph, wire::Graph::kNodeFieldNumber, Node},
      {Graph, wire::Graph::kInitializerFieldNumber, Tensor},
      {Node, wire::Node::kAttributeFieldNumber, Attribute},
      {Attribute, wire::Attribute::kTFieldNumber, Tensor},
      {Attribute, wire::Attribute::kGFieldNumber, Graph},
  };
  return importer::parseWithMappedTensors(file,
                                          {kFields, Tensor, wire::Tensor::kRawDataFieldNumber,
                                           wire::Tensor::kMappedOffsetFieldNumber,
                                           wire::Tensor::kMappedSizeFieldNumber},
                                          model);
}

std::optional<Model> Reader::read() {
  wire::Model wire;
  if (!parseModel(file.buffer->getBuffer(), wire) || !wire.has_graph()) {
    emitError(model.locate(context))
        << "this is not an ONNX model, or its graphs are nested too deeply [graph-file]";
    return std::nullopt;
  }
  for (const wire::Function &function : wire.functions())
    functions[{function.domain() == "ai.onnx" ? "" : function.domain(), function.name()}] =
        &function;
  Call whole;
  whole.opsets = readOpsets(wire.opset_import());
  readGraph(wire.graph(), whole);
  return hasErrors ? std::nullopt : std::optional(std::move(model));
}

std::optional<Model> readModel(MLIRContext *context, const ForeignFile &file) {
  if (file.buffer->getBufferSize() > size_t(INT32_MAX)) {
    emitError(FileLineColLoc::get(context, file.path, 0, 0))
        << "an ONNX model is limited to 2 GB, without the weights in other files [graph-file]";
    return std::nullopt;
  }
  return Reader(context, file).read();
}

} // namespace tfc::onnx
