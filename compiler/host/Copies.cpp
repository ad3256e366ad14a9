// Copies values into fetches, variables, and the results of branches and loops.

#include "compiler/host/Copies.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

/// Returns the byte that a constant consists of, if all its bytes are equal.
static std::optional<int8_t> repeatedByte(Value root) {
  auto constant = root.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!value || !value.isSplat() || value.getElementType().isInteger(1))
    return std::nullopt;
  ArrayRef<char> bytes = value.getRawData();
  if (bytes.empty() || !llvm::all_equal(bytes))
    return std::nullopt;
  return bytes.front();
}

/// Copies the elements at `from` or, if that is null, in the root's memory.
void Copies::copy(Value to, Value from, Value root) {
  ++context.counts.copies;
  Value bytes = sizes.build(bytesOf(root.getType()));
  if (std::optional<int8_t> byte = repeatedByte(root))
    return context.fill(to, *byte, bytes);
  context.move(to, from ? from : addresses.of(root), bytes);
}

void Copies::copyYielded(Value value, unsigned number, Value to) {
  Value root = rootOf(value);
  if (auto launch = root.getDefiningOp<LaunchOp>()) {
    MemoryAttr memory = memoryOf(launch, cast<OpResult>(root).getResultNumber());
    if (memory == MemoryAttr::inResult(context.b.getContext(), number) &&
        addresses.lookup(root) == to)
      return;
  }
  copy(to, root);
}

void Copies::copyFetches(ArrayRef<Value> roots) {
  Operation *end = context.entry.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    Value root = rootOf(value);
    if (!llvm::is_contained(roots, root))
      continue;
    Value to = addresses.element(rt::Field::Fetches, i);
    if (root.getDefiningOp<LaunchOp>() && addresses.lookup(root) == to)
      continue;
    copy(to, root);
  }
}

void Copies::copyToVariables() {
  Block &block = context.entry.getBody().front();
  DenseMap<Value, Value> saved;
  for (ReadOp read : savedBeforeCopies(block)) {
    auto slot = dyn_cast_or_null<rt::SlotAttr>(memoryOf(read.getValue()));
    if (!slot) {
      context.error(read) << "expects memory for the old value, which 'tfc-allocate-arena' assigns";
      return;
    }
    Value room = addresses.arena(slot);
    copy(room, read.getValue());
    saved[read.getValue()] = room;
  }
  for (AssignOp assign : copiedAtEnd(block)) {
    Value root = rootOf(assign.getValue());
    copy(addresses.variable(assign.getVariableAttr()), saved.lookup(root), root);
  }
}
