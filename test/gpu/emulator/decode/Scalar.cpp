//===- Scalar.cpp - The types of instructions -----------------------------===//
//
// The names and sizes of types, and which registers may hold them.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/decode/Scalar.h"
#include <iterator>

namespace tfc::gpu {

namespace {
struct Info {
  std::string_view name;
  int bits;
};
} // namespace

static constexpr Info kInfos[] = {
    {"", 0},      {"pred", 1},    {"b8", 8},   {"b16", 16}, {"b32", 32}, {"b64", 64},
    {"u8", 8},    {"u16", 16},    {"u32", 32}, {"u64", 64}, {"s8", 8},   {"s16", 16},
    {"s32", 32},  {"s64", 64},    {"f16", 16}, {"f32", 32}, {"f64", 64}, {"f16x2", 32},
    {"bf16", 16}, {"bf16x2", 32}, {"tf32", 32}};

Scalar scalarNamed(std::string_view name) {
  for (size_t i = 1; i < std::size(kInfos); ++i)
    if (kInfos[i].name == name)
      return static_cast<Scalar>(i);
  return Scalar::None;
}

std::string_view nameOf(Scalar type) { return kInfos[static_cast<int>(type)].name; }

int bitsOf(Scalar type) { return kInfos[static_cast<int>(type)].bits; }

bool fits(Scalar type, const ptx::Type &reg, bool mayBeWider) {
  using Kind = ptx::Type::Kind;
  bool isPredicate = reg.kind == Kind::Predicate;
  if (type == Scalar::Pred || isPredicate)
    return type == Scalar::Pred && isPredicate;
  bool isSize = mayBeWider ? reg.bits >= bitsOf(type) : reg.bits == bitsOf(type);
  if (!isSize || reg.bits > 64)
    return false;
  if (reg.kind == Kind::Bits || isBits(type))
    return true;
  if (isInteger(type))
    return reg.kind != Kind::Float;
  // Registers of packed and alternative formats have types of bits.
  bool isPlain = type == Scalar::F16 || isFloat(type);
  return isPlain && reg.kind == Kind::Float && reg.bits == bitsOf(type);
}

} // namespace tfc::gpu
