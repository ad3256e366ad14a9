//===- HostCopies.cpp - What could not be made in its place -----------------===//

#include "compiler/memory/RunFunction.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

/// The byte that a constant repeats, if it is one.
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

/// Copies the elements of `source`, which are at `from` or, where that is null, at its place.
void RunFunction::copy(Value to, Value from, Value source) {
  ++counts.copies;
  Value bytes = sizes->build(bytesOf(source.getType()));
  if (std::optional<int8_t> byte = repeatedByte(source)) {
    Value filler = LLVM::ConstantOp::create(b, loc, b.getI8IntegerAttr(*byte));
    LLVM::MemsetOp::create(b, loc, to, filler, bytes, /*isVolatile=*/false);
    return;
  }
  LLVM::MemcpyOp::create(b, loc, to, from ? from : pointerTo(source), bytes,
                         /*isVolatile=*/false);
}

/// Copies the fetches that are among `values` and not made in the fetches' own memory.
void RunFunction::copyFetches(ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    Value root = rootOf(value);
    if (!llvm::is_contained(values, root))
      continue;
    if (auto launchOp = root.getDefiningOp<LaunchOp>()) {
      Place place = placeOf(launchOp, cast<OpResult>(root).getResultNumber());
      if (place.kind == Place::Kind::Fetch && place.index == int64_t(i))
        continue;
    }
    copy(element(Field::Fetches, i), nullptr, root);
  }
}

void RunFunction::copyToVariables() {
  DenseMap<Value, Value> saved;
  for (ReadOp read : savedBeforeCopies(block)) {
    Value room = arenaPointer(arena.savedOf(read.getValue()));
    copy(room, nullptr, read.getValue());
    saved[read.getValue()] = room;
  }
  for (AssignOp assign : copiedAtEnd(block)) {
    Value root = rootOf(assign.getValue());
    Value to = element(Field::Variables, host.variableNumber(assign.getVariableAttr()));
    copy(to, saved.lookup(root), root);
  }
}
