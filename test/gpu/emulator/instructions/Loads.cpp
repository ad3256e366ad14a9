//===- Loads.cpp - Loads and stores ---------------------------------------===//
//
// Sections 9.7.8.8 to 9.7.8.11. Caching is no part of the model, so its modifiers are checked and
// ignored; so are scopes, for a strong access orders the same here in each.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Accesses.h"
#include "test/gpu/emulator/instructions/Elementwise.h"

namespace tfc::gpu {

using enum Scalar;
using ptx::Space;

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// The addresses of the lanes. Those in shared memory become addresses of that space.
static void resolveAll(Warp &warp, const Instruction &i, const uint64_t *base, uint32_t active,
                       LaneAddresses &addresses) {
  Space space = i.access.space;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    addresses.of[lane] = base[lane] + i.value;
  addresses.global = space == Space::Global ? active : 0;
  addresses.shared = space == Space::Shared ? active : 0;
  if (space != Space::Generic)
    return;
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = addresses.of[lane];
    space = resolve(Space::Generic, address);
    addresses.global |= uint32_t(space == Space::Global) << lane;
    addresses.shared |= uint32_t(space == Space::Shared) << lane;
    if (space == Space::Shared)
      addresses.of[lane] = address;
  });
}

/// The space of a lane; its address becomes one of that space.
static Space spaceOf(const Instruction &i, const LaneAddresses &addresses, unsigned lane,
                     uint64_t &address) {
  if (addresses.shared >> lane & 1)
    return Space::Shared;
  return resolve(i.access.space, address);
}

/// The cell of an element, extended by its sign if it has one.
template <typename T> static uint64_t extended(const uint8_t *from, bool isSigned) {
  T value;
  memcpy(&value, from, sizeof value);
  if (isSigned)
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<std::make_signed_t<T>>(value)));
  return value;
}

template <typename T> static void load(Warp &warp, const Instruction &i, uint32_t active) {
  const AccessForm &form = i.access;
  unsigned count = form.count, bytes = sizeof(T) * count;
  LaneAddresses addresses;
  resolveAll(warp, i, warp.cells(i.operands[i.results]), active, addresses);
  Access access = accessOf(form, false);
  uint64_t origin = 0;
  bool isFast = enterRaces(warp, active);
  const uint8_t *memory =
      isFast ? toAccessTogether(warp, addresses, active, bytes, access, false, origin) : nullptr;
  auto take = [&](unsigned lane, const uint8_t *from) {
    for (unsigned k = 0; k < count; ++k)
      warp.cells(i.operands[k])[lane] =
          extended<T>(from + sizeof(T) * k, form.isSigned) & form.resultMask;
  };
  if (memory && count == 1) {
    uint64_t *result = warp.cells(i.operands[0]);
    forEachLane(active, [&](unsigned lane) {
      result[lane] =
          extended<T>(memory + (addresses.of[lane] - origin), form.isSigned) & form.resultMask;
    });
  } else if (memory) {
    forEachLane(active, [&](unsigned lane) { take(lane, memory + (addresses.of[lane] - origin)); });
  } else {
    forEachLane(active, [&](unsigned lane) {
      uint64_t address = addresses.of[lane];
      Space space = spaceOf(i, addresses, lane, address);
      if (const uint8_t *from =
              toRead(warp, lane, space, address, bytes, access, isFast, form.isOfCall))
        take(lane, from);
    });
  }
  countAccesses(warp.block.counters, addresses, bytes, false);
}

template <typename T> static void store(Warp &warp, const Instruction &i, uint32_t active) {
  const AccessForm &form = i.access;
  unsigned count = form.count, bytes = sizeof(T) * count;
  LaneAddresses addresses;
  resolveAll(warp, i, warp.cells(i.operands[0]), active, addresses);
  Access access = accessOf(form, true);
  uint64_t origin = 0;
  bool isFast = enterRaces(warp, active);
  uint8_t *memory =
      isFast ? toAccessTogether(warp, addresses, active, bytes, access, true, origin) : nullptr;
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = addresses.of[lane];
    uint8_t *to = nullptr;
    if (memory) {
      to = memory + (address - origin);
    } else {
      Space space = spaceOf(i, addresses, lane, address);
      to = toWrite(warp, lane, space, address, bytes, access, isFast, form.isOfCall);
    }
    for (unsigned k = 0; to && k < count; ++k) {
      T value = static_cast<T>(warp.cells(i.operands[1 + k])[lane]);
      memcpy(to + sizeof(T) * k, &value, sizeof value);
    }
  });
  countAccesses(warp.block.counters, addresses, bytes, true);
}

static Instruction::Execute chooseLoad(int bytes) {
  return bytes == 1   ? load<uint8_t>
         : bytes == 2 ? load<uint16_t>
         : bytes == 4 ? load<uint32_t>
                      : load<uint64_t>;
}

static Instruction::Execute chooseStore(int bytes) {
  return bytes == 1   ? store<uint8_t>
         : bytes == 2 ? store<uint16_t>
         : bytes == 4 ? store<uint32_t>
                      : store<uint64_t>;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static constexpr auto kLoadable = {B8,  B16, B32, B64, U8,  U16, U32,
                                   U64, S8,  S16, S32, S64, F32, F64};

static Class classOf(const AccessForm &form) {
  switch (form.space) {
  case Space::Shared:
    return Class::Shared;
  case Space::Local:
    return Class::Local;
  case Space::Constant:
  case Space::Parameter:
    return Class::Constant;
  default:
    return Class::Global;
  }
}

static Space takeSpace(Decoder &d) {
  if (d.takeIf("shared")) {
    d.takeIf("::cta");
    return Space::Shared;
  }
  static constexpr Space kSpaces[] = {Space::Generic,  Space::Global,    Space::Local,
                                      Space::Constant, Space::Parameter, Space::Shared};
  return kSpaces[d.takeOneOf({"global", "local", "const", "param", "shared::cta"}) + 1];
}

/// .weak, .volatile, .relaxed.scope, and the one that orders. Returns true if it is strong.
static bool takeOrder(Decoder &d, std::string_view ordered) {
  int order = d.takeOneOf({"weak", "volatile", "relaxed", ordered});
  if (order >= 2)
    d.requireOneOf({"cta", "gpu", "sys"});
  return order >= 1;
}

/// Cache hints: {.level::eviction}{.level::prefetch}.
static void takeHints(Decoder &d) {
  d.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
               "L1::no_allocate"});
  d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
}

static uint8_t takeCount(Decoder &d) {
  int index = d.takeOneOf({"v2", "v4"});
  return index < 0 ? 1 : index == 0 ? 2 : 4;
}

/// Takes the size and type of the elements, which together have at most 16 bytes.
static Scalar takeElements(Decoder &d, AccessForm &form) {
  form.count = takeCount(d);
  Scalar type = d.takeType(kLoadable);
  d.endModifiers();
  form.bytes = static_cast<uint8_t>(bytesOf(type));
  form.isSigned = isSigned(type);
  if (form.bytes * form.count > 16)
    d.failUnknown();
  return type;
}

/// The bits of the register that takes a result: the sign is extended to them alone.
static uint64_t maskOfResult(Decoder &d, const ptx::Operand &operand) {
  if (operand.kind != ptx::Operand::Kind::Register)
    return ~uint64_t(0);
  int bits = d.scope.function->registers[operand.number].type.bits;
  return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}

static void finishLoad(Decoder &d, AccessForm form) {
  Scalar type = takeElements(d, form);
  d.requireCount(2);
  const ptx::Operand &results = d.operand(0);
  form.resultMask = ~uint64_t(0);
  if (form.count == 1) {
    d.addResult(results, type, true);
    form.resultMask = maskOfResult(d, results);
  } else {
    d.addResults(results, type, form.count, true);
    for (const ptx::Operand &element : results.elements)
      form.resultMask &= maskOfResult(d, element);
  }
  d.addAddress(d.operand(1), form);
  d.instruction.access = form;
  d.setExecute(chooseLoad(form.bytes), classOf(form));
}

/// Only memory that threads share has an order.
static void checkOrder(Decoder &d, const AccessForm &form) {
  bool isReal =
      form.space == Space::Global || form.space == Space::Shared || form.space == Space::Generic;
  if (form.isStrong && !isReal)
    d.failUnknown();
}

/// ld{.order}{.space}{.cop}{.vec}.type d, [a], and ld.global{.cop}.nc.
static void decodeLoad(Decoder &d) {
  AccessForm form;
  form.isStrong = takeOrder(d, "acquire");
  form.space = takeSpace(d);
  int cop = form.isStrong ? -1 : d.takeOneOf({"ca", "cg", "cs", "lu", "cv"});
  if (form.space == Space::Global && !form.isStrong && cop < 3 && d.takeIf("nc"))
    form.isReadOnly = true;
  checkOrder(d, form);
  takeHints(d);
  finishLoad(d, form);
}

/// ldu: a load whose address is the same in all threads of the warp (9.7.8.10).
static void decodeUniformLoad(Decoder &d) {
  AccessForm form;
  form.space = d.takeIf("global") ? Space::Global : Space::Generic;
  form.isReadOnly = true;
  finishLoad(d, form);
}

/// st{.order}{.space}{.cop}{.vec}.type [a], b
static void decodeStore(Decoder &d) {
  AccessForm form;
  form.isStrong = takeOrder(d, "release");
  form.space = takeSpace(d);
  if (form.space == Space::Constant)
    d.failUnknown();
  checkOrder(d, form);
  if (!form.isStrong)
    d.takeOneOf({"wb", "cg", "cs", "wt"});
  takeHints(d);
  Scalar type = takeElements(d, form);
  d.requireCount(2);
  d.addAddress(d.operand(0), form);
  if (form.count == 1)
    d.addSource(d.operand(1), type, true);
  else
    d.addSources(d.operand(1), type, form.count, true);
  if (form.space == Space::Parameter)
    d.fail("the parameters of a kernel are constant");
  d.instruction.access = form;
  d.setExecute(chooseStore(form.bytes), classOf(form));
}

/// prefetch{.space}.level [a] and prefetchu.L1 [a]: nothing is read.
static void decodePrefetch(Decoder &d) {
  AccessForm form;
  form.bytes = 1;
  form.space = takeSpace(d);
  if (form.space == Space::Shared || form.space == Space::Constant)
    d.failUnknown();
  d.requireOneOf({"L1", "L2"});
  d.endModifiers();
  d.requireCount(1);
  d.addAddress(d.operand(0), form);
  d.setExecute([](Warp &, const Instruction &, uint32_t) {}, Class::Global);
}

const Entry kMemoryEntries[] = {{"ld", Entry::Any, decodeLoad},
                                {"ldu", Entry::Any, decodeUniformLoad},
                                {"st", Entry::Any, decodeStore},
                                {"prefetch", Entry::Any, decodePrefetch},
                                {"prefetchu", Entry::Any, decodePrefetch},
                                {}};

} // namespace tfc::gpu
