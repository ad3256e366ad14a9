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
  // The functions are the members of the class, in this order.
  static const char kSymbols[] =
#define TFC_CUDA(name, symbol, parameters) #symbol "\0"
#include "runtime/CudaFunctions.inc"
#undef TFC_CUDA
      ;
  auto *members = reinterpret_cast<char *>(this);
  for (const char *symbol = kSymbols; *symbol; symbol += strlen(symbol) + 1) {
    void *address = dlsym(library, symbol);
    if (!address) {
      snprintf(message, bytes, "the CUDA driver has no function %s", symbol);
      return false;
    }
    memcpy(members, &address, sizeof address);
    members += sizeof address;
  }
  return true;
}

} // namespace tfc::runtime::cuda
