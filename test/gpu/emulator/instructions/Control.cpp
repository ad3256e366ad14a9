//===- Control.cpp - Branches, barriers and fences ------------------------===//
//
// Sections 9.7.12 (control flow) and 9.7.13 (synchronization) of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"

namespace tfc::gpu {

namespace {

void nothing(Warp &, const Instruction &, uint32_t) {}

void branch(Warp &warp, const Instruction &instruction, uint32_t active) {
  warp.branch(active, static_cast<uint32_t>(instruction.value));
}

/// An index beyond the list is undefined.
void branchByIndex(Warp &warp, const Instruction &instruction, uint32_t active) {
  const std::vector<uint32_t> &list = warp.block.launch.kernel.targets[instruction.value];
  const uint64_t *indices = warp.cells(instruction.operands[0]);
  uint32_t targets[kLanes] = {};
  forEachLane(active, [&](unsigned lane) {
    uint32_t index = uint32_t(indices[lane]);
    if (index >= list.size())
      return warp.fail(lane, "branches to target " + std::to_string(index) + " of " +
                                 std::to_string(list.size()));
    targets[lane] = list[index];
  });
  if (!warp.hasFailed())
    warp.branchEach(active, targets);
}

void exit(Warp &warp, const Instruction &, uint32_t active) { warp.exit(active); }

void trap(Warp &warp, const Instruction &, uint32_t active) {
  warp.fail(std::countr_zero(active), "traps");
}

/// Instruction::isSigned says .aligned.
void barrier(Warp &warp, const Instruction &instruction, uint32_t active) {
  const uint64_t *ids = warp.cells(instruction.operands[0]);
  unsigned first = std::countr_zero(active);
  uint64_t id = ids[first], count = warp.block.launch.block.count();
  if (id > 15)
    return warp.fail(first, "waits at barrier " + std::to_string(id) + ", but there are 16");
  bool isOther = false;
  forEachLane(active, [&](unsigned lane) { isOther |= ids[lane] != id; });
  if (instruction.operandCount == 2) {
    const uint64_t *counts = warp.cells(instruction.operands[1]);
    forEachLane(active, [&](unsigned lane) { isOther |= counts[lane] != count; });
  }
  if (isOther)
    return warp.fail(first, "waits at a barrier of some threads, which is not known");
  warp.waitAtBarrier(active, static_cast<int64_t>(id), instruction.isSigned);
}

void warpBarrier(Warp &warp, const Instruction &, uint32_t active) { warp.passWarpBarrier(active); }

} // namespace

static bool decodeBranch(Form &form) {
  form.take("uni");
  if (!setExecute(form, &branch, Class::Control) || !form.finish(1))
    return false;
  form.out.value = form.source.operands[0].number;
  return true;
}

static bool decodeIndexedBranch(Form &form) {
  if (!form.take("idx"))
    return form.unknown();
  form.take("uni");
  if (!setExecute(form, &branchByIndex, Class::Control) || !form.finish(2) ||
      !form.addSource(0, Scalar::U32))
    return false;
  if (form.source.operands[1].kind != ptx::Operand::Kind::Targets)
    return form.fail("expected the name of branch targets");
  form.out.value = form.source.operands[1].number;
  return true;
}

template <Instruction::Execute execute> static bool decodeEnd(Form &form) {
  form.take("uni");
  return setExecute(form, execute, Class::Control) && form.finish(0);
}

static bool decodeFence(Form &form) {
  bool isFence = form.source.name == "fence";
  bool isKnown =
      isFence ? (form.takeOneOf({"sc", "acq_rel"}), form.takeOneOf({"cta", "gpu", "sys"}) >= 0)
              : form.takeOneOf({"cta", "gl", "sys"}) >= 0;
  return (isKnown || form.unknown()) && setExecute(form, &nothing, Class::Control) &&
         form.finish(0);
}

/// bar.sync and barrier.cta.sync are the same, of which the first is aligned.
static bool decodeBarrier(Form &form) {
  bool isShort = form.source.name == "bar";
  if (isShort && form.take("warp")) {
    form.out.rendezvous = Rendezvous::Lanes;
    return (form.take("sync") || form.unknown()) &&
           setExecute(form, &warpBarrier, Class::Barrier) && form.finish(1) &&
           form.addSource(0, Scalar::B32);
  }
  form.take("cta");
  if (!form.take("sync"))
    return form.unknown();
  form.out.isSigned = isShort || form.take("aligned");
  size_t operands = form.operandCount() == 2 ? 2 : 1;
  return setExecute(form, &barrier, Class::Barrier) && form.finish(operands) &&
         form.addSource(0, Scalar::U32) && (operands == 1 || form.addSource(1, Scalar::U32));
}

void addControl(DecodeTable &table) {
  table["bra"] = decodeBranch;
  table["brx"] = decodeIndexedBranch;
  table["ret"] = decodeEnd<&exit>;
  table["exit"] = decodeEnd<&exit>;
  table["trap"] = decodeEnd<&trap>;
  table["membar"] = decodeFence;
  table["fence"] = decodeFence;
  table["bar"] = decodeBarrier;
  table["barrier"] = decodeBarrier;
}

} // namespace tfc::gpu
