// Copies the nodes of functions into the graph, under new names. Inputs in functions name outputs
// ("split:output:1"), those of the graph number them ("split:1").

#include "frontend/Fmt.h"
#include "frontend/tensorflow/Inliner.h"
#include "frontend/tensorflow/OutputNames.h"
#include "llvm/ADT/STLExtras.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace llvm;

namespace tfc::tensorflow {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static bool isControl(StringRef input) { return input.starts_with("^"); }

Tensors dataOf(const wire::Node &node) {
  Tensors data;
  for (const std::string &input : node.input())
    if (!isControl(input))
      data.push_back(input);
  return data;
}

Tensors controlsOf(const wire::Node &node) {
  Tensors controls;
  for (StringRef input : node.input())
    if (input.consume_front("^"))
      controls.push_back(input.str());
  return controls;
}

std::string nodeOf(StringRef tensor) {
  auto parts = splitTensorName(tensor);
  return (parts ? parts->first : tensor).str();
}

std::string output(const std::string &node, unsigned number) {
  return fmt::format("{}:{}", node, number);
}

std::string Inliner::fresh(std::string name) {
  std::string unique = name;
  for (unsigned i = 1; !names.insert(unique).second; ++i)
    unique = fmt::format("{}_{}", name, i);
  return unique;
}

/// Returns the tensor that has taken the place of a result, and notes it for all on the way there.
/// In a damaged graph results may be those of each other.
std::string Inliner::resolved(StringRef tensor) {
  std::string current = tensor.str();
  std::vector<std::string> path;
  while (path.size() <= results.size()) {
    auto parts = splitTensorName(current);
    auto found = parts ? results.find(output(parts->first.str(), parts->second)) : results.end();
    if (found == results.end())
      break;
    path.push_back(found->first().str());
    current = found->second;
  }
  for (const std::string &result : path)
    results[result] = current;
  return current;
}

//===----------------------------------------------------------------------===//
// The nodes of a function
//===----------------------------------------------------------------------===//

const wire::Attr *findAttr(const Attrs &attrs, const std::string &name) {
  auto found = attrs.find(name);
  return found == attrs.end() ? nullptr : &found->second;
}

/// The tensors of a parameter or of a result: one, unless it is a list.
static int64_t countOf(const wire::Arg &arg, const Attrs &attrs) {
  constexpr int64_t kMost = 1 << 16;
  const wire::Attr *number = findAttr(attrs, arg.number_attr());
  const wire::Attr *types = findAttr(attrs, arg.type_list_attr());
  return types    ? types->list().type_size()
         : number ? std::clamp<int64_t>(number->i(), 0, kMost)
                  : 1;
}

/// Gives the inputs of the caller to the parameters.
bool Inliner::bind(const wire::Node &caller, Scope &scope, const Tensors &inputs) {
  const wire::Function::Signature &signature = scope.callee.function->signature();
  size_t next = 0, expected = 0;
  for (const wire::Arg &arg : signature.input_arg()) {
    auto count = size_t(countOf(arg, *scope.callee.attrs));
    expected += count;
    Tensors &own = scope.arguments[arg.name()];
    for (; count > 0 && next < inputs.size(); --count)
      own.push_back(inputs[next++]);
  }
  if (expected == inputs.size())
    return true;
  fail(caller.name(), fmt::format("its function '{}' has {} inputs, but got {} [graph-edge]",
                                  signature.name(), expected, inputs.size()));
  return false;
}

/// Returns the number of an output of a node in a function, by its name there.
unsigned Inliner::numberOf(const Scope &scope, StringRef name, StringRef output) {
  for (const wire::Node &node : scope.callee.function->node_def()) {
    if (node.name() != name)
      continue;
    const wire::Function *function = find(node.op());
    if (!function)
      return outputNamed(node, output);
    int64_t number = 0;
    for (const wire::Arg &arg : function->signature().output_arg()) {
      if (arg.name() == output)
        break;
      number += countOf(arg, node.attr());
    }
    return unsigned(number);
  }
  return 0;
}

/// Returns the tensor, or the control edge, that an input means in a function.
std::string Inliner::tensorOf(const Scope &scope, StringRef text) {
  bool isEdge = text.consume_front("^");
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  unsigned last = 0;
  bool hasNumber = parts.size() > 1 && !parts.back().getAsInteger(10, last) && last < kMaxNodes;
  if (auto found = scope.arguments.find(parts[0]); found != scope.arguments.end()) {
    unsigned number = hasNumber ? last : 0;
    if (number >= found->second.size())
      return text.str(); // not a node: an error where the graph is read
    const std::string &tensor = found->second[number];
    return isEdge ? "^" + nodeOf(tensor) : tensor;
  }
  auto node = scope.names.find(parts[0]);
  if (node == scope.names.end())
    return text.str();
  if (isEdge)
    return "^" + node->second;
  bool isNamed = parts.size() == 3 || (parts.size() == 2 && !hasNumber);
  unsigned first = isNamed ? numberOf(scope, parts[0], parts[1]) : 0;
  return output(node->second, first + (hasNumber ? last : 0));
}

Tensors Inliner::resultsOf(const wire::Node &caller, const Scope &scope) {
  Tensors tensors;
  const wire::Function &function = *scope.callee.function;
  for (const wire::Arg &arg : function.signature().output_arg()) {
    auto found = function.ret().find(arg.name());
    if (found == function.ret().end()) {
      fail(caller.name(), fmt::format("the function '{}' does not compute its result '{}' "
                                      "[graph-file]",
                                      function.signature().name(), arg.name()));
      return {};
    }
    bool isList = !arg.number_attr().empty() || !arg.type_list_attr().empty();
    for (int64_t i = 0, count = countOf(arg, *scope.callee.attrs); i < count; ++i)
      tensors.push_back(
          tensorOf(scope, isList ? fmt::format("{}:{}", found->second, i) : found->second));
  }
  return tensors;
}

bool Inliner::outlivesPivot(const wire::Node &copy, const Place &place) const {
  // The function that a node calls may have nodes without inputs.
  if (callKindOf(copy.op()) != CallKind::None || find(copy.op()))
    return true;
  return llvm::all_of(copy.input(), [&](StringRef input) {
    return !isControl(input) && llvm::is_contained(place.outer, input);
  });
}

wire::Node Inliner::copyOf(const wire::Node &node, const Scope &scope, const Place &place) {
  wire::Node copy = node;
  copy.set_name(scope.names.lookup(node.name()));
  if (node.device().empty())
    copy.set_device(place.device);
  copy.clear_input();
  for (const std::string &input : node.input())
    copy.add_input(tensorOf(scope, input));
  if (!place.pivot.empty() && outlivesPivot(copy, place))
    copy.add_input("^" + place.pivot);
  for (auto &[name, attr] : *copy.mutable_attr()) {
    if (const wire::Attr *value = attr.value_case() == wire::Attr::kPlaceholder
                                      ? findAttr(*scope.callee.attrs, attr.placeholder())
                                      : nullptr)
      attr = wire::Attr(*value);
    if (name != "_class" || !attr.has_list())
      continue;
    for (std::string &neighbour : *attr.mutable_list()->mutable_s()) {
      StringRef text = neighbour;
      if (text.consume_front("loc:@") && scope.names.contains(text))
        neighbour = "loc:@" + scope.names.lookup(text);
    }
  }
  return copy;
}

bool Inliner::checkExtent(const wire::Node &caller, const wire::Function &function,
                          unsigned depth) {
  const FunctionExtent &extent = extents.of(function, depth);
  if (extent.recursive)
    fail(caller.name(), fmt::format("the function '{}' calls itself [graph-cycle]",
                                    extent.recursive->signature().name()));
  else if (depth + extent.levels >= kMaxDepth)
    fail(caller.name(), fmt::format("calls of functions are nested in '{}' more than {} deep "
                                    "[graph-file]",
                                    function.signature().name(), kMaxDepth));
  else if (nodes.size() + extent.nodes > kMaxNodes)
    fail(caller.name(), fmt::format("the graph has more than {} nodes where the functions that "
                                    "'{}' calls take the places of calls [graph-file]",
                                    kMaxNodes, function.signature().name()));
  return !hasFailed;
}

Body Inliner::inlineBody(const wire::Node &caller, const Callee &callee, const Tensors &inputs,
                         const Place &place) {
  if (!callee.function || hasFailed || !checkExtent(caller, *callee.function, place.depth))
    return {};
  const std::string &name = callee.function->signature().name();
  Scope scope{callee, {}, {}};
  if (!bind(caller, scope, inputs))
    return {};
  for (const wire::Node &node : callee.function->node_def())
    if (!scope.names.try_emplace(node.name(), fresh(place.prefix + "/" + node.name())).second) {
      fail(caller.name(),
           fmt::format("the function '{}' has two nodes '{}' [graph-file]", name, node.name()));
      return {};
    }
  Body body;
  for (const wire::Node &node : callee.function->node_def())
    add(copyOf(node, scope, place), place.depth + 1);
  if (hasFailed)
    return {};
  body.results = resultsOf(caller, scope);
  for (const auto &[unused, node] : callee.function->control_ret())
    if (auto found = scope.names.find(node); found != scope.names.end())
      body.controls.push_back(found->second);
  // The map has another order in each process.
  llvm::sort(body.controls);
  return body;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

wire::Node &Inliner::make(std::string name, StringRef op, ArrayRef<std::string> inputs,
                          ArrayRef<std::string> controls) {
  wire::Node &node = nodes.emplace_back();
  node.set_name(std::move(name));
  node.set_op(op.str());
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &control : controls)
    node.add_input("^" + control);
  return node;
}

/// Leaves a node in place of one that has been replaced.
void Inliner::finish(const wire::Node &node, const Tensors &own, Tensors after) {
  for (auto [i, tensor] : enumerate(own)) {
    results[output(node.name(), unsigned(i))] = tensor;
    after.push_back(nodeOf(tensor));
  }
  sort(after);
  after.erase(unique(after), after.end());
  make(node.name(), "NoOp", {}, after).set_device(node.device());
}

/// Returns the inputs of a node as they are after its control inputs.
Tensors Inliner::inputsAfter(const wire::Node &node, ArrayRef<std::string> controls) {
  Tensors inputs = dataOf(node);
  for (size_t i = 0; i < inputs.size() && !controls.empty(); ++i) {
    std::string name = fresh(fmt::format("{}/input_{}", node.name(), i));
    inputs[i] = output(make(name, "Identity", inputs[i], controls).name(), 0);
  }
  return inputs;
}

/// The results of an IdentityN are its inputs.
void Inliner::passOn(const wire::Node &node) {
  Tensors controls = controlsOf(node);
  finish(node, inputsAfter(node, controls), controls);
}

void Inliner::call(const wire::Node &node, const Callee &callee, unsigned depth) {
  Tensors controls = controlsOf(node);
  Place place = {node.name(), "", node.device(), depth};
  if (!controls.empty()) {
    place.pivot = fresh(node.name() + "/before");
    make(place.pivot, "NoOp", {}, controls);
    controls = {place.pivot};
  }
  Body body = inlineBody(node, callee, inputsAfter(node, controls), place);
  finish(node, body.results, body.controls);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

std::vector<Callee> Inliner::calleesOf(const wire::Node &node) {
  std::vector<Callee> callees;
  for (const auto &[name, value] : functionAttrsOf(node)) {
    const wire::Function *function = value ? find(value->name()) : nullptr;
    callees.push_back({function, value ? &value->attr() : nullptr});
    if (function)
      continue;
    fail(node.name(),
         callKindOf(node.op()) == CallKind::Case
             ? fmt::format("'{}' is not a function of the graph [graph-file]", value->name())
             : fmt::format("its attribute '{}' is not the name of a function of the "
                           "graph [graph-file]",
                           name));
  }
  return callees;
}

void Inliner::add(wire::Node node, unsigned depth) {
  if (hasFailed)
    return;
  StringRef op = node.op();
  if (op == "IdentityN")
    return passOn(node);
  if (op == "_SwitchN")
    return divideAll(node);
  switch (callKindOf(op)) {
  case CallKind::Call:
    return call(node, calleesOf(node).front(), depth);
  case CallKind::If:
  case CallKind::Case:
    return branch(node, calleesOf(node), depth);
  case CallKind::While:
    return loop(node, depth);
  case CallKind::None:
    break;
  }
  if (const wire::Function *function = find(op))
    return call(node, {function, &node.attr()}, depth);
  nodes.push_back(std::move(node));
}

/// Returns bytes that are equal for equal functions.
static std::string bytesOf(const wire::Function &function) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  function.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

bool Inliner::findFunctions() {
  bool isValid = true;
  for (const wire::Function &function : graph.library().function()) {
    const std::string &name = function.signature().name();
    auto [known, isNew] = functions.try_emplace(name, &function);
    // TensorFlow accepts equal ones.
    if (isNew || bytesOf(*known->second) == bytesOf(function))
      continue;
    report(name, "expected one function of this name, but got two [graph-file]");
    isValid = false;
  }
  return isValid;
}

ResultNames Inliner::run() {
  if (!findFunctions())
    return {};
  for (const wire::Node &node : graph.node())
    names.insert(node.name());
  // An error ends what replaces one node of the graph. There may be as many as nodes.
  constexpr unsigned kMostErrors = 16;
  unsigned errors = 0;
  for (wire::Node &node : *graph.mutable_node()) {
    hasFailed = false;
    add(std::move(node), 0);
    errors += hasFailed;
    if (errors == kMostErrors)
      break;
  }
  if (errors > 0)
    return {};
  for (wire::Node &node : nodes)
    for (std::string &input : *node.mutable_input())
      if (!isControl(input))
        input = resolved(input);
  graph.clear_node();
  for (wire::Node &node : nodes)
    *graph.add_node() = std::move(node);
  for (auto &result : results)
    (void)resolved(result.first());
  return std::move(results);
}

ResultNames inlineFunctions(wire::Graph &graph, ReportNode report) {
  return Inliner(graph, report).run();
}

} // namespace tfc::tensorflow
