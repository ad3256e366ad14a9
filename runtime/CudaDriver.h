//===- CudaDriver.h - The CUDA driver, found when a program runs ----------===//

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tfc::runtime::cuda {

/// Types and values of the driver's ABI, by names of our own: no header of CUDA is needed. Handles
/// belong to the driver.
enum Result : int32_t {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kLaunchFailed = 719,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901
};

enum DeviceAttribute : int32_t {
  kThreadsPerBlock = 1,
  kWarpSize = 10,
  kMultiprocessors = 16,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedPerBlock = 8,
  kSharedPerBlockOptIn = 97
};

enum FunctionAttribute : int32_t {
  kFunctionThreads = 0, // at most
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionDynamicSharedBytes = 8 // at most
};

enum PointerAttribute : int32_t { kMemoryType = 2 };
constexpr uint32_t kHostMemory = 1, kDeviceMemory = 2; // values of kMemoryType

enum JitOption : int32_t { kErrorLog = 5, kErrorLogBytes = 6 };

using Device = int32_t;
using Pointer = uint64_t;
using Context = struct ContextHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Stream = struct StreamHandle *;
using Event = struct EventHandle *;
using Graph = struct GraphHandle *;
using GraphExec = struct GraphExecHandle *;

constexpr uint32_t kNonBlockingStream = 1, kUntimedEvent = 2;
constexpr int32_t kThreadLocalCapture = 1;

/// The functions of the driver.
struct Driver {
#define TFC_CUDA(name, symbol, parameters) Result(*name) parameters = nullptr;
#include "runtime/CudaFunctions.inc"
#undef TFC_CUDA

  /// Finds the functions in the library that TFC_CUDA_DRIVER names, or libcuda.so.1, which stays
  /// loaded. Returns false, with a message of at most `bytes`, if that is not possible.
  bool load(char *message, size_t bytes);
};

} // namespace tfc::runtime::cuda
