// Measures the speed of multiply-adds and of reading each level of memory.

#include "tools/tfc/Limits.h"
#include "runtime/Clock.h"
#include "tools/tfc/LimitLoops.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <barrier>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

using namespace llvm;
using namespace tfc;

//===----------------------------------------------------------------------===//
// The loops for the vectors of this processor
//===----------------------------------------------------------------------===//

namespace {
struct Loops {
  double (*fma)(int rounds);
  double (*read)(const void *memory, size_t bytes);
  int lanes;
};
} // namespace

TFC_DEFINE_FMA(fma16, float, 16, )
TFC_DEFINE_READ(read16, 16, )

#if defined(__x86_64__)
TFC_DEFINE_FMA(fma32, float, 32, __attribute__((target("avx2,fma"))))
TFC_DEFINE_READ(read32, 32, __attribute__((target("avx2"))))
TFC_DEFINE_FMA(fma64, float, 64, __attribute__((target("avx512f"))))
TFC_DEFINE_READ(read64, 64, __attribute__((target("avx512f"))))

static Loops chooseLoops() {
  if (__builtin_cpu_supports("avx512f"))
    return {fma64, read64, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {fma32, read32, 8};
  return {fma16, read16, 4};
}
#else
static Loops chooseLoops() { return {fma16, read16, 4}; }
#endif

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

static std::string readCacheFile(int index, StringRef name) {
  auto path = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/" + name.str();
  auto buffer = MemoryBuffer::getFileAsStream(path); // the size of the file is that of a page
  return buffer ? StringRef((*buffer)->getBuffer()).trim().str() : "";
}

/// Returns the caches of data, as Linux describes them, or typical ones, and the memory. Threads
/// share those from the third level on.
static std::vector<MemoryLevel> findLevels(int threads) {
  std::vector<MemoryLevel> levels;
  for (int i = 0; i < 8; ++i) {
    std::string type = readCacheFile(i, "type"), size = readCacheFile(i, "size");
    int64_t kilobytes = 0;
    if (type.empty() || type == "Instruction" ||
        StringRef(size).rtrim('K').getAsInteger(10, kilobytes) || kilobytes < 1)
      continue;
    std::string number = readCacheFile(i, "level");
    int64_t part = number < "3" ? kilobytes << 10 : (kilobytes << 10) / threads;
    levels.push_back({"L" + number, std::max<int64_t>(part, 8192)});
  }
  if (levels.empty())
    levels = {{"L1", 32 << 10}, {"L2", 512 << 10}};
  levels.push_back({"memory", std::numeric_limits<int64_t>::max()});
  return levels;
}

const MemoryLevel &MachineLimits::levelOf(double bytes) const {
  for (const MemoryLevel &level : levels)
    if (bytes / threads <= double(level.bytes))
      return level;
  return levels.back();
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

static constexpr int kSamples = 5;
/// Of a sample: long in comparison with the clock and with waking threads.
static constexpr int kRounds = 400000;
static constexpr int64_t kBytesOfSample = 64 << 20;
static constexpr int64_t kLeastMemory = 64 << 20, kMostMemory = 512 << 20;

/// Runs `run` in all threads at once several times; returns the shortest time in seconds.
static double bestTime(int threads, function_ref<double(int thread)> run) {
  int64_t begin = 0, best = std::numeric_limits<int64_t>::max();
  std::barrier start(threads, [&]() noexcept { begin = runtime::nanoseconds(); });
  std::barrier end(threads, [&]() noexcept {
    best = std::min(best, std::max<int64_t>(1, runtime::nanoseconds() - begin));
  });
  auto work = [&](int thread) {
    for (int i = 0; i < kSamples; ++i) {
      start.arrive_and_wait();
      [[maybe_unused]] volatile double sink = run(thread); // so that it has to be computed
      end.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back(work, i);
  work(0);
  for (std::thread &other : others)
    other.join();
  return best * 1e-9;
}

MachineLimits tfc::measureLimits(int threads) {
  Loops loops = chooseLoops();
  MachineLimits limits = {threads, 0, findLevels(threads)};
  double operations = 2.0 * kChains * kRounds * loops.lanes * threads;
  limits.flops = operations / bestTime(threads, [&](int) { return loops.fma(kRounds); });

  // Half of a cache stays in it; of memory, several times what the last cache holds.
  int64_t outside = 4 * limits.levels.end()[-2].bytes * threads;
  int64_t most = std::clamp(outside, kLeastMemory, kMostMemory);
  std::unique_ptr<char, decltype(&std::free)> memory(
      static_cast<char *>(std::aligned_alloc(4096, most)), std::free);
  std::memset(memory.get(), 1, most);
  for (MemoryLevel &level : limits.levels) {
    int64_t part = std::min(most / threads, level.bytes / 2) / 4096 * 4096;
    int64_t times = std::max<int64_t>(1, kBytesOfSample / part);
    auto read = [&](int thread) {
      double sum = 0;
      for (int64_t i = 0; i < times; ++i)
        sum += loops.read(memory.get() + thread * part, part);
      return sum;
    };
    level.bytesPerSecond = double(threads) * part * times / bestTime(threads, read);
  }
  return limits;
}
