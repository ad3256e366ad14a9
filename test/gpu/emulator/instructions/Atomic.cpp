//===- Atomic.cpp - Atomic operations -------------------------------------===//
//
// atom and red, sections 9.7.13.4 and 9.7.13.5 of the PTX ISA. Lanes take turns in their order.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Access.h"
#include <cstring>

namespace tfc::gpu {

namespace {

enum class Operation { Add, Min, Max, Inc, Dec, And, Or, Xor, Exchange, CompareAndSwap };

template <Operation operation, typename T> T combine(T old, T b, T c) {
  switch (operation) {
  case Operation::Add:
    if constexpr (std::is_floating_point_v<T>)
      return old + b;
    else
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
  case Operation::Min:
    return std::min(old, b);
  case Operation::Max:
    return std::max(old, b);
  case Operation::Inc:
    return old >= b ? T(0) : T(old + 1);
  case Operation::Dec:
    return old == 0 || old > b ? b : T(old - 1);
  case Operation::Exchange:
    return b;
  case Operation::CompareAndSwap:
    return old == b ? c : old;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>)
    return operation == Operation::And ? old & b : operation == Operation::Or ? old | b : old ^ b;
  return old;
}

/// The result, if there is one, is the value before. f32 in global memory is flushed by none but
/// the addition, which this leaves to it.
template <typename T, Operation operation>
void atomic(Warp &warp, const Instruction &instruction, uint32_t active) {
  unsigned first = instruction.results;
  const uint64_t *base = warp.cells(instruction.operands[first]);
  const uint64_t *b = warp.cells(instruction.operands[first + 1]);
  constexpr bool isSwap = operation == Operation::CompareAndSwap;
  const uint64_t *c = warp.cells(instruction.operands[first + (isSwap ? 2 : 1)]);
  uint64_t *result = first ? warp.cells(instruction.operands[0]) : nullptr;
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = base[lane] + instruction.value;
    ptx::Space space = Block::resolve(instruction.space, address);
    uint8_t *at =
        warp.block.access(space, address, sizeof(T), Block::Kind::Atomic, warp.momentOf(lane));
    if (!at)
      return warp.fail(lane, warp.block.error);
    T old;
    memcpy(&old, at, sizeof(T));
    T updated = combine<operation, T>(old, fromCell<T>(b[lane]), fromCell<T>(c[lane]));
    memcpy(at, &updated, sizeof(T));
    if (result)
      result[lane] = toCell(old);
  });
}

template <Operation operation> Instruction::Execute executeOf(Scalar type) {
  switch (type) {
  case Scalar::F32:
    return operation == Operation::Add ? &atomic<float, Operation::Add> : nullptr;
  case Scalar::F64:
    return operation == Operation::Add ? &atomic<double, Operation::Add> : nullptr;
  case Scalar::U16:
  case Scalar::S16:
  case Scalar::B16:
    return nullptr;
  default:
    return withInteger(type, [](auto t) { return &atomic<decltype(t), operation>; });
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Returns null if there is no such operation of the type (table in 9.7.13.4).
static Instruction::Execute executeOf(Operation operation, Scalar type) {
  bool isOfBits = operation >= Operation::And;
  if (isOfBits != isBits(type))
    return nullptr;
  switch (operation) {
  case Operation::Add:
    return type == Scalar::S64 ? nullptr : executeOf<Operation::Add>(type);
  case Operation::Min:
    return isInteger(type) ? executeOf<Operation::Min>(type) : nullptr;
  case Operation::Max:
    return isInteger(type) ? executeOf<Operation::Max>(type) : nullptr;
  case Operation::Inc:
    return type == Scalar::U32 ? executeOf<Operation::Inc>(type) : nullptr;
  case Operation::Dec:
    return type == Scalar::U32 ? executeOf<Operation::Dec>(type) : nullptr;
  case Operation::And:
    return executeOf<Operation::And>(type);
  case Operation::Or:
    return executeOf<Operation::Or>(type);
  case Operation::Xor:
    return executeOf<Operation::Xor>(type);
  case Operation::Exchange:
    return executeOf<Operation::Exchange>(type);
  case Operation::CompareAndSwap:
    return executeOf<Operation::CompareAndSwap>(type);
  }
}

template <bool hasResult> static bool decodeAtomic(Form &form) {
  form.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  form.takeOneOf({"cta", "cluster", "gpu", "sys"});
  takeSpace(form);
  int operation =
      form.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  Scalar type = form.takeType();
  bool isInMemory = form.out.space == ptx::Space::Generic || form.out.space == ptx::Space::Global ||
                    form.out.space == ptx::Space::Shared;
  bool isSwap = Operation(operation) == Operation::CompareAndSwap;
  if (operation < 0 || !isInMemory || (!hasResult && Operation(operation) >= Operation::Exchange))
    return form.unknown();
  unsigned first = hasResult ? 1 : 0;
  return setExecute(form, executeOf(Operation(operation), type), Class::Atomic) &&
         form.finish(first + (isSwap ? 3 : 2)) && (!hasResult || form.addResult(0, type)) &&
         form.addAddress(form.source.operands[first]) && form.addSource(first + 1, type) &&
         (!isSwap || form.addSource(first + 2, type));
}

void addAtomic(DecodeTable &table) {
  table["atom"] = decodeAtomic<true>;
  table["red"] = decodeAtomic<false>;
}

} // namespace tfc::gpu
