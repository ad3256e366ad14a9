//===- Block.cpp - The block of threads that is executed ------------------===//
//
// Finds the bytes of accesses in the state spaces (5.1), and refuses those that a device might not
// notice.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Block.h"
#include <cstring>

namespace tfc::gpu {

using ptx::Space;

Block::Block(const Launch &launch, Memory &memory, Counters &counters)
    : launch(launch), memory(memory), counters(counters), parameters(launch.parameters.size()) {
  if (parameters.size() == 0)
    return;
  memcpy(parameters.at(0), launch.parameters.data(), parameters.size());
  parameters.setWritten(0, parameters.size());
}

void Block::begin(uint32_t next) {
  number = next;
  barriers = 0;
  shared = Bytes(launch.kernel.sharedBytes + launch.dynamicSharedBytes);
  locals.assign(launch.block.count(), Bytes(launch.kernel.localBytes));
  sharedRaces.clear();
}

Space Block::resolve(Space space, uint64_t &address) {
  if (space != Space::Generic)
    return space;
  if (address - kSharedWindow < kWindowBytes) {
    address -= kSharedWindow;
    return Space::Shared;
  }
  if (address - kLocalWindow < kWindowBytes) {
    address -= kLocalWindow;
    return Space::Local;
  }
  return Space::Global;
}

uint8_t *Block::accessOwn(Bytes &memory, const char *name, uint64_t address, unsigned bytes,
                          Kind kind) {
  if (address % bytes != 0)
    return fail(describe(bytes, address) + " of " + name + " memory are not aligned");
  if (address > memory.size() || bytes > memory.size() - address)
    return fail(describe(bytes, address) + " are outside of the " + std::to_string(memory.size()) +
                " bytes of " + name + " memory");
  bool isWrite = kind == Kind::Write || kind == Kind::StrongWrite;
  if (!isWrite && !memory.isWritten(address, bytes))
    return fail("byte " + inHexadecimal(*memory.findUnwritten(address, bytes)) + " of " + name +
                " memory was never written");
  if (isWrite)
    memory.setWritten(address, bytes);
  return memory.at(address);
}

uint8_t *Block::accessGlobal(uint64_t address, unsigned bytes, Kind kind) {
  if (kind <= Kind::StrongRead) {
    const uint8_t *found = memory.toRead(address, bytes);
    return found ? const_cast<uint8_t *>(found)
                 : fail(memory.refusal(address, bytes, /*isWrite=*/false));
  }
  if (kind == Kind::Atomic && !memory.toRead(address, bytes))
    return fail(memory.refusal(address, bytes, /*isWrite=*/false));
  uint8_t *found = memory.toWrite(address, bytes);
  return found ? found : fail(memory.refusal(address, bytes, /*isWrite=*/true));
}

static std::optional<Race> addTo(Races &races, uint64_t address, unsigned bytes, Block::Kind kind,
                                 const Moment &moment) {
  switch (kind) {
  case Block::Kind::Read:
    return races.add(address, bytes, Access::Read, moment);
  case Block::Kind::ReadOnly:
    return races.addReadOnly(address, bytes, moment);
  case Block::Kind::StrongRead:
    return races.checkStrongRead(address, bytes, moment);
  case Block::Kind::Write:
    return races.add(address, bytes, Access::Write, moment);
  case Block::Kind::StrongWrite:
  case Block::Kind::Atomic:
    return races.add(address, bytes, Access::Atomic, moment);
  }
}

uint8_t *Block::access(Space space, uint64_t address, unsigned bytes, Kind kind, Moment moment) {
  auto race = [&](Races &races) {
    std::optional<Race> found = addTo(races, address, bytes, kind, moment);
    if (found)
      error = (kind <= Kind::StrongRead ? "the read of " : "the write of ") +
              describe(bytes, address) + " " + found->str();
    return found.has_value();
  };
  uint8_t *found = nullptr;
  switch (space) {
  case Space::Shared:
    found = accessOwn(shared, "shared", address, bytes, kind);
    return found && race(sharedRaces) ? nullptr : found;
  case Space::Local:
    return accessOwn(locals[moment.thread], "local", address, bytes, kind);
  case Space::Parameter:
    return accessOwn(parameters, "parameter", address, bytes, kind);
  case Space::Constant:
    if (!memory.isConstant(address))
      return fail(inHexadecimal(address) + " is not the address of a constant");
    return accessGlobal(address, bytes, kind);
  default:
    found = accessGlobal(address, bytes, kind);
    return found && race(globalRaces) ? nullptr : found;
  }
}

} // namespace tfc::gpu
