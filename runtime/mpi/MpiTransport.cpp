//===- MpiTransport.cpp - The processes of an MPI job as a cluster --------===//
//
// One thread at a time speaks MPI: one that sends, one that waits for a message and polls
// meanwhile, or else a thread of the transport. A message is one of MPI with its header and, if
// they are short, its data; longer data follow with a tag of their own, for which the receiver
// provides memory when the header has come. Messages of a process are delivered in the order in
// which it has sent them, also if the data of a later one come first.
//
//===----------------------------------------------------------------------===//

#include "runtime/mpi/MpiTransport.h"

#include "runtime/mpi/tfc_mpi.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <system_error>
#include <utility>

using namespace tfc::mpi;

//===----------------------------------------------------------------------===//
// Functions of the transport
//===----------------------------------------------------------------------===//

tfc_status MpiTransport::attach(void *self, const tfc_receiver *receiver) {
  auto &mpi = *static_cast<MpiTransport *>(self);
  // Processes that have detached first could send what others still drop.
  if (std::exchange(mpi.wasAttached, true))
    return TFC_FAILED_PRECONDITION;
  mpi.receiver = receiver;
  try {
    mpi.thread = std::thread([&mpi] { mpi.run(); });
  } catch (const std::system_error &) {
    return TFC_OUT_OF_MEMORY;
  }
  return TFC_OK;
}

void MpiTransport::send(void *self, int32_t task, const void *header, int32_t headerBytes,
                        const void *data, int64_t bytes, void *token) {
  auto &mpi = *static_cast<MpiTransport *>(self);
  std::list<Outgoing> one;
  {
    std::lock_guard lock(mpi.mutex);
    if (!mpi.spareOutgoing.empty())
      one.splice(one.end(), mpi.spareOutgoing, mpi.spareOutgoing.begin());
  }
  try {
    if (one.empty())
      one.emplace_back();
    Outgoing &outgoing = one.front();
    bool fits = bytes <= kCopiedBytes;
    outgoing.to = task;
    outgoing.data = fits ? nullptr : static_cast<const char *>(data);
    outgoing.bytes = bytes;
    outgoing.token = token;
    size_t inFront = sizeof(Prefix) + headerBytes;
    outgoing.message.resize(inFront + (fits ? bytes : 0));
    Prefix prefix = {bytes, headerBytes, 0};
    memcpy(outgoing.message.data(), &prefix, sizeof(prefix));
    memcpy(outgoing.message.data() + sizeof(prefix), header, headerBytes);
    if (fits && bytes)
      memcpy(outgoing.message.data() + inFront, data, bytes);
  } catch (const std::bad_alloc &) {
    std::lock_guard lock(mpi.mutex);
    mpi.hasFailed = true;
  }
  {
    std::lock_guard lock(mpi.mutex);
    mpi.queue.splice(mpi.queue.end(), one);
  }
  // The receiver may be locked, and is not called. Messages that do not leave at once are left to
  // the thread.
  if (Turn turn(mpi); turn) {
    mpi.postOutgoing();
    mpi.finishOutgoing(/*mayTell=*/false);
    if (mpi.leaving.empty() && !mpi.isBroken)
      return;
  } else if (mpi.speaker.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    return; // it posts answers itself
  }
  mpi.hasWork.notify_one();
}

void MpiTransport::poll(void *self, int32_t isLast) {
  auto &mpi = *static_cast<MpiTransport *>(self);
  mpi.speak();
  if (!isLast)
    return mpi.lastPoll.store(Clock::now(), std::memory_order_relaxed);
  {
    std::lock_guard lock(mpi.mutex);
    mpi.lastPoll.store(Clock::time_point(), std::memory_order_relaxed);
  }
  mpi.hasWork.notify_one();
}

void MpiTransport::detach(void *self, int64_t limitMs) {
  auto &mpi = *static_cast<MpiTransport *>(self);
  {
    std::lock_guard lock(mpi.mutex);
    mpi.mostWaitAtEnd = std::chrono::milliseconds(limitMs);
    mpi.isStopping = true;
  }
  mpi.hasWork.notify_one();
  if (mpi.thread.joinable())
    mpi.thread.join();
  mpi.receiver = nullptr;
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

/// Does what is to be done, unless another thread does.
void MpiTransport::speak() {
  Turn turn(*this);
  if (!turn)
    return;
  bool any = false;
  try {
    any = progress();
  } catch (const std::bad_alloc &) {
    breakDown(kNoMemory);
    reportBreakDown();
  }
  if (any)
    lastEvent.store(Clock::now(), std::memory_order_relaxed);
}

/// Returns false if another thread speaks.
bool MpiTransport::tick() {
  Turn turn(*this);
  if (!turn)
    return false;
  receiver->tick(receiver->context);
  return true;
}

/// Polls often while messages come, and seldom when none has come for long, or other threads poll.
/// New work ends the wait.
void MpiTransport::idle() {
  auto now = Clock::now();
  auto since = now - lastEvent.load(std::memory_order_relaxed);
  std::unique_lock lock(mutex);
  if (!queue.empty() || isStopping)
    return;
  bool doOthersPoll = now - lastPoll.load(std::memory_order_relaxed) < kOthersPoll;
  bool isBusy =
      since < std::chrono::microseconds(100) || isTransferring.load(std::memory_order_relaxed);
  if (isBusy && !doOthersPoll) {
    lock.unlock();
    return std::this_thread::yield();
  }
  auto pause = doOthersPoll                             ? kOthersPoll
               : since < std::chrono::milliseconds(2)   ? std::chrono::microseconds(10)
               : since < std::chrono::milliseconds(200) ? std::chrono::microseconds(100)
                                                        : std::chrono::microseconds(1000);
  hasWork.wait_for(lock, pause);
}

/// Waits until all processes have come here, and thus nothing more can come.
void MpiTransport::drain() {
  auto begin = Clock::now();
  auto isTooLate = [&] { return Clock::now() - begin > mostWaitAtEnd; };
  while (!leaving.empty() && !isBroken && !isTooLate())
    progress();
  MPI_Request barrier;
  int isDone = 0;
  if (isBroken || !check(MPI_Ibarrier(comm, &barrier)))
    return;
  for (;;) {
    auto lastEvent = Clock::now();
    while (!progress()) {
      if (!check(MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE)) || isDone)
        break;
      if (isTooLate()) {
        fprintf(stderr, "tfc: task %d: other processes have not ended; this one aborts the job\n",
                transport.task);
        MPI_Abort(comm, 1);
      }
      std::this_thread::sleep_for(Clock::now() - lastEvent < std::chrono::milliseconds(1)
                                      ? std::chrono::microseconds(10)
                                      : std::chrono::microseconds(200));
    }
    if (isDone || isBroken)
      break;
  }
  for (MPI_Request &request : posted) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/// Calls of MPI on the thread of the transport find the memory of GPUs.
void MpiTransport::enterDevice() {
  if (transport.device_memory)
    receiver->enter(receiver->context);
}

void MpiTransport::run() {
  // Its waits are shorter than the 50 us by which the kernel may lengthen them otherwise.
  prctl(PR_SET_TIMERSLACK, 1000);
  for (size_t i = 0; i < kPosted; ++i)
    postReceive(i);
  isSpoken.clear(std::memory_order_release);
  auto lastTick = Clock::now();
  lastEvent.store(lastTick, std::memory_order_relaxed);
  for (bool isOver = false; !isOver;) {
    enterDevice();
    speak();
    idle();
    auto now = Clock::now();
    bool isTickDue = now - lastTick > kBetweenTicks;
    {
      std::lock_guard lock(mutex);
      isOver = isStopping && queue.empty();
    }
    if (isTickDue && tick())
      lastTick = now;
  }
  enterDevice();
  // Nobody else waits for messages any more.
  while (isSpoken.test_and_set(std::memory_order_acquire))
    std::this_thread::yield();
  drain();
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

static std::mutex openMutex;
static std::string openMessage;
static int openTransports = 0;
static bool hasInitialised = false;

/// Returns true if each process of this machine can have a processor for its own. Otherwise threads
/// that poll would keep processors from those that work.
static bool haveProcessors(MPI_Comm comm) {
  MPI_Comm machine;
  if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS)
    return false;
  int processes = 0;
  MPI_Comm_size(machine, &processes);
  cpu_set_t own, all;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof(own), &own);
  MPI_Allreduce(&own, &all, sizeof(own), MPI_BYTE, MPI_BOR, machine);
  MPI_Comm_free(&machine);
  return CPU_COUNT(&all) >= processes;
}

/// Returns true if MPI sends from memory of GPUs and receives there. TFC_MPI_DEVICE_MEMORY, 0 or 1,
/// decides for an implementation that does not tell.
static bool takesDeviceMemory() {
  if (const char *given = getenv("TFC_MPI_DEVICE_MEMORY"))
    return strcmp(given, "0") != 0;
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int is = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is) == MPI_SUCCESS && is;
#else
  return false;
#endif
}

static tfc_status failOpen(tfc_status status, const char *text) {
  openMessage = text;
  return status;
}

extern "C" tfc_status tfc_mpi_open(tfc_transport **out) {
  std::lock_guard lock(openMutex);
  openMessage.clear();
  if (!out)
    return failOpen(TFC_INVALID_ARGUMENT, "the pointer for the transport is null");
  *out = nullptr;
  int isInitialised = 0, isFinalised = 0, level = 0;
  MPI_Initialized(&isInitialised);
  MPI_Finalized(&isFinalised);
  if (isFinalised)
    return failOpen(TFC_FAILED_PRECONDITION, "MPI has been finalised");
  if (!isInitialised) {
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
      return failOpen(TFC_INTERNAL, "MPI cannot be initialised");
    hasInitialised = true;
  }
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED)
    return failOpen(TFC_FAILED_PRECONDITION,
                    "MPI was initialised for a single thread, but MPI_THREAD_SERIALIZED is needed");
  if (openTransports > 0 && level < MPI_THREAD_MULTIPLE)
    return failOpen(TFC_FAILED_PRECONDITION,
                    "MPI was not initialised for the threads of several transports, with "
                    "MPI_THREAD_MULTIPLE");
  MPI_Comm comm;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS)
    return failOpen(TFC_INTERNAL, "MPI_COMM_WORLD cannot be duplicated");
  auto *created = new (std::nothrow) MpiTransport(comm, haveProcessors(comm));
  if (!created)
    return failOpen(TFC_OUT_OF_MEMORY, "not enough memory for a transport");
  created->transport.device_memory = takesDeviceMemory();
  ++openTransports;
  *out = &created->transport;
  return TFC_OK;
}

extern "C" void tfc_mpi_close(tfc_transport *transport) {
  if (!transport)
    return;
  std::lock_guard lock(openMutex);
  auto *closed = static_cast<MpiTransport *>(transport->context);
  // MPI may still use the memory of one that has broken down.
  if (!closed->isBroken)
    delete closed;
  if (--openTransports == 0 && hasInitialised)
    MPI_Finalize();
}

extern "C" const char *tfc_mpi_message(void) { return openMessage.c_str(); }
