// Implements the rules of Switch, Merge and frames, each of which becomes the operation of the same
// name in a `dfg.dataflow` block, and of operations without results, such as NoOp and Assert. The
// stage controlflow makes branches and loops of them.

#include "frontend/Fmt.h"
#include "frontend/importer/RegionBuilder.h"
#include "frontend/tensorflow/ConstantLoops.h"
#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

static Outcome buildSwitch(NodeBuilder &node, const OpRule &) {
  if (node.isDecided()) {
    // Nothing reads the other output.
    NodeValue data = NodeValue(node.gate(node.data(0)));
    return node.done({data, data});
  }
  Value data = node.gate(node.data(0)), predicate = node.valueOf(node.in(1));
  if (!data || !predicate)
    return Outcome::Failed;
  if (!isPredicate(predicate.getType()))
    return node.fail("expected a bool as the predicate, but got {} [operand]",
                     dfg::toText(predicate.getType()));
  Operation *made = node.make("switch", {NodeValue(data), NodeValue(predicate)});
  if (!made)
    return Outcome::Failed;
  node.setWitnesses({data, predicate});
  // TensorFlow's first output is the one for false.
  return node.done({NodeValue(made->getResult(1)), NodeValue(made->getResult(0))});
}

/// Returns the input of a merge that is live if all others are dead.
static std::optional<unsigned> onlyLiveInput(NodeBuilder &node) {
  std::optional<unsigned> live;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (node.isDeadInput(i))
      continue;
    if (live)
      return std::nullopt;
    live = i;
  }
  return node.numInputs() > 1 ? live : std::nullopt;
}

/// Loop back edges have no values yet: the `next_iteration` sets the operand later.
static Outcome buildMerge(NodeBuilder &node, const OpRule &) {
  if (std::optional<unsigned> live = onlyLiveInput(node))
    return node.done({NodeValue(node.valueOf(node.data(*live))),
                      NodeValue(node.scalar(*live, IntegerType::get(node.context(), 32)))});
  SmallVector<Value> inputs;
  Value known;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (node.isDeadInput(i))
      continue;
    inputs.push_back(node.isLoopEdge(i) ? node.loopValue(i) : node.valueOf(node.data(i)));
    if (!node.isLoopEdge(i) && !inputs.back())
      return Outcome::Failed;
    if (!known)
      known = inputs.back();
  }
  if (!known)
    return node.fail("expected an input that enters the loop [graph-cycle]");
  for (Value &input : inputs) {
    input = input ? input : known;
    if (input.getType() == known.getType())
      continue;
    noteShapeChange(node.entry, node.index, known.getType(), input.getType());
    return node.fail("expected inputs of one type, but got {} and {} [operand]",
                     dfg::toText(known.getType()), dfg::toText(input.getType()));
  }
  return node.doneWith(node.make("merge", SmallVector<NodeValue>(inputs.begin(), inputs.end())));
}

static Outcome buildEnter(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.gate(node.data(0));
  if (!x)
    return Outcome::Failed;
  StringRef frame = node.node.attr("frame_name").text;
  bool isConstant = node.flag("is_constant");
  return node.done({node.op(
      "enter", x, {node.attrs.text("frame", frame), node.attrs.flag("constant", isConstant)})});
}

static Outcome buildFrameOp(NodeBuilder &node, const OpRule &rule) {
  NodeValue x = node.gate(node.data(0));
  if (!x)
    return Outcome::Failed;
  if (rule.op == "LoopCond" && !isPredicate(x.getType()))
    return node.fail("expected a bool as the condition of a loop, but got {} [operand]",
                     dfg::toText(x.getType()));
  return node.done({node.op(rule.argument, x)});
}

/// Waits until a loop that depends on constants alone has been built, so that its results are
/// known.
static bool waitsForLoop(NodeBuilder &node) {
  auto ends = constantLoop(node.entry, node.index);
  return ends && any_of(*ends, [&](unsigned end) {
           return node.entry.states[end].status == NodeState::Pending && node.waitForSizes(end);
         });
}

static Outcome buildExit(NodeBuilder &node, const OpRule &rule) {
  return waitsForLoop(node) ? Outcome::Failed : buildFrameOp(node, rule);
}

static Outcome buildNextIteration(NodeBuilder &node, const OpRule &rule) {
  Outcome outcome = buildFrameOp(node, rule);
  return outcome == Outcome::Done ? node.closeLoop() : outcome;
}

static Outcome buildNothing(NodeBuilder &node, const OpRule &) { return node.done(); }

/// Texts, which only assertions and messages contain, are not computed, but what depends on them is
/// dead where they are.
static Outcome buildText(NodeBuilder &node, const OpRule &) {
  for (unsigned i = 0; i < node.numInputs(); ++i)
    node.followInput(i);
  return node.done();
}

/// A compiled library writes nothing. `argument` says whether the first input is a handle.
static Outcome buildMessage(NodeBuilder &node, const OpRule &rule) {
  for (unsigned i = rule.argument == "handle" ? 1 : 0; i < node.numInputs(); ++i)
    node.followInput(i);
  mlir::emitWarning(node.location())
      << "the library will not write what '" << rule.op << "' does [dropped-message]";
  return node.done();
}

static Outcome buildAssert(NodeBuilder &node, const OpRule &) {
  Value condition = node.valueOf(node.in(0));
  if (!condition)
    return Outcome::Failed;
  if (!isPredicate(condition.getType()))
    return node.fail("expected a bool, but got {} [operand]", dfg::toText(condition.getType()));
  node.check(condition, "the assertion '" + node.node.name + "'");
  return node.done();
}

static constexpr unsigned kSwitch = OpRule::Structural | OpRule::Passes | OpRule::Switches,
                          kMerge = OpRule::Structural | OpRule::Merges,
                          kEnter = OpRule::Structural | OpRule::Passes | OpRule::Enters,
                          kExit = OpRule::Structural | OpRule::Passes | OpRule::Exits,
                          kNext = OpRule::Structural | OpRule::Passes | OpRule::LoopsBack;

static constexpr OpRule kRules[] = {
    {"Switch", "2 -> 2", buildSwitch, "", kSwitch},
    {"RefSwitch", "2 -> 2", buildSwitch, "", kSwitch | OpRule::Reference},
    {"Merge", "N -> 2; N:int>=1?", buildMerge, "", kMerge},
    {"RefMerge", "N -> 2; N:int>=1?", buildMerge, "", kMerge | OpRule::Reference},
    {"Enter", "1 -> 1; frame_name:string, is_constant:bool?", buildEnter, "", kEnter},
    {"RefEnter", "1 -> 1; frame_name:string, is_constant:bool?", buildEnter, "",
     kEnter | OpRule::Reference},
    {"Exit", "1 -> 1", buildExit, "exit", kExit},
    {"RefExit", "1 -> 1", buildFrameOp, "exit", kExit | OpRule::Reference},
    {"NextIteration", "1 -> 1", buildNextIteration, "next_iteration", kNext},
    {"RefNextIteration", "1 -> 1", buildNextIteration, "next_iteration", kNext | OpRule::Reference},
    {"LoopCond", "1 -> 1", buildFrameOp, "loop_cond", OpRule::Structural},
    {"NoOp", "0 -> 0", buildNothing},
    {"ControlTrigger", "0 -> 0", buildNothing},
    {"Assert", "T+1 -> 0", buildAssert, "", OpRule::Effect},
    {"StringFormat", "T -> 1", buildText},
    {"StringJoin", "N -> 1; N:int>=1?", buildText},
    {"AsString", "1 -> 1", buildText},
    {"PrintV2", "1 -> 0", buildMessage},
    {"SummaryWriter", "0 -> 1", buildNothing, "", OpRule::Handle},
    {"CreateSummaryFileWriter", "5 -> 0", buildMessage, "handle"},
    {"FlushSummaryWriter", "1 -> 0", buildMessage, "handle"},
    {"CloseSummaryWriter", "1 -> 0", buildMessage, "handle"},
    {"WriteScalarSummary", "4 -> 0", buildMessage, "handle"},
    {"WriteHistogramSummary", "4 -> 0", buildMessage, "handle"},
    {"WriteImageSummary", "5 -> 0", buildMessage, "handle"},
    {"WriteAudioSummary", "5 -> 0", buildMessage, "handle"},
    {"WriteSummary", "5 -> 0", buildMessage, "handle"},
};

ArrayRef<OpRule> controlRules() { return kRules; }

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool NodeBuilder::isLoopEdge(unsigned i) const {
  std::optional<Edge> input = edge(i);
  return input && hasFlag(entry.graph.nodes[input->node].op, OpRule::LoopsBack);
}

Value NodeBuilder::loopValue(unsigned i) const {
  auto found = entry.loopValues.find({index, i});
  return found == entry.loopValues.end() ? Value() : found->second;
}

/// Makes the result an operand of the merges that wait for it, which precede it.
Outcome NodeBuilder::closeLoop() {
  Value value = valueOf(results.front());
  for (unsigned user : entry.structure.readers[index]) {
    const Node &other = entry.graph.nodes[user];
    if (!hasFlag(other.op, OpRule::Merges))
      continue;
    for (auto [i, input] : enumerate(other.inputs)) {
      if (input.node != index)
        continue;
      if (entry.states[user].values.empty()) {
        entry.loopValues[{user, unsigned(i)}] = value;
        continue;
      }
      auto merge = entry.states[user].values.front().getDefiningOp<dfg::MergeOp>();
      if (!merge || i >= merge->getNumOperands())
        return fail("expected a loop to pass through a Merge [graph-cycle]");
      Type expected = merge->getResult(0).getType();
      if (expected != value.getType()) {
        noteShapeChange(entry, user, expected, value.getType());
        return fail(fmt::format(
            "expected a loop variable to keep its type {}, but it becomes {} [loop-type]",
            dfg::toText(expected), dfg::toText(value.getType())));
      }
      merge->setOperand(i, value);
    }
  }
  return Outcome::Done;
}

} // namespace tfc::tensorflow
