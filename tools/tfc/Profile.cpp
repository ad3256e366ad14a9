// Samples the program counter by a timer signal and maps samples to functions of a library.
#include "tools/tfc/Profile.h"
#include "llvm/Object/ELFObjectFile.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <sys/time.h>
#include <ucontext.h>

using namespace llvm;
using namespace tfc;

FunctionTable FunctionTable::read(StringRef path) {
  FunctionTable table;
  auto file = object::ObjectFile::createObjectFile(path);
  if (!file) {
    consumeError(file.takeError());
    return table;
  }
  auto *elf = dyn_cast<object::ELFObjectFileBase>(file->getBinary());
  if (!elf)
    return table;
  for (object::ELFSymbolRef symbol : elf->symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint64_t> address = symbol.getAddress();
    if (name && address && symbol.getELFType() == ELF::STT_FUNC && symbol.getSize())
      table.functions.insert({*address, {*address + symbol.getSize(), name->str()}});
    consumeError(name.takeError());
    consumeError(address.takeError());
  }
  return table;
}

StringRef FunctionTable::find(uint64_t offset) const {
  auto it = functions.upper_bound(offset);
  if (it == functions.begin())
    return "";
  --it;
  return offset < it->second.end ? StringRef(it->second.name) : "";
}

std::optional<uint64_t> FunctionTable::addressOf(StringRef name) const {
  for (auto &[address, function] : functions)
    if (function.name == name)
      return address;
  return std::nullopt;
}

/// The buffer of the signal handler; a signal may arrive in any thread.
static uintptr_t *samples;
static std::atomic<size_t> sampleCount;
static constexpr size_t kMaxSamples = 1 << 20;

static void noteInstruction(int, siginfo_t *, void *context) {
  const mcontext_t &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  auto address = static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#else
  auto address = static_cast<uintptr_t>(machine.pc);
#endif
  if (size_t place = sampleCount++; place < kMaxSamples)
    samples[place] = address;
}

/// Makes the profiling timer expire after each such period of processor time; 0 stops it.
static void setTimer(suseconds_t microseconds) {
  itimerval timer = {};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = microseconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

Sampler::Sampler() : buffer(kMaxSamples) {
  samples = buffer.data();
  sampleCount = 0;
  struct sigaction action = {};
  action.sa_sigaction = noteInstruction;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  setTimer(997); // not a divisor of a second, to avoid aliasing with the measured program
}

void Sampler::stop() {
  setTimer(0);
  signal(SIGPROF, SIG_IGN);
}

ArrayRef<uintptr_t> Sampler::getSamples() const {
  return ArrayRef(buffer).take_front(std::min(sampleCount.load(), kMaxSamples));
}
