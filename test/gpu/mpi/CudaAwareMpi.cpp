//===- CudaAwareMpi.cpp - An MPI that moves data of GPUs, for tests -------===//
//
// Preloaded before any MPI, it makes that one CUDA-aware for the functions that
// the transport calls: data in memory of a GPU go through a copy of their own.
// As of a real one, calls need the context of the device on their thread. With
// MPI_Finalize it prints how many messages left and came that way.
//
//===----------------------------------------------------------------------===//

#include "runtime/CudaDriver.h"

#include <cstdio>
#include <map>
#include <mpi.h>
#include <mutex>
#include <vector>

using namespace tfc::runtime;

extern "C" int MPIX_Query_cuda_support() { return 1; }

extern "C" int MPIX_GPU_query_support(int, int *isSupported) {
  *isSupported = 1;
  return MPI_SUCCESS;
}

namespace {
/// A message on its way, by its copy on the host.
struct Copy {
  std::vector<char> bytes;
  cuda::Pointer to; // 0 for one that leaves
};
} // namespace

static std::mutex mutex;
static std::map<MPI_Request, Copy> copies;
static int left = 0, came = 0;

static void require(bool isTrue, const char *text) {
  if (isTrue)
    return;
  fprintf(stderr, "CUDA-aware MPI: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static const cuda::Driver &driver() {
  static const cuda::Driver loaded = [] {
    cuda::Driver driver;
    char message[256] = "";
    require(driver.load(message, sizeof(message)), message);
    return driver;
  }();
  return loaded;
}

static cuda::Pointer asPointer(const void *address) {
  return reinterpret_cast<cuda::Pointer>(address);
}

/// The driver knows addresses of its memory alone.
static bool isOnDevice(const void *address) {
  uint32_t type = 0;
  return driver().getPointerAttribute(&type, cuda::kMemoryType, asPointer(address)) ==
             cuda::kSuccess &&
         type == cuda::kDeviceMemory;
}

static void requireContext() {
  cuda::Context context = nullptr;
  driver().getContext(&context);
  require(context, "no context on a thread that calls MPI with memory of a GPU");
}

extern "C" int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request *request) {
  if (!isOnDevice(data))
    return PMPI_Isend(data, count, type, to, tag, comm, request);
  requireContext();
  Copy copy = {std::vector<char>(count), 0};
  require(driver().copyToHost(copy.bytes.data(), asPointer(data), count, nullptr) ==
                  cuda::kSuccess &&
              driver().synchronize(nullptr) == cuda::kSuccess,
          "cannot read from the device");
  int code = PMPI_Isend(copy.bytes.data(), count, type, to, tag, comm, request);
  std::lock_guard lock(mutex);
  copies[*request] = std::move(copy);
  return code;
}

extern "C" int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request *request) {
  if (!isOnDevice(data))
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
  requireContext();
  Copy copy = {std::vector<char>(count), asPointer(data)};
  int code = PMPI_Irecv(copy.bytes.data(), count, type, from, tag, comm, request);
  std::lock_guard lock(mutex);
  copies[*request] = std::move(copy);
  return code;
}

/// Brings what has come to the device.
static void finish(MPI_Request request) {
  std::lock_guard lock(mutex);
  auto found = copies.find(request);
  if (found == copies.end())
    return;
  Copy &copy = found->second;
  ++(copy.to ? came : left);
  if (copy.to) {
    requireContext();
    require(driver().copyToDevice(copy.to, copy.bytes.data(), copy.bytes.size(), nullptr) ==
                    cuda::kSuccess &&
                driver().synchronize(nullptr) == cuda::kSuccess,
            "cannot write to the device");
  }
  copies.erase(found);
}

extern "C" int MPI_Test(MPI_Request *request, int *isDone, MPI_Status *status) {
  MPI_Request before = *request;
  int code = PMPI_Test(request, isDone, status);
  if (*isDone)
    finish(before);
  return code;
}

extern "C" int MPI_Testall(int count, MPI_Request requests[], int *areDone, MPI_Status *statuses) {
  std::vector<MPI_Request> before(requests, requests + count);
  int code = PMPI_Testall(count, requests, areDone, statuses);
  for (MPI_Request request : before)
    if (*areDone)
      finish(request);
  return code;
}

extern "C" int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %d messages left from memory of a GPU, %d came there\n", rank, left, came);
  fflush(stdout);
  return PMPI_Finalize();
}
