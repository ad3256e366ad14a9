//===- CudaDriver.cpp - The CUDA driver, found when a program runs --------===//
//
// Loads the driver by dlopen, so that models with code for GPUs run where there is none.
//
//===----------------------------------------------------------------------===//

#include "runtime/CudaDriver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tfc::runtime::cuda {

bool Driver::load(char *message, size_t bytes) {
  const char *given = getenv("TFC_CUDA_DRIVER");
  void *library = dlopen(given && *given ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(message, bytes, "the CUDA driver cannot be loaded: %s", dlerror());
    return false;
  }
  struct Entry {
    const char *symbol;
    void *function; // the address of a member
  };
  const Entry entries[] = {
#define TFC_CUDA(name, symbol, parameters) {#symbol, &name},
#include "runtime/CudaFunctions.inc"
#undef TFC_CUDA
  };
  for (const Entry &entry : entries) {
    void *address = dlsym(library, entry.symbol);
    if (!address) {
      snprintf(message, bytes, "the CUDA driver has no function %s", entry.symbol);
      return false;
    }
    memcpy(entry.function, &address, sizeof address);
  }
  return true;
}

} // namespace tfc::runtime::cuda
