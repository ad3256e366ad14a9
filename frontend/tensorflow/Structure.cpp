// Finds frames, flows and tokens by following edges, before anything is built.

#include "frontend/tensorflow/Structure.h"
#include "frontend/tensorflow/Rules.h"
#include "frontend/tensorflow/VaryingLists.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

void GraphStructure::markNeeded(ArrayRef<Edge> fetches, ArrayRef<unsigned> targets) {
  isNeeded.assign(graph.nodes.size(), false);
  std::vector<unsigned> work(targets.begin(), targets.end());
  auto visit = [&](Edge edge) {
    if (!fed.count(edge))
      work.push_back(edge.node);
  };
  llvm::for_each(fetches, visit);
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    if (std::exchange(isNeeded[index], true))
      continue;
    llvm::for_each(graph.nodes[index].inputs, visit);
    copy_if(graph.nodes[index].controls, std::back_inserter(work),
            [&](unsigned control) { return !isFedPlaceholder(control); });
  }
}

void GraphStructure::findAssigned() {
  for (auto [index, node] : enumerate(graph.nodes))
    for (Edge input : node.inputs)
      if (std::optional<unsigned> variable = handles.resource(input);
          variable && isNeeded[index] && mayAssign(node.op))
        assigned.insert(variableName(graph.nodes[*variable]));
  isPureRead.assign(graph.nodes.size(), false);
  for (auto [index, node] : enumerate(graph.nodes))
    if (std::optional<Edge> input = node.inputs.first(); input && hasFlag(node.op, OpRule::Reads))
      isPureRead[index] = !isAssigned(handles.resource(*input));
}

/// Returns the needed nodes that use an output of each node, or run after it.
GraphStructure::Users GraphStructure::findUsers() const {
  Users users(graph.nodes.size());
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!isNeeded[index])
      continue;
    for (Edge input : node.inputs)
      if (!fed.count(input))
        users[input.node].push_back(index);
    for (unsigned control : node.controls)
      users[control].push_back(index);
  }
  return users;
}

/// Returns the needed nodes that depend on one of the sources, including the sources.
std::vector<char> GraphStructure::reachedFrom(ArrayRef<unsigned> sources,
                                              const Users &users) const {
  std::vector<char> isReached(graph.nodes.size(), false);
  std::vector<unsigned> work(sources.begin(), sources.end());
  while (!work.empty()) {
    unsigned index = work.back();
    work.pop_back();
    if (!std::exchange(isReached[index], true))
      llvm::append_range(work, users[index]);
  }
  return isReached;
}

/// In TensorFlow, an Identity of a variable shares its memory, in which updates happen. So a node
/// that runs after an update, and uses an Identity that does not, sees the new value: for example
/// moving averages after a training step.
void GraphStructure::findLateReads(const Users &users) {
  std::map<unsigned, SmallVector<unsigned>> updates, reads; // by variable
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!isNeeded[index] || node.inputs.empty())
      continue;
    bool isUpdate = hasFlag(node.op, OpRule::Effect);
    for (Edge input : node.inputs)
      if (std::optional<unsigned> variable = handles.reference(input);
          variable && !fed.count(input) && (isUpdate || node.op == "Identity"))
        (isUpdate ? updates : reads)[*variable].push_back(index);
  }
  for (auto &[variable, nodes] : reads) {
    auto changing = updates.find(variable);
    if (changing == updates.end())
      continue;
    std::vector<char> isLate = reachedFrom(changing->second, users);
    for (unsigned read : nodes)
      for (unsigned user : isLate[read] ? ArrayRef<unsigned>() : ArrayRef(users[read]))
        if (isLate[user] && !hasFlag(graph.nodes[user].op, OpRule::Structural) &&
            llvm::is_contained(graph.nodes[user].inputs, Edge{read, 0}))
          lateReads[{user, Edge{read, 0}}] = variable;
  }
}

void GraphStructure::markTokens(const Users &users) {
  std::vector<unsigned> control, effects;
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!isNeeded[index])
      continue;
    const OpRule *rule = findRule(node.op);
    bool isRead = llvm::any_of(node.inputs, [&](Edge input) {
      return !fed.count(input) && isAssigned(reference(index, input));
    });
    if (hasFlag(node.op, OpRule::Switches | OpRule::Enters))
      control.push_back(index);
    else if (isRead || (rule && (rule->flags & OpRule::Effect) && !isPureRead[index]))
      effects.push_back(index);
  }
  mayBeDead = reachedFrom(control, users);
  llvm::append_range(effects, control);
  needsToken = reachedFrom(effects, users);
}

void GraphStructure::findFrames() {
  frames.assign(1, {"", 0});
  frameOf.assign(graph.nodes.size(), 0);
  std::map<std::pair<std::string, unsigned>, unsigned> known;
  auto computeFrame = [&](const Node &node) {
    unsigned frame = 0;
    for (Edge input : node.inputs)
      frame = std::max(frame, frameOf[input.node]);
    for (unsigned control : node.controls)
      frame = std::max(frame, frameOf[control]);
    if (hasFlag(node.op, OpRule::Exits))
      return frames[frame].parent;
    if (!hasFlag(node.op, OpRule::Enters))
      return frame;
    std::string name = node.attr("frame_name").text;
    auto [found, isNew] = known.try_emplace({name, frame}, frames.size());
    if (isNew)
      frames.push_back({name, frame});
    return found->second;
  };
  // There are few frames and nodes are mostly in topological order, so a few rounds reach the fixed
  // point. In a damaged graph there may be none; the controlflow stage reports such errors.
  bool hasChanged = true;
  for (unsigned round = 0; hasChanged && round < 64 && frames.size() < 4096; ++round) {
    hasChanged = false;
    for (auto [index, node] : enumerate(graph.nodes)) {
      if (!isNeeded[index])
        continue;
      unsigned frame = computeFrame(node);
      hasChanged |= frame != frameOf[index];
      frameOf[index] = frame;
    }
  }
}

/// Adds the lists of a node that returns a second one, which says how much of each element is used.
/// Returns false for other nodes.
bool GraphStructure::addVarying(unsigned index, EdgeSets &sets,
                                std::map<Edge, ListKey> &sources) const {
  const Node &node = graph.nodes[index];
  bool isSum = node.op == "AddN";
  if (hasFlag(node.op, OpRule::MakesList)) {
    sources[{index, 0}] = ListKey{index, ""};
    sources[{index, 1}] = ListKey{index, kUsed.str()};
    return true;
  }
  if (!isSum && node.op != "ZerosLike" && !hasFlag(node.op, OpRule::ChangesList))
    return false;
  size_t half = isSum ? node.inputs.size() / 2 : node.inputs.size() - 1;
  for (auto [i, input] : enumerate(node.inputs))
    if (isSum || i == 0 || i == half)
      sets.unite({index, i < half ? 0u : 1u}, input);
  return true;
}

/// In TensorFlow, a flow is an f32 scalar that orders the uses of a TensorArray; here it is the
/// list itself. Whether an edge carries a flow is inferred from the operations that produce it.
void GraphStructure::findFlows() {
  EdgeSets sets;
  std::map<Edge, ListKey> sources;
  for (unsigned index = 0; index < graph.nodes.size(); ++index) {
    const Node &node = graph.nodes[index];
    if (!isNeeded[index] || node.inputs.empty())
      continue;
    StringRef op = node.op;
    if (op == "StackPushV2")
      if (auto stack = handles.resource(*node.inputs.first()))
        pushes.try_emplace(*stack, index);
    if (node.number(kVaries) && addVarying(index, sets, sources))
      continue;
    bool isSum = op == "AddN" || op == "Add" || op == "AddV2";
    if (isSum || hasFlag(op, OpRule::Passes | OpRule::Merges)) {
      bool isWhole = isSum || hasFlag(op, OpRule::Merges);
      for (Edge input : node.inputs) {
        // Constants start a sum of flows but are not flows, and may be shared.
        if (!graph.nodes[input.node].inputs.empty())
          sets.unite({index, 0}, input);
        if (!isWhole)
          break;
      }
      if (hasFlag(op, OpRule::Switches))
        sets.unite({index, 0}, {index, 1});
      continue;
    }
    if (op == "ZerosLike" && node.number("T") == kVariantDtype) {
      sets.unite({index, 0}, *node.inputs.first());
      continue;
    }
    // The handle of a TensorList is the list.
    if (hasFlag(op, OpRule::MakesList)) {
      sources[{index, 0}] = ListKey{index, ""};
      continue;
    }
    if (hasFlag(op, OpRule::ChangesList)) {
      sets.unite({index, 0}, *node.inputs.first());
      if (op == "TensorListConcatLists" && node.inputs.size() > 1)
        sets.unite({index, 0}, *node.inputs.at(1));
      continue;
    }
    bool isArray = op == "TensorArrayV3" || op == "TensorArrayGradV3";
    if (!isArray && op != "TensorArrayWriteV3" && op != "TensorArrayScatterV3" &&
        op != "TensorArraySplitV3")
      continue;
    if (auto key = handles.array(isArray ? Edge{index, 0} : *node.inputs.first())) {
      sources[{index, isArray ? 1u : 0u}] = *key;
      if (!isArray && key->source.empty())
        writtenArrays[index] = key->array;
    }
  }
  std::map<Edge, ListKey> keyOfSet;
  for (auto &[edge, key] : sources) {
    auto first = keyOfSet.try_emplace(sets.find(edge), key).first;
    if (key.source != kUsed)
      listMakers[first->second.array].push_back(edge.node);
  }
  for (auto &[edge, key] : sources)
    flows[edge] = key;
  for (auto &[edge, parent] : sets.parents)
    if (auto found = keyOfSet.find(sets.find(edge)); found != keyOfSet.end())
      flows[edge] = found->second;
  for (auto &[edge, key] : keyOfSet)
    flows[edge] = key;
  for (unsigned index = 0; index < graph.nodes.size(); ++index)
    if (isNeeded[index] && hasFlag(graph.nodes[index].op, OpRule::ChangesList))
      if (auto found = flows.find({index, 0}); found != flows.end())
        writtenArrays[index] = found->second.array;
}

void GraphStructure::findReaders() {
  readers.resize(graph.nodes.size());
  for (auto [index, node] : enumerate(graph.nodes)) {
    if (!isNeeded[index])
      continue;
    for (Edge input : node.inputs) {
      SmallVector<unsigned> &known = readers[input.node];
      if (known.empty() || known.back() != index)
        known.push_back(index);
    }
  }
}

bool GraphStructure::isStraight() const {
  for (unsigned index = 0; index < graph.nodes.size(); ++index)
    if (isNeeded[index] && mayBeDead[index])
      return false;
  return flows.empty() && pushes.empty();
}

void GraphStructure::analyse() {
  findAssigned();
  Users users = findUsers();
  findLateReads(users);
  markTokens(users);
  findReaders();
  findFrames();
  findFlows();
}

} // namespace tfc::tensorflow
