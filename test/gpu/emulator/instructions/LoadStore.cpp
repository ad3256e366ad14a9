//===- LoadStore.cpp - Loads and stores -----------------------------------===//
//
// Sections 9.7.9.8 to 9.7.9.12 of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Access.h"
#include <cstring>

namespace tfc::gpu {

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// Counts the different values of `address / unit` over the lanes.
static unsigned countUnits(const uint64_t *addresses, uint32_t active, unsigned bytes,
                           uint64_t unit) {
  uint64_t seen[kLanes * 16];
  unsigned count = 0;
  forEachLane(active, [&](unsigned lane) {
    for (uint64_t at = addresses[lane] / unit; at <= (addresses[lane] + bytes - 1) / unit; ++at) {
      bool isKnown = count > 0 && seen[count - 1] == at;
      for (unsigned i = 0; i < count && !isKnown; ++i)
        isKnown = seen[i] == at;
      if (!isKnown)
        seen[count++] = at;
    }
  });
  return count;
}

namespace {
/// The words of a request by their banks, of which there are 32 of 4 bytes.
class Banks {
public:
  void add(uint64_t word) {
    unsigned bank = word % 32;
    if (counts[bank] > 0 && firsts[bank] == word)
      return;
    if (counts[bank] == 0)
      firsts[bank] = word;
    else if (std::find(others, others + otherCount, word) != others + otherCount)
      return;
    else
      others[otherCount++] = word;
    most = std::max<unsigned>(most, ++counts[bank]);
  }
  /// The most different words of one bank.
  unsigned getMost() const { return most; }

private:
  uint64_t firsts[32], others[kLanes * 4];
  uint8_t counts[32] = {};
  unsigned otherCount = 0, most = 0;
};
} // namespace

/// The passes over the banks for a request. Requests of more than 4 bytes per lane are served for
/// halves or quarters of the warp.
static unsigned countPasses(const uint64_t *addresses, uint32_t active, unsigned bytes) {
  unsigned passes = 0, parts = std::max(1u, bytes / 4), lanes = kLanes / parts;
  for (unsigned part = 0; part < parts; ++part) {
    uint32_t own = active & (lanes == kLanes ? kAllLanes : ((1u << lanes) - 1) << (part * lanes));
    Banks banks;
    forEachLane(own, [&](unsigned lane) {
      for (uint64_t word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word)
        banks.add(word);
    });
    passes += banks.getMost();
  }
  return passes;
}

void countRequest(Warp &warp, const Instruction &instruction, const uint64_t *addresses,
                  uint32_t active, unsigned bytes) {
  Counters &counters = warp.block.counters;
  uint64_t first = addresses[std::countr_zero(active)];
  ptx::Space space = Block::resolve(instruction.space, first);
  if (space == ptx::Space::Global) {
    ++counters.globalRequests;
    counters.globalBytes += uint64_t(bytes) * std::popcount(active);
    counters.globalSectors += countUnits(addresses, active, bytes, 32);
  } else if (space == ptx::Space::Shared) {
    ++counters.sharedRequests;
    counters.sharedPasses += countPasses(addresses, active, bytes);
  }
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Gives `visit` the bytes of each lane.
template <typename Visit>
static void access(Warp &warp, const Instruction &instruction, uint32_t active, Row base,
                   unsigned elements, Block::Kind kind, Visit visit) {
  const uint64_t *cells = warp.cells(base);
  unsigned bytes = instruction.bytes * elements;
  uint64_t addresses[kLanes];
  forEachLane(active, [&](unsigned lane) { addresses[lane] = cells[lane] + instruction.value; });
  countRequest(warp, instruction, addresses, active, bytes);
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = addresses[lane];
    ptx::Space space = Block::resolve(instruction.space, address);
    uint8_t *found = warp.block.access(space, address, bytes, kind, warp.momentOf(lane));
    if (!found)
      return warp.fail(lane, warp.block.error);
    visit(lane, found);
  });
}

/// Copies an element, whose size the compiler does not know.
static void copyElement(void *to, const void *from, unsigned bytes) {
  switch (bytes) {
  case 1:
    memcpy(to, from, 1);
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  default:
    memcpy(to, from, 8);
  }
}

static void load(Warp &warp, const Instruction &instruction, uint32_t active) {
  unsigned bytes = instruction.bytes, elements = instruction.results;
  Block::Kind kind = instruction.isReadOnly ? Block::Kind::ReadOnly
                     : instruction.isStrong ? Block::Kind::StrongRead
                                            : Block::Kind::Read;
  uint64_t *results[4];
  for (unsigned i = 0; i < elements; ++i)
    results[i] = warp.cells(instruction.operands[i]);
  unsigned unused = 64 - 8 * bytes;
  access(warp, instruction, active, instruction.operands[elements], elements, kind,
         [&](unsigned lane, const uint8_t *from) {
           for (unsigned i = 0; i < elements; ++i) {
             uint64_t cell = 0;
             copyElement(&cell, from + i * bytes, bytes);
             if (instruction.isSigned)
               cell = uint64_t(int64_t(cell << unused) >> unused);
             results[i][lane] = cell;
           }
         });
}

static void store(Warp &warp, const Instruction &instruction, uint32_t active) {
  unsigned bytes = instruction.bytes, elements = instruction.operandCount - 1;
  const uint64_t *sources[4];
  for (unsigned i = 0; i < elements; ++i)
    sources[i] = warp.cells(instruction.operands[i + 1]);
  access(warp, instruction, active, instruction.operands[0], elements,
         instruction.isStrong ? Block::Kind::StrongWrite : Block::Kind::Write,
         [&](unsigned lane, uint8_t *to) {
           for (unsigned i = 0; i < elements; ++i)
             copyElement(to + i * bytes, &sources[i][lane], bytes);
         });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void takeSpace(Form &form) {
  static constexpr ptx::Space kSpaces[] = {ptx::Space::Global, ptx::Space::Shared,
                                           ptx::Space::Local, ptx::Space::Constant,
                                           ptx::Space::Parameter};
  int space = form.takeOneOf({"global", "shared", "local", "const", "param"});
  if (space >= 0)
    form.out.space = kSpaces[space];
}

bool takeOrder(Form &form, std::initializer_list<std::string_view> orders) {
  if (form.take("weak"))
    return true;
  if (form.take("volatile"))
    return form.out.isStrong = true;
  if (form.takeOneOf(orders) < 0)
    return true;
  form.out.isStrong = true;
  return form.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0;
}

static bool takeElements(Form &form, unsigned &elements, Scalar &type) {
  elements = form.take("v2") ? 2 : form.take("v4") ? 4 : 1;
  type = form.takeType();
  bool isKnown = type != Scalar::None && type != Scalar::Pred && !isHalf(type) &&
                 type != Scalar::TF32 && bytesOf(type) * elements <= 16;
  form.out.bytes = static_cast<uint8_t>(bytesOf(type));
  form.out.isSigned = isSigned(type);
  return isKnown;
}

/// Adds an element, or those of a vector.
static bool addElements(Form &form, const ptx::Operand &operand, unsigned elements, Scalar type,
                        bool isResult) {
  bool isVector = operand.kind == ptx::Operand::Kind::Vector;
  if (isVector != (elements > 1) || (isVector && operand.elements.size() != elements))
    return form.fail("expected " + std::to_string(elements) + " elements");
  for (unsigned i = 0; i < elements; ++i) {
    const ptx::Operand &element = isVector ? operand.elements[i] : operand;
    if (!(isResult ? form.addResult(element, type, true) : form.addSource(element, type, true)))
      return false;
  }
  return true;
}

static bool decodeLoad(Form &form) {
  if (!takeOrder(form, {"relaxed", "acquire"}))
    return form.unknown();
  takeSpace(form);
  form.takeOneOf({"ca", "cg", "cs", "lu", "cv"});
  form.out.isReadOnly = form.out.space == ptx::Space::Global && form.take("nc");
  unsigned elements;
  Scalar type;
  if (!takeElements(form, elements, type))
    return form.unknown();
  return setExecute(form, &load, Class::Memory) && form.finish(2) &&
         addElements(form, form.source.operands[0], elements, type, true) &&
         form.addAddress(form.source.operands[1]);
}

static bool decodeStore(Form &form) {
  if (!takeOrder(form, {"relaxed", "release"}))
    return form.unknown();
  takeSpace(form);
  form.takeOneOf({"wb", "cg", "cs", "wt"});
  unsigned elements;
  Scalar type;
  bool isWritable =
      form.out.space != ptx::Space::Constant && form.out.space != ptx::Space::Parameter;
  if (!takeElements(form, elements, type) || !isWritable)
    return form.unknown();
  return setExecute(form, &store, Class::Memory) && form.finish(2) &&
         form.addAddress(form.source.operands[0]) &&
         addElements(form, form.source.operands[1], elements, type, false);
}

/// Prefetches change nothing.
static bool decodePrefetch(Form &form) {
  takeSpace(form);
  if (form.takeOneOf({"L1", "L2"}) < 0)
    return form.unknown();
  auto nothing = [](Warp &, const Instruction &, uint32_t) {};
  return setExecute(form, nothing, Class::Memory) && form.finish(1) &&
         form.addAddress(form.source.operands[0]);
}

void addLoadStore(DecodeTable &table) {
  table["ld"] = decodeLoad;
  table["st"] = decodeStore;
  table["prefetch"] = decodePrefetch;
}

} // namespace tfc::gpu
