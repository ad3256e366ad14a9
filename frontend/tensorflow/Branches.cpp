// Replaces branches and loops of functions by Switch, Merge and the operations of frames.

#include "frontend/Fmt.h"
#include "frontend/tensorflow/Inliner.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tfc::tensorflow {

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

/// Replaces a Switch with several outputs, of which the last one is taken for other numbers, by
/// those with two.
void Inliner::divideAll(const wire::Node &node) {
  constexpr int64_t kMostOutputs = 1 << 16;
  const std::string &name = node.name();
  Tensors inputs = dataOf(node), controls = controlsOf(node), own;
  const wire::Attr *count = findAttr(node.attr(), "num_outs");
  if (inputs.size() != 2 || !count || count->i() < 1 || count->i() > kMostOutputs)
    return fail(name, "expected a value, a number, and the number of outputs [graph-edge]");
  std::string rest = inputs[0], index = inputs[1];
  for (int i = 0; i + 1 < count->i(); ++i) {
    std::string isTaken = equals(fmt::format("{}/output_{}", name, i), index, i, controls);
    auto [chosen, others] = divide(name + "/value", rest, isTaken, controls);
    own.push_back(chosen);
    rest = others;
    index = divide(name + "/index", index, isTaken, controls).second;
    controls = {};
  }
  own.push_back(rest);
  for (auto [i, tensor] : enumerate(own))
    results[output(name, unsigned(i))] = tensor;
  // The first Switch runs, whatever is taken.
  make(name, "NoOp", {}, nodeOf(own.front())).set_device(node.device());
}

/// Tries branches in order; the last one is taken if no other is.
void Inliner::branch(const wire::Node &node, ArrayRef<Callee> branches, unsigned depth) {
  const std::string &name = node.name();
  bool isCase = callKindOf(node.op()) == CallKind::Case;
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
  std::vector<Callee> callees = calleesOf(node);
  const Callee &cond = callees[0], &body = callees[1];
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
  auto make = [&](StringRef part, size_t i, StringRef op, const std::string &of,
                  ArrayRef<std::string> after = {}) -> wire::Node & {
    return this->make(fresh(fmt::format("{}/{}_{}", name, part, i)), op, of, after);
  };
  Tensors entered;
  std::vector<wire::Node *> merges(inputs.size(), nullptr);
  for (auto [i, input] : enumerate(inputs)) {
    wire::Node &enter = make("enter", i, "Enter", input, controls);
    (*enter.mutable_attr())["frame_name"].set_s(name);
    (*enter.mutable_attr())["is_constant"].set_b(isConstant[i]);
    entered.push_back(output(enter.name(), 0));
    if (isConstant[i])
      continue;
    merges[i] = &make("merge", i, "Merge", entered[i]);
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
  Tensors exits = inputs, constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isConstant[i]) {
      constants.push_back(entered[i]);
      continue;
    }
    auto [next, last] = divide(fmt::format("{}/switch_{}", name, i), entered[i], goesOn, {});
    std::string taken = make("input", i, "Identity", next).name();
    pivot = pivot.empty() ? taken : pivot;
    entered[i] = output(taken, 0);
    exits[i] = output(make("exit", i, "Exit", last).name(), 0);
  }
  Body step =
      inlineBody(node, body, entered, {name + "/body", pivot, node.device(), depth, constants});
  if (hasFailed)
    return;
  if (step.results.size() != inputs.size())
    return fail(name,
                fmt::format("its body has {} results, but the loop has {} values [graph-edge]",
                            step.results.size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isConstant[i])
      continue;
    wire::Node &next = make("next", i, "NextIteration", step.results[i], step.controls);
    merges[i]->add_input(output(next.name(), 0));
  }
  finish(node, exits, {});
}

} // namespace tfc::tensorflow
