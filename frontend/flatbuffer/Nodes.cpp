// Creates the operations of nodes. They are verified only after the whole module has been built:
// regions are built before the operation that owns them, and in the graph form an operation may be
// built before its operands.
#include "frontend/flatbuffer/Nodes.h"

#include "mlir/IR/RegionKindInterface.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

/// Returns the place that the file gives for a node, or else a location with the node's name, or
/// with its position if it has none.
Location Nodes::locate(const tfg::Node &node, StringRef operation) {
  StringRef name = file.text(node.name());
  Location unnamed =
      name.empty() ? file.locate(owner + "/" + operation + ":" + Twine(count)) : file.locate(name);
  return tables.place(node.place(), unnamed);
}

void Nodes::addOperands(const tfg::Node &node, OperationState &state) {
  for (uint32_t number : file.numbers(node.operands()))
    if (Value value = values.use(number, state.location))
      state.operands.push_back(value);
}

void Nodes::addAttributes(const tfg::Node &node, const dfg::OpSignature &signature,
                          OperationState &state) {
  NamedAttrList read;
  attributes.read(node.attributes(), signature, state.location, read);
  state.addAttributes(read);
}

void Nodes::addArguments(const tfg::Region &region, Block &block, Location location) {
  for (const tfg::Argument *argument : elementsOf(region.arguments())) {
    Location place = tables.place(argument->place(), location);
    if (Type type = values.type(argument->value(), place))
      values.define(argument->value(), block.addArgument(type, place), place);
    else
      values.forget(argument->value(), place);
  }
}

void Nodes::readRegion(const tfg::Region &region, Region &into, Location location, bool isGraph) {
  OpBuilder::InsertPoint outside = builder.position();
  Block &block = into.emplaceBlock();
  values.beginRegion(isGraph);
  addArguments(region, block, location);
  builder.toEnd(block);
  create(region.nodes());
  values.endRegion();
  builder.restore(outside);
}

void Nodes::addRegions(const tfg::Node &node, OperationState &state) {
  auto *kind = state.name.getInterface<RegionKindInterface>();
  for (const tfg::Region *region : elementsOf(node.regions())) {
    if (depth == kMaxRegions) {
      emitError(state.location) << "regions are nested more than " << kMaxRegions
                                << " levels deep [too-deep]";
      return;
    }
    ++depth;
    bool isGraph = kind && !kind->hasSSADominance(state.regions.size());
    readRegion(*region, *state.addRegion(), state.location, isGraph);
    --depth;
  }
}

/// False, after one error, if the graph has more operations than the options allow.
bool Nodes::hasSpace(Location location) {
  uint64_t most = file.getFile().options.limits.operations;
  if (builder.getOperationCount() < most)
    return true;
  if (!isFull)
    emitError(location) << "the graph has more than " << most << " operations [expansion-limit]";
  isFull = true;
  return false;
}

void Nodes::forgetResults(const tfg::Node &node, Location location) {
  for (uint32_t number : file.numbers(node.results()))
    values.forget(number, location);
}

void Nodes::finish(const tfg::Node &node, OperationState &state) {
  SmallVector<uint32_t> defined;
  for (uint32_t number : file.numbers(node.results()))
    if (Type type = values.type(number, state.location)) {
      state.types.push_back(type);
      defined.push_back(number);
    }
  Operation *op = builder.createDeclared(state);
  for (auto [number, result] : zip(defined, op->getResults()))
    values.define(number, result, state.location);
  forgetResults(node, state.location);
}

void Nodes::create(const tfg::Node &node) {
  StringRef name = file.text(node.operation());
  Location location = locate(node, name);
  ++count;
  if (!hasSpace(location))
    return forgetResults(node, location);
  const dfg::OpSignature *signature = dfg::lookupOp(name);
  if (!signature)
    emitError(location) << "there is no operation '" << name << "' [unsupported-node]";
  // Some operation stands for an unknown one, so that errors in its operands and regions are found;
  // a dataflow block accepts any regions.
  OperationState state(location, signature ? ("dfg." + name).str()
                                           : dfg::DataflowOp::getOperationName().str());
  addOperands(node, state);
  if (signature)
    addAttributes(node, *signature, state);
  state.addAttributes(file.placement(node.device(), node.colocate(), location));
  addRegions(node, state);
  finish(node, state);
}

void Nodes::create(const NodeVector *nodes) {
  for (const tfg::Node *node : elementsOf(nodes))
    create(*node);
}

} // namespace tfc::flatbuffer
