// Emits the cooperation of threads that compute a point of a launch together.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc::gpu {

/// The threads of a block. There are enough of them to fill a multiprocessor, and few enough that a
/// function may use many registers.
inline constexpr int64_t kBlockThreads = 256;
/// The threads of a warp.
inline constexpr int64_t kWarpThreads = 32;

/// The address spaces of the device's memory, and of memory that the threads of a block share.
inline constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

/// The number of this thread among those of the launch.
mlir::Value threadNumber(mlir::OpBuilder &b, mlir::Location loc);

/// A special register of 32 bits, by its name in PTX.
mlir::Value readRegister(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name);

/// Access a number of any type in memory.
void storeNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value address);
mlir::Value loadNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                       mlir::Value address);

/// A thread on its own, a warp, a block, or every `stride`-th thread of a block. All threads of a
/// group execute what needs the others at the same time.
class ThreadGroup {
public:
  /// Emits the position of this thread in a group of `size` threads; `module` takes the group's
  /// shared memory.
  ThreadGroup(mlir::OpBuilder &b, mlir::Location loc, mlir::ModuleOp module, int64_t size,
              int64_t stride);

  int64_t size() const { return threads; }
  /// Returns true if other groups wait at the same barriers: none may leave before.
  bool sharesBarriers() const { return stride > 1; }
  /// The number of this group, given that of this thread, both of type index.
  mlir::Value numberOf(mlir::Value thread);
  /// Leaves a group without a first thread unless the condition holds.
  void requireForFirst(mlir::Value condition);
  /// The number of this thread in its group, of type index.
  mlir::Value lane() const { return number; }
  /// True in the first thread of the group; null if it is alone.
  mlir::Value isFirst() const { return first; }

  /// Lets each thread wait for all others, whose stores it sees then.
  void wait();
  /// Combines the values of all threads, in the same order in each: all have the same result.
  mlir::Value combine(mlir::Operation *combiner, mlir::Value value);
  /// Combines the values of neighbouring lanes, a power of 2, in the same order in each.
  mlir::Value combineLanes(mlir::Operation *combiner, mlir::Value value, int64_t lanes);
  /// The value of the lane `distance` before this one, which the first lanes do not have, and that
  /// of the last lane of the warp.
  mlir::Value fromLaneBefore(mlir::Value value, int64_t distance);
  mlir::Value fromLastLane(mlir::Value value);
  /// Memory that the threads of a group share, of a constant size in bytes, aligned to 16.
  mlir::Value sharedMemory(int64_t bytes);

private:
  int64_t warps() const { return threads * stride / kWarpThreads; }
  mlir::Value inStride();
  mlir::Value addressOf(mlir::LLVM::GlobalOp memory);
  mlir::Value exchangeLanes(mlir::Value value, llvm::StringRef mode, int64_t operand,
                            int64_t clamp);
  mlir::Value fromLane(mlir::Value value, int64_t bit);
  mlir::Value combineWarps(mlir::Operation *combiner, mlir::Value value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::ModuleOp module;
  int64_t threads, stride;
  mlir::Value inBlock, number, first; // inBlock: the number of the thread in its block, i32
  mlir::LLVM::GlobalOp exchange;      // memory of the warps of a block; null until it is needed
};

} // namespace tfc::gpu
