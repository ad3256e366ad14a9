//===- Cpu.cpp - Features of the processor --------------------------------===//
//
// Compares the features that a model was compiled for with those of the processor and its system.
// The table of features and the instruction that reads them are used nowhere else.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace tfc::runtime;

#if defined(__x86_64__)

namespace {

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };

/// The register state that the system must save on a context switch for the feature to be usable:
/// bits of XCR0.
enum SavedState : uint32_t { kNone = 0, kYmm = 0x6, kZmm = 0xe6, kAmx = 0x60000 };

struct Feature {
  const char *name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  uint8_t bit;
  SavedState state;
};

} // namespace

static constexpr Feature kFeatures[] = {
    {"cx16", 1, 0, kEcx, 13, kNone},
    {"sse", 1, 0, kEdx, 25, kNone},
    {"sse2", 1, 0, kEdx, 26, kNone},
    {"sse3", 1, 0, kEcx, 0, kNone},
    {"ssse3", 1, 0, kEcx, 9, kNone},
    {"sse4.1", 1, 0, kEcx, 19, kNone},
    {"sse4.2", 1, 0, kEcx, 20, kNone},
    {"pclmul", 1, 0, kEcx, 1, kNone},
    {"aes", 1, 0, kEcx, 25, kNone},
    {"movbe", 1, 0, kEcx, 22, kNone},
    {"popcnt", 1, 0, kEcx, 23, kNone},
    {"avx", 1, 0, kEcx, 28, kYmm},
    {"f16c", 1, 0, kEcx, 29, kYmm},
    {"fma", 1, 0, kEcx, 12, kYmm},
    {"avx2", 7, 0, kEbx, 5, kYmm},
    {"bmi", 7, 0, kEbx, 3, kNone},
    {"bmi2", 7, 0, kEbx, 8, kNone},
    {"adx", 7, 0, kEbx, 19, kNone},
    {"sha", 7, 0, kEbx, 29, kNone},
    {"gfni", 7, 0, kEcx, 8, kNone},
    {"vaes", 7, 0, kEcx, 9, kYmm},
    {"vpclmulqdq", 7, 0, kEcx, 10, kYmm},
    {"avx512f", 7, 0, kEbx, 16, kZmm},
    {"avx512dq", 7, 0, kEbx, 17, kZmm},
    {"avx512ifma", 7, 0, kEbx, 21, kZmm},
    {"avx512cd", 7, 0, kEbx, 28, kZmm},
    {"avx512bw", 7, 0, kEbx, 30, kZmm},
    {"avx512vl", 7, 0, kEbx, 31, kZmm},
    {"avx512vbmi", 7, 0, kEcx, 1, kZmm},
    {"avx512vbmi2", 7, 0, kEcx, 6, kZmm},
    {"avx512vnni", 7, 0, kEcx, 11, kZmm},
    {"avx512bitalg", 7, 0, kEcx, 12, kZmm},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kZmm},
    {"avx512vp2intersect", 7, 0, kEdx, 8, kZmm},
    {"avx512fp16", 7, 0, kEdx, 23, kZmm},
    {"amx-bf16", 7, 0, kEdx, 22, kAmx},
    {"amx-tile", 7, 0, kEdx, 24, kAmx},
    {"amx-int8", 7, 0, kEdx, 25, kAmx},
    {"avxvnni", 7, 1, kEax, 4, kYmm},
    {"avx512bf16", 7, 1, kEax, 5, kZmm},
    {"avxifma", 7, 1, kEax, 23, kYmm},
    {"avxvnniint8", 7, 1, kEdx, 4, kYmm},
    {"avxneconvert", 7, 1, kEdx, 5, kYmm},
    {"avxvnniint16", 7, 1, kEdx, 10, kYmm},
    {"lzcnt", 0x80000001, 0, kEcx, 5, kNone},
    {"sse4a", 0x80000001, 0, kEcx, 6, kNone},
    {"xop", 0x80000001, 0, kEcx, 11, kYmm},
    {"fma4", 0x80000001, 0, kEcx, 16, kYmm},
    {"tbm", 0x80000001, 0, kEcx, 21, kNone},
};

static uint32_t readRegister(uint32_t leaf, uint32_t subleaf, Register reg) {
  uint32_t value[4] = {};
  if (!__get_cpuid_count(leaf, subleaf, &value[0], &value[1], &value[2], &value[3]))
    return 0;
  return value[reg];
}

/// The register state that the system saves: XCR0, or 0 if unknown.
static uint32_t savedState() {
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!(readRegister(1, 0, kEcx) & kOsxsave))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static const Feature *findFeature(const char *name, size_t length) {
  for (const Feature &feature : kFeatures)
    if (strncmp(feature.name, name, length) == 0 && feature.name[length] == 0)
      return &feature;
  return nullptr;
}

static bool isPresent(const Feature &feature) {
  // Subleaf 1 of leaf 7 exists only if subleaf 0 reports it; otherwise reading it repeats the last
  // one.
  if (feature.subleaf > 0 && readRegister(feature.leaf, 0, kEax) < feature.subleaf)
    return false;
  bool has = readRegister(feature.leaf, feature.subleaf, feature.reg) >> feature.bit & 1;
  return has && (savedState() & feature.state) == feature.state;
}

#elif defined(__aarch64__)

namespace {

/// A feature and its bit in one of the words with which the kernel describes the processor.
struct Feature {
  const char *name;
  unsigned long word;
  uint8_t bit;
};

} // namespace

static constexpr Feature kFeatures[] = {
    {"fp-armv8", AT_HWCAP, 0},   {"neon", AT_HWCAP, 1},       {"aes", AT_HWCAP, 3},
    {"sha2", AT_HWCAP, 6},       {"crc", AT_HWCAP, 7},        {"lse", AT_HWCAP, 8},
    {"fullfp16", AT_HWCAP, 10},  {"rdm", AT_HWCAP, 12},       {"jsconv", AT_HWCAP, 13},
    {"complxnum", AT_HWCAP, 14}, {"rcpc", AT_HWCAP, 15},      {"sha3", AT_HWCAP, 17},
    {"sm4", AT_HWCAP, 19},       {"dotprod", AT_HWCAP, 20},   {"sve", AT_HWCAP, 22},
    {"fp16fml", AT_HWCAP, 23},   {"rcpc-immo", AT_HWCAP, 26}, {"flagm", AT_HWCAP, 27},
    {"sve2", AT_HWCAP2, 1},      {"altnzcv", AT_HWCAP2, 7},   {"fptoint", AT_HWCAP2, 8},
    {"f32mm", AT_HWCAP2, 10},    {"f64mm", AT_HWCAP2, 11},    {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},
};

static const Feature *findFeature(const char *name, size_t length) {
  for (const Feature &feature : kFeatures)
    if (strncmp(feature.name, name, length) == 0 && feature.name[length] == 0)
      return &feature;
  return nullptr;
}

static bool isPresent(const Feature &feature) { return getauxval(feature.word) >> feature.bit & 1; }

#else

namespace {
struct Feature {};
} // namespace
static const Feature *findFeature(const char *, size_t) { return nullptr; }
static bool isPresent(const Feature &) { return true; }

#endif

bool tfc::runtime::hasFeature(const char *name) {
  const Feature *feature = findFeature(name, strlen(name));
  return feature && isPresent(*feature);
}

bool tfc::runtime::findMissingFeature(const char *features, char *missing, size_t capacity) {
  for (const char *item = features ? features : ""; *item;) {
    size_t length = strcspn(item, ",");
    if (*item == '+') {
      const Feature *feature = findFeature(item + 1, length - 1);
      if (feature && !isPresent(*feature)) {
        size_t copied = length - 1 < capacity ? length - 1 : capacity - 1;
        memcpy(missing, item + 1, copied);
        missing[copied] = 0;
        return true;
      }
    }
    item += length + (item[length] == ',');
  }
  return false;
}
