//===- Main.cpp - A compiler that is wrong in one place -------------------===//
//
//   tfc-faulty STAGE:OP=OTHER run ...
//
// is `tfc run ...`, but after STAGE each operation of the name OP becomes OTHER, with the same
// operands. `STAGE:OP=OTHER:MOST` hides where more than MOST values are shown, as faults of the
// memory plan may. For tests of what `--compare-with=reference` says about a wrong compiler.
//
//   tfc-faulty crash
//   tfc-faulty damage
//
// crash as `tfc` does: by a wrong address, and in malloc, whose lock is held.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/HostForm.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Crash.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <malloc.h>
#include <thread>
#include <unistd.h>

using namespace tfc;

namespace {
struct Fault {
  llvm::StringRef stage, op, other;
  int64_t most = std::numeric_limits<int64_t>::max();
};
} // namespace

static void put(const Fault &fault, mlir::Operation *op) {
  mlir::OpBuilder b(op);
  mlir::Operation *wrong = b.create(op->getLoc(), b.getStringAttr(fault.other), op->getOperands(),
                                    op->getResultTypes(), op->getAttrs());
  op->replaceAllUsesWith(wrong);
  op->erase();
}

/// The number of values that are shown.
static int64_t countProbes(mlir::ModuleOp module) {
  int64_t count = 0;
  module.walk([&](dfg::PushOp push) { count += push.getProbe().has_value(); });
  return count;
}

/// Makes malloc end the process while it holds the lock of the heap, which it takes if there are
/// threads.
[[noreturn]] static void damageHeap() {
  std::thread([] { pause(); }).detach();
  constexpr size_t kBytes = 100'000; // from the heap, and not a mapping of its own
  for (;;) {
    auto *block = static_cast<char *>(malloc(kBytes));
    // The number of free bytes after the block, if it is the last one.
    *reinterpret_cast<volatile size_t *>(block + malloc_usable_size(block)) = ~size_t(0);
  }
}

int main(int argc, char **argv) {
  installCrashHandler(/*seconds=*/1);
  llvm::InitLLVM init(argc, argv);
  if (argc == 2 && llvm::StringRef(argv[1]) == "crash")
    raise(SIGSEGV);
  if (argc == 2 && llvm::StringRef(argv[1]) == "damage")
    damageHeap();
  if (argc < 3) {
    llvm::errs() << "usage: tfc-faulty STAGE:OP=OTHER run ...\n";
    return 2;
  }
  Fault fault;
  llvm::StringRef rest;
  std::tie(fault.stage, rest) = llvm::StringRef(argv[1]).split(':');
  std::tie(fault.op, rest) = rest.split('=');
  std::tie(fault.other, rest) = rest.split(':');
  if (!rest.empty() && rest.getAsInteger(10, fault.most))
    return 2;
  int exitCode = 0;
  std::optional<CommandLine> command = parseCommandLine(argc - 1, argv + 1, exitCode);
  if (!command)
    return exitCode;
  command->run.compile.pipeline.onStage = [fault](llvm::StringRef stage, mlir::ModuleOp module) {
    if (stage != fault.stage || countProbes(module) > fault.most)
      return;
    llvm::SmallVector<mlir::Operation *> found;
    module.walk([&](mlir::Operation *op) {
      if (op->getName().getStringRef() == fault.op)
        found.push_back(op);
    });
    for (mlir::Operation *op : found)
      put(fault, op);
  };
  return runEntry(command->run);
}
