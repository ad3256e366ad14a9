// Copies the nodes of functions into the graph, under new names. Inputs in functions name outputs
// ("split:output:1"), those of the graph number them ("split:1").

#include "frontend/tensorflow/Functions.h"

#include "frontend/Fmt.h"
#include "frontend/tensorflow/OutputNames.h"
#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

using namespace llvm;

namespace tfc::tensorflow {

/// Calls are not nested more deeply, and do not make more nodes together: functions that call
/// themselves are no graph.
static constexpr unsigned kMaxDepth = 100;
static constexpr size_t kMaxNodes = size_t(1) << 20;

using Attrs = google::protobuf::Map<std::string, wire::Attr>;
using Tensors = std::vector<std::string>; // "node:1" each

namespace {

/// A function with values of its attributes.
struct Callee {
  const wire::Function *function = nullptr;
  const Attrs *attrs = nullptr;
};

/// The nodes of a function that have been copied.
struct Body {
  Tensors results;
  Tensors controls; // names of nodes after which it has run
};

/// A copy of a function's nodes.
struct Scope {
  Callee callee;
  StringMap<Tensors> arguments;
  StringMap<std::string> names; // new ones, of nodes
};

class Inliner {
public:
  Inliner(wire::Graph &graph, ReportNode report) : graph(graph), report(report) {}

  ResultNames run();

private:
  /// Where the nodes of a function go.
  struct Place {
    std::string prefix, pivot, device; // nodes without inputs run after the pivot, if there is one
    unsigned depth;
  };

  void add(wire::Node node, unsigned depth);
  void passOn(const wire::Node &node);
  void call(const wire::Node &node, const Callee &callee, unsigned depth);
  void branch(const wire::Node &node, ArrayRef<Callee> branches, unsigned depth);
  void loop(const wire::Node &node, unsigned depth);

  Body inlineBody(const wire::Node &caller, const Callee &callee, const Tensors &inputs,
                  const Place &place);
  bool bind(const wire::Node &caller, Scope &scope, const Tensors &inputs);
  Tensors resultsOf(const wire::Node &caller, const Scope &scope);
  wire::Node copyOf(const wire::Node &node, const Scope &scope, const Place &place);
  std::string tensorOf(const Scope &scope, StringRef text);
  unsigned numberOf(const Scope &scope, StringRef node, StringRef output);

  Callee calleeOf(const wire::Node &node, const char *attr);
  std::vector<Callee> branchesOf(const wire::Node &node);
  const wire::Function *find(StringRef name) const { return functions.lookup(name); }
  std::string fresh(std::string name);
  wire::Node &make(std::string name, StringRef op, ArrayRef<std::string> inputs,
                   ArrayRef<std::string> controls = {});
  std::string toBool(const std::string &name, std::string tensor, int64_t dtype,
                     ArrayRef<std::string> controls);
  std::pair<std::string, std::string> divide(const std::string &name, const std::string &tensor,
                                             const std::string &condition,
                                             ArrayRef<std::string> controls);
  std::string equals(const std::string &name, const std::string &tensor, int number,
                     ArrayRef<std::string> controls);
  void finish(const wire::Node &node, const Tensors &results, Tensors after);
  std::string resolved(StringRef tensor);

  wire::Graph &graph;
  ReportNode report;
  StringMap<const wire::Function *> functions;
  StringSet<> names; // of all nodes
  std::deque<wire::Node> nodes;
  ResultNames results;
  bool hasFailed = false;

  void fail(StringRef node, const std::string &text) {
    hasFailed = true;
    report(node, text);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static bool isControl(StringRef input) { return input.starts_with("^"); }

static Tensors dataOf(const wire::Node &node) {
  Tensors data;
  for (const std::string &input : node.input())
    if (!isControl(input))
      data.push_back(input);
  return data;
}

static Tensors controlsOf(const wire::Node &node) {
  Tensors controls;
  for (StringRef input : node.input())
    if (input.consume_front("^"))
      controls.push_back(input.str());
  return controls;
}

static std::string nodeOf(StringRef tensor) {
  auto parts = splitTensorName(tensor);
  return (parts ? parts->first : tensor).str();
}

static std::string output(const std::string &node, unsigned number) {
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

static const wire::Attr *findAttr(const Attrs &attrs, const std::string &name) {
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

wire::Node Inliner::copyOf(const wire::Node &node, const Scope &scope, const Place &place) {
  wire::Node copy = node;
  copy.set_name(scope.names.lookup(node.name()));
  if (node.device().empty())
    copy.set_device(place.device);
  copy.clear_input();
  for (const std::string &input : node.input())
    copy.add_input(tensorOf(scope, input));
  if (node.input().empty() && !place.pivot.empty())
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

Body Inliner::inlineBody(const wire::Node &caller, const Callee &callee, const Tensors &inputs,
                         const Place &place) {
  if (!callee.function || hasFailed)
    return {};
  const std::string &name = callee.function->signature().name();
  if (place.depth == kMaxDepth || nodes.size() + callee.function->node_def_size() > kMaxNodes) {
    fail(caller.name(), fmt::format("the function '{}' calls itself, or has too many nodes with "
                                    "those that it calls [graph-cycle]",
                                    name));
    return {};
  }
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

// Numbers of DataType.
static constexpr int kInt32 = 3, kBool = 10;

/// Returns a bool: numbers other than 0 are true.
std::string Inliner::toBool(const std::string &name, std::string tensor, int64_t dtype,
                            ArrayRef<std::string> controls) {
  if (dtype == kBool || dtype == 0)
    return tensor;
  wire::Node &cast = make(fresh(name), "Cast", tensor, controls);
  (*cast.mutable_attr())["SrcT"].set_type(int(dtype));
  (*cast.mutable_attr())["DstT"].set_type(kBool);
  return output(cast.name(), 0);
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

/// The results of an IdentityN are its inputs.
void Inliner::passOn(const wire::Node &node) {
  Tensors inputs = dataOf(node), controls = controlsOf(node);
  for (auto [i, input] : enumerate(inputs))
    if (!controls.empty())
      input = output(
          make(fresh(fmt::format("{}/input_{}", node.name(), i)), "Identity", input, controls)
              .name(),
          0);
  finish(node, inputs, controls);
}

void Inliner::call(const wire::Node &node, const Callee &callee, unsigned depth) {
  Tensors inputs = dataOf(node), controls = controlsOf(node);
  Place place = {node.name(), "", node.device(), depth};
  if (!controls.empty()) {
    place.pivot = fresh(node.name() + "/before");
    make(place.pivot, "NoOp", {}, controls);
    for (auto [i, input] : enumerate(inputs))
      input = output(
          make(fresh(fmt::format("{}/input_{}", node.name(), i)), "Identity", input, place.pivot)
              .name(),
          0);
  }
  Body body = inlineBody(node, callee, inputs, place);
  finish(node, body.results, body.controls);
}

/// The tensors of a Switch on a condition: what goes on if it is true, and otherwise.
std::pair<std::string, std::string> Inliner::divide(const std::string &name,
                                                    const std::string &tensor,
                                                    const std::string &condition,
                                                    ArrayRef<std::string> controls) {
  std::string made = make(fresh(name), "Switch", {tensor, condition}, controls).name();
  return {output(made, 1), output(made, 0)};
}

/// Returns whether an integer is a number, as a bool.
std::string Inliner::equals(const std::string &name, const std::string &tensor, int number,
                            ArrayRef<std::string> controls) {
  wire::Node &constant = make(fresh(name + "/number"), "Const", {}, controls);
  (*constant.mutable_attr())["dtype"].set_type(kInt32);
  wire::Tensor &value = *(*constant.mutable_attr())["value"].mutable_tensor();
  value.set_dtype(kInt32);
  value.mutable_tensor_shape();
  value.add_int_val(number);
  wire::Node &equal =
      make(fresh(name + "/is_taken"), "Equal", {tensor, output(constant.name(), 0)}, controls);
  (*equal.mutable_attr())["T"].set_type(kInt32);
  return output(equal.name(), 0);
}

/// Tries branches in order; the last one is taken if no other is.
void Inliner::branch(const wire::Node &node, ArrayRef<Callee> branches, unsigned depth) {
  const std::string &name = node.name();
  bool isCase = node.op() != "If" && node.op() != "StatelessIf";
  Tensors inputs = dataOf(node), controls = controlsOf(node);
  if (hasFailed)
    return;
  if (inputs.empty() || branches.empty())
    return fail(name, "expected a condition, and a function for each branch [graph-edge]");
  std::string condition = inputs.front();
  inputs.erase(inputs.begin());
  const wire::Attr *type = findAttr(node.attr(), "Tcond");
  std::vector<Body> bodies;
  Tensors pivots;
  for (auto [i, branch] : enumerate(branches)) {
    std::string own =
        isCase ? fmt::format("{}/branch_{}", name, i) : name + (i == 0 ? "/then" : "/else");
    Tensors taken = inputs;
    // The pivot of the last branch, if there are others, is what the one before has left.
    std::string pivot = pivots.size() > i ? pivots[i] : "";
    if (i + 1 < branches.size()) {
      std::string isTaken =
          isCase ? equals(own, condition, int(i), controls)
                 : toBool(own + "/condition", condition, type ? type->type() : kBool, controls);
      auto [chosen, others] = divide(own + "/choice", isTaken, isTaken, controls);
      pivot = make(fresh(own + "/pivot"), "Identity", chosen).name();
      std::string rest = make(fresh(own + "/otherwise"), "Identity", others).name();
      for (auto [k, input] : enumerate(inputs))
        std::tie(taken[k], input) =
            divide(fmt::format("{}/input_{}", own, k), input, isTaken, controls);
      if (isCase)
        condition = divide(own + "/index", condition, isTaken, controls).second;
      pivots.resize(i);
      pivots.push_back(pivot);
      pivots.push_back(rest);
      controls = {rest};
    }
    bodies.push_back(inlineBody(node, branch, taken, {own, pivot, node.device(), depth}));
    if (hasFailed)
      return;
    if (bodies.back().results.size() != bodies.front().results.size())
      return fail(name, "expected branches with the same number of results [graph-edge]");
  }
  // A merge has one live input, so branches are joined from the last one on.
  auto join = [&](const std::string &part, function_ref<std::string(size_t)> tensorOf) {
    std::string joined = tensorOf(bodies.size() - 1);
    for (size_t i = bodies.size() - 1; i-- > 0;) {
      wire::Node &merge = make(fresh(name + "/" + part), "Merge", {tensorOf(i), joined});
      (*merge.mutable_attr())["N"].set_i(2);
      joined = output(merge.name(), 0);
    }
    return joined;
  };
  Tensors own, after = bodies.front().controls;
  for (size_t k = 0; k < bodies.front().results.size(); ++k)
    own.push_back(
        join(fmt::format("result_{}", k), [&](size_t i) { return bodies[i].results[k]; }));
  if (bodies.size() > 1)
    after = {nodeOf(join("done", [&](size_t i) {
      return output(
          make(fresh(name + "/ran"), "Identity", output(pivots[i], 0), bodies[i].controls).name(),
          0);
    }))};
  finish(node, own, after);
}

/// Returns true for results of a loop's body that are its inputs: these stay as they are.
static bool isUnchanged(const wire::Function &body, int result) {
  if (result >= body.signature().input_arg_size() || result >= body.signature().output_arg_size())
    return false;
  auto found = body.ret().find(body.signature().output_arg(result).name());
  std::string from = found == body.ret().end() ? "" : found->second;
  for (int steps = 0; steps < 16; ++steps) {
    if (from == body.signature().input_arg(result).name())
      return true;
    StringRef producer = StringRef(from).split(':').first;
    auto node = find_if(body.node_def(), [&](const wire::Node &each) {
      return each.name() == producer && each.op() == "Identity" && each.input_size() == 1;
    });
    if (node == body.node_def().end())
      return false;
    from = node->input(0);
  }
  return false;
}

/// As TensorFlow's own lowering does, so that what the importer knows of its loops holds.
void Inliner::loop(const wire::Node &node, unsigned depth) {
  const std::string &name = node.name();
  Callee cond = calleeOf(node, "cond"), body = calleeOf(node, "body");
  Tensors inputs = dataOf(node), controls = controlsOf(node);
  if (hasFailed)
    return;
  if (inputs.empty() || cond.function->signature().output_arg_size() != 1)
    return fail(name, "expected a loop with a value, and a condition with one result [graph-edge]");
  std::vector<char> isConstant;
  for (size_t i = 0; i < inputs.size(); ++i)
    isConstant.push_back(isUnchanged(*body.function, int(i)));
  if (!is_contained(isConstant, false))
    isConstant.assign(inputs.size(), false);
  auto make = [&](StringRef part, size_t i, StringRef op, const Tensors &of) -> wire::Node & {
    return this->make(fresh(fmt::format("{}/{}_{}", name, part, i)), op, of);
  };
  Tensors entered;
  std::vector<wire::Node *> merges(inputs.size(), nullptr);
  for (auto [i, input] : enumerate(inputs)) {
    wire::Node &enter = make("enter", i, "Enter", {input});
    for (const std::string &control : controls)
      enter.add_input("^" + control);
    (*enter.mutable_attr())["frame_name"].set_s(name);
    (*enter.mutable_attr())["is_constant"].set_b(isConstant[i]);
    entered.push_back(output(enter.name(), 0));
    if (isConstant[i])
      continue;
    merges[i] = &make("merge", i, "Merge", {entered[i]});
    (*merges[i]->mutable_attr())["N"].set_i(2);
    entered[i] = output(merges[i]->name(), 0);
  }
  std::string pivot = (*find_if(merges, [](wire::Node *merge) { return merge; }))->name();
  Body test = inlineBody(node, cond, entered, {name + "/cond", pivot, node.device(), depth});
  if (hasFailed)
    return;
  std::string isTrue = toBool(name + "/condition", test.results.front(),
                              cond.function->signature().output_arg(0).type(), {});
  std::string goesOn =
      output(this->make(fresh(name + "/goes_on"), "LoopCond", isTrue, test.controls).name(), 0);
  pivot.clear();
  Tensors exits = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isConstant[i])
      continue;
    auto [next, last] = divide(fmt::format("{}/switch_{}", name, i), entered[i], goesOn, {});
    std::string taken = make("input", i, "Identity", {next}).name();
    pivot = pivot.empty() ? taken : pivot;
    entered[i] = output(taken, 0);
    exits[i] = output(make("exit", i, "Exit", {last}).name(), 0);
  }
  Body step = inlineBody(node, body, entered, {name + "/body", pivot, node.device(), depth});
  if (hasFailed)
    return;
  if (step.results.size() != inputs.size())
    return fail(name,
                fmt::format("its body has {} results, but the loop has {} values [graph-edge]",
                            step.results.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isConstant[i])
      continue;
    wire::Node &next = make("next", i, "NextIteration", {step.results[i]});
    for (const std::string &control : step.controls)
      next.add_input("^" + control);
    merges[i]->add_input(output(next.name(), 0));
  }
  finish(node, exits, {});
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

Callee Inliner::calleeOf(const wire::Node &node, const char *attr) {
  const wire::Attr *value = findAttr(node.attr(), attr);
  const wire::Function *function = value ? find(value->func().name()) : nullptr;
  if (!function) {
    fail(node.name(), fmt::format("its attribute '{}' is not the name of a function of the graph "
                                  "[graph-file]",
                                  attr));
    return {};
  }
  return {function, &value->func().attr()};
}

std::vector<Callee> Inliner::branchesOf(const wire::Node &node) {
  std::vector<Callee> branches;
  const wire::Attr *list = findAttr(node.attr(), "branches");
  for (int i = 0; list && i < list->list().func_size(); ++i) {
    const wire::Attr::Function &branch = list->list().func(i);
    branches.push_back({find(branch.name()), &branch.attr()});
    if (!branches.back().function)
      fail(node.name(),
           fmt::format("'{}' is not a function of the graph [graph-file]", branch.name()));
  }
  return branches;
}

void Inliner::add(wire::Node node, unsigned depth) {
  if (hasFailed)
    return;
  StringRef op = node.op();
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall")
    return call(node, calleeOf(node, "f"), depth);
  if (op == "IdentityN")
    return passOn(node);
  if (op == "If" || op == "StatelessIf")
    return branch(node, {calleeOf(node, "then_branch"), calleeOf(node, "else_branch")}, depth);
  if (op == "Case" || op == "StatelessCase")
    return branch(node, branchesOf(node), depth);
  if (op == "While" || op == "StatelessWhile")
    return loop(node, depth);
  if (const wire::Function *function = find(op))
    return call(node, {function, &node.attr()}, depth);
  nodes.push_back(std::move(node));
}

ResultNames Inliner::run() {
  for (const wire::Function &function : graph.library().function())
    functions.try_emplace(function.signature().name(), &function);
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
