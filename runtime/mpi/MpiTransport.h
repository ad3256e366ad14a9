//===- MpiTransport.h - The processes of an MPI job as a cluster ----------===//

#pragma once

#include "runtime/tfc.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <vector>

namespace tfc::mpi {

using Clock = std::chrono::steady_clock;

/// The length of messages with headers: data that fit go with them.
inline constexpr size_t kMessageBytes = 8192;
inline constexpr int kHeaderTag = 0, kFirstDataTag = 1, kDataTags = 16384;
/// The receives of headers that are posted ahead.
inline constexpr size_t kPosted = 8;
/// Data go in pieces of this many bytes: MPI counts in int, and data that are dropped need memory
/// for a piece.
inline constexpr int64_t kPieceBytes = 8 << 20;

/// Data that are copied go with a header of any length.
inline constexpr int64_t kCopiedBytes = kMessageBytes - TFC_MAX_HEADER - 16;

inline constexpr std::chrono::milliseconds kBetweenTicks(50);
/// The thread leaves MPI to others that have polled so recently.
inline constexpr std::chrono::microseconds kOthersPoll(50);
inline constexpr const char *kNoMemory = "not enough memory for messages";

struct Prefix {
  int64_t bytes; // of data
  int32_t headerBytes;
  int32_t dataTag; // 0 if the data follow the header in the same message
};
static_assert(sizeof(Prefix) <= 16);

struct Outgoing {
  int to;
  std::vector<char> message;
  const char *data; // that follow; null if there are none
  int64_t bytes;
  void *token;
  std::vector<MPI_Request> requests;
};

struct Incoming {
  std::vector<char> header;
  void *data = nullptr;
  std::vector<char> dropped; // takes data for which there is no memory, piece by piece
  int64_t left = 0;          // of these
  int from = 0, tag = 0;
  int64_t bytes = 0;
  std::vector<MPI_Request> requests;
};

class MpiTransport {
public:
  MpiTransport(MPI_Comm comm, bool polls) : comm(comm) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    transport.size = sizeof(tfc_transport);
    transport.version = TFC_TRANSPORT_VERSION;
    MPI_Comm_rank(comm, &transport.task);
    MPI_Comm_size(comm, &transport.task_count);
    transport.context = this;
    transport.attach = attach;
    transport.send = send;
    transport.detach = detach;
    transport.poll = polls ? poll : nullptr;
    transport.copied_bytes = kCopiedBytes;
    isSpoken.test_and_set();
    arriving.resize(transport.task_count);
    nextTag.resize(transport.task_count);
  }
  ~MpiTransport() { MPI_Comm_free(&comm); }

  tfc_transport transport = {};
  bool isBroken = false; // of the thread that speaks

private:
  static tfc_status attach(void *self, const tfc_receiver *receiver);
  static void send(void *self, int32_t task, const void *header, int32_t headerBytes,
                   const void *data, int64_t bytes, void *token);
  static void detach(void *self, int64_t limitMs);
  static void poll(void *self, int32_t isLast);

  class Turn;

  void enterDevice();
  void run();
  void speak();
  bool tick();
  bool progress();
  void idle();
  bool postOutgoing();
  bool finishOutgoing(bool mayTell);
  void reportBreakDown();
  void postReceive(size_t number);
  bool receiveHeaders();
  bool deliver();
  void take(int from, const char *message);
  void drain();
  bool check(int code);
  void breakDown(const char *reason);
  void post(Outgoing &outgoing);
  void dropNext(Incoming &incoming);
  bool areComplete(std::vector<MPI_Request> &requests);

  MPI_Comm comm;
  const tfc_receiver *receiver = nullptr;
  bool wasAttached = false;
  std::thread thread;

  std::mutex mutex;
  std::condition_variable hasWork;
  // Under the mutex.
  std::list<Outgoing> queue;
  std::list<Outgoing> spareOutgoing; // with their memory, so that steady steps allocate nothing
  bool isStopping = false;
  std::chrono::milliseconds mostWaitAtEnd = {}; // for others
  bool hasFailed = false;                       // a message could not be queued

  // Relaxed: these decide only how long the thread waits.
  std::atomic<Clock::time_point> lastPoll = Clock::time_point(), lastEvent = Clock::time_point();
  std::atomic<bool> isTransferring = false; // data leave or arrive, which needs calls of MPI

  /// Set by the thread that speaks MPI, and until receives are posted.
  std::atomic_flag isSpoken;
  std::atomic<std::thread::id> speaker = std::thread::id(); // relaxed: compared with one's own

  // Of the thread that speaks.
  char reason[MPI_MAX_ERROR_STRING + 1]; // of a break-down
  bool hasReported = false;              // it
  std::list<Outgoing> leaving;
  std::vector<std::list<Incoming>> arriving; // by task
  std::list<Incoming> spareIncoming;
  std::vector<int> nextTag; // by task
  std::vector<char> buffers[kPosted];
  MPI_Request posted[kPosted];
  size_t oldest = 0; // of the posted receives, which match messages in order
};

/// The right to speak MPI, unless another thread has it: then the turn is empty.
class MpiTransport::Turn {
public:
  // Acquire and release: what one thread does is visible to the next.
  explicit Turn(MpiTransport &mpi) : mpi(mpi) {
    isMine = !mpi.isSpoken.test_and_set(std::memory_order_acquire);
    if (isMine)
      mpi.speaker.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Turn() {
    if (!isMine)
      return;
    bool any = !mpi.leaving.empty();
    for (const std::list<Incoming> &of : mpi.arriving)
      any |= !of.empty();
    mpi.isTransferring.store(any, std::memory_order_relaxed);
    mpi.speaker.store({}, std::memory_order_relaxed);
    mpi.isSpoken.clear(std::memory_order_release);
  }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

  explicit operator bool() const { return isMine; }

private:
  MpiTransport &mpi;
  bool isMine;
};

} // namespace tfc::mpi
