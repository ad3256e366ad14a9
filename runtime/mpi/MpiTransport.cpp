//===- MpiTransport.cpp - The processes of an MPI job as a cluster --------===//
//
// One thread at a time speaks MPI: one that sends, one that waits for a message and polls
// meanwhile, or else a thread of the transport. A message is one of MPI with its header and, if
// they are short, its data; longer data follow with a tag of their own, for which the receiver
// provides memory when the header has come. Messages of a process are delivered in the order in
// which it has sent them, also if the data of a later one come first.
//
//===----------------------------------------------------------------------===//

#include "runtime/tfc.h"

#include "runtime/mpi/tfc_mpi.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <new>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// The length of messages with headers: data that fit go with them.
constexpr size_t kMessageBytes = 8192;
constexpr int kHeaderTag = 0, kFirstDataTag = 1, kDataTags = 16384;
/// The receives of headers that are posted ahead.
constexpr size_t kPosted = 8;
/// Data go in pieces of this many bytes: MPI counts in int, and data that are dropped need memory
/// for a piece.
constexpr int64_t kPieceBytes = 8 << 20;

/// Data that are copied go with a header of any length.
constexpr int64_t kCopiedBytes = kMessageBytes - TFC_MAX_HEADER - 16;

constexpr std::chrono::milliseconds kBetweenTicks(50);
/// The thread leaves MPI to others that have polled so recently.
constexpr std::chrono::microseconds kOthersPoll(50);
/// Others may destroy their instances so much later.
constexpr std::chrono::minutes kMostWaitAtEnd(10);

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

std::mutex openMutex;
std::string openMessage;
int openTransports = 0;
bool hasInitialised = false;

class MpiTransport {
public:
  MpiTransport(MPI_Comm comm, bool polls) : comm(comm) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    transport.size = sizeof(tfc_transport);
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
  static void detach(void *self);
  static void poll(void *self, int32_t isLast);

  class Turn;

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
  std::list<Outgoing> queue; // under the mutex
  bool isStopping = false;   // under the mutex
  bool hasFailed = false;    // under the mutex: a message could not be queued

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
  std::vector<std::deque<Incoming>> arriving; // by task
  std::vector<int> nextTag;                   // by task
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
    for (const std::deque<Incoming> &of : mpi.arriving)
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

} // namespace

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
  try {
    Outgoing &outgoing = one.emplace_back();
    outgoing = {task, {}, nullptr, bytes, token, {}};
    size_t inFront = sizeof(Prefix) + headerBytes;
    bool fits = bytes <= kCopiedBytes;
    outgoing.message.resize(inFront + (fits ? bytes : 0));
    Prefix prefix = {bytes, headerBytes, 0};
    memcpy(outgoing.message.data(), &prefix, sizeof(prefix));
    memcpy(outgoing.message.data() + sizeof(prefix), header, headerBytes);
    if (!fits)
      outgoing.data = static_cast<const char *>(data);
    else if (bytes)
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

void MpiTransport::detach(void *self) {
  auto &mpi = *static_cast<MpiTransport *>(self);
  {
    std::lock_guard lock(mpi.mutex);
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

/// Reports the first error of MPI.
bool MpiTransport::check(int code) {
  if (code == MPI_SUCCESS)
    return true;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  breakDown(text);
  return false;
}

/// Nothing can be sent or received any more.
void MpiTransport::breakDown(const char *text) {
  if (!std::exchange(isBroken, true))
    snprintf(reason, sizeof(reason), "%s", text);
}

void MpiTransport::reportBreakDown() {
  if (isBroken && !std::exchange(hasReported, true))
    receiver->lost(receiver->context, -1, reason);
}

bool MpiTransport::areComplete(std::vector<MPI_Request> &requests) {
  int isDone = 1;
  if (!requests.empty() && !check(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                                              &isDone, MPI_STATUSES_IGNORE)))
    return true;
  return isDone;
}

/// Calls `piece` for each part of data that is one message of MPI.
template <typename Function> static void forEachPiece(int64_t bytes, Function piece) {
  for (int64_t first = 0; first < bytes; first += kPieceBytes)
    piece(first, static_cast<int>(std::min(kPieceBytes, bytes - first)));
}

/// Posts the sends of a message.
void MpiTransport::post(Outgoing &outgoing) {
  int64_t pieces = outgoing.data ? (outgoing.bytes + kPieceBytes - 1) / kPieceBytes : 0;
  outgoing.requests.reserve(pieces + 1);
  int tag = 0;
  if (outgoing.data) {
    int &next = nextTag[outgoing.to];
    tag = kFirstDataTag + next;
    next = (next + 1) % kDataTags;
    memcpy(outgoing.message.data() + offsetof(Prefix, dataTag), &tag, sizeof(tag));
  }
  auto send = [&](const void *data, int bytes, int withTag) {
    MPI_Request request;
    if (!isBroken && check(MPI_Isend(data, bytes, MPI_BYTE, outgoing.to, withTag, comm, &request)))
      outgoing.requests.push_back(request);
  };
  send(outgoing.message.data(), static_cast<int>(outgoing.message.size()), kHeaderTag);
  if (outgoing.data)
    forEachPiece(outgoing.bytes,
                 [&](int64_t first, int bytes) { send(outgoing.data + first, bytes, tag); });
}

/// Posts all that is in the queue. Messages without requests, after an error, count as sent.
bool MpiTransport::postOutgoing() {
  std::list<Outgoing> all;
  {
    std::lock_guard lock(mutex);
    all.splice(all.end(), queue);
  }
  bool any = !all.empty();
  while (!all.empty()) {
    leaving.splice(leaving.end(), all, all.begin());
    try {
      if (!isBroken)
        post(leaving.back());
    } catch (const std::bad_alloc &) {
      breakDown("not enough memory for messages");
    }
  }
  return any;
}

/// Forgets messages that have left. Without `mayTell`, those stay whose end the receiver waits for.
bool MpiTransport::finishOutgoing(bool mayTell) {
  bool any = false;
  for (auto it = leaving.begin(); it != leaving.end();) {
    if ((it->data && !mayTell) || !areComplete(it->requests)) {
      ++it;
      continue;
    }
    if (it->data)
      receiver->sent(receiver->context, it->token);
    it = leaving.erase(it);
    any = true;
  }
  return any;
}

void MpiTransport::postReceive(size_t number) {
  buffers[number].resize(kMessageBytes);
  check(MPI_Irecv(buffers[number].data(), kMessageBytes, MPI_BYTE, MPI_ANY_SOURCE, kHeaderTag, comm,
                  &posted[number]));
}

/// Begins to take a message, for which its header has come.
void MpiTransport::take(int from, const char *message) {
  Prefix prefix;
  memcpy(&prefix, message, sizeof(prefix));
  Incoming &incoming = arriving[from].emplace_back();
  const char *header = message + sizeof(prefix);
  incoming.header.assign(header, header + prefix.headerBytes);
  incoming.bytes = prefix.bytes;
  if (!prefix.bytes)
    return;
  incoming.data = receiver->place(receiver->context, prefix.bytes);
  char *to = static_cast<char *>(incoming.data);
  if (!prefix.dataTag) {
    if (to)
      memcpy(to, header + prefix.headerBytes, prefix.bytes);
    return;
  }
  incoming.from = from;
  incoming.tag = prefix.dataTag;
  if (!to) {
    incoming.dropped.resize(std::min(prefix.bytes, kPieceBytes));
    incoming.left = prefix.bytes;
    return dropNext(incoming);
  }
  forEachPiece(prefix.bytes, [&](int64_t first, int bytes) {
    MPI_Request request;
    if (check(MPI_Irecv(to + first, bytes, MPI_BYTE, from, prefix.dataTag, comm, &request)))
      incoming.requests.push_back(request);
  });
}

/// Receives the next piece of data for which there is no memory.
void MpiTransport::dropNext(Incoming &incoming) {
  incoming.requests.clear();
  auto bytes = static_cast<int>(std::min(incoming.left, kPieceBytes));
  incoming.left -= bytes;
  MPI_Request request;
  if (check(MPI_Irecv(incoming.dropped.data(), bytes, MPI_BYTE, incoming.from, incoming.tag, comm,
                      &request)))
    incoming.requests.push_back(request);
}

bool MpiTransport::receiveHeaders() {
  bool any = false;
  for (;;) {
    int isDone = 0;
    MPI_Status status;
    if (!check(MPI_Test(&posted[oldest], &isDone, &status)) || !isDone)
      return any;
    take(status.MPI_SOURCE, buffers[oldest].data());
    postReceive(oldest);
    oldest = (oldest + 1) % kPosted;
    any = true;
  }
}

/// Delivers what has come whole, up to the first message of each task that has not.
bool MpiTransport::deliver() {
  bool any = false;
  for (size_t task = 0; task < arriving.size(); ++task)
    while (!arriving[task].empty() && areComplete(arriving[task].front().requests)) {
      Incoming &incoming = arriving[task].front();
      if (incoming.left > 0 && !isBroken) {
        dropNext(incoming);
        continue;
      }
      receiver->arrived(receiver->context, static_cast<int32_t>(task), incoming.header.data(),
                        static_cast<int32_t>(incoming.header.size()), incoming.data,
                        incoming.bytes);
      arriving[task].pop_front();
      any = true;
    }
  return any;
}

bool MpiTransport::progress() {
  bool any = postOutgoing();
  if (!isBroken)
    any |= receiveHeaders();
  if (!isBroken && deliver()) {
    any = true;
    postOutgoing(); // answers
  }
  any |= finishOutgoing(/*mayTell=*/true);
  reportBreakDown();
  return any;
}

/// Does what is to be done, unless another thread does.
void MpiTransport::speak() {
  Turn turn(*this);
  if (!turn)
    return;
  bool any = false;
  try {
    any = progress();
  } catch (const std::bad_alloc &) {
    breakDown("not enough memory for messages");
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
  bool isShort;
  {
    std::lock_guard lock(mutex);
    isShort = hasFailed;
  }
  if (isShort)
    breakDown("not enough memory for messages");
  reportBreakDown();
  receiver->tick(receiver->context);
  return true;
}

/// Polls often while messages come, and seldom when none has come for long, or other threads poll.
/// New work ends the wait.
void MpiTransport::idle() {
  auto now = Clock::now();
  auto since = now - lastEvent.load(std::memory_order_relaxed);
  std::unique_lock lock(mutex);
  auto doOthersPoll = [&] { return now - lastPoll.load(std::memory_order_relaxed) < kOthersPoll; };
  if (!queue.empty() || isStopping)
    return;
  if (doOthersPoll()) {
    hasWork.wait_for(lock, kOthersPoll);
    return;
  }
  lock.unlock();
  if (since < std::chrono::microseconds(100) || isTransferring.load(std::memory_order_relaxed))
    return std::this_thread::yield();
  auto pause = since < std::chrono::milliseconds(2)     ? std::chrono::microseconds(10)
               : since < std::chrono::milliseconds(200) ? std::chrono::microseconds(100)
                                                        : std::chrono::microseconds(1000);
  lock.lock();
  if (queue.empty() && !isStopping)
    hasWork.wait_for(lock, pause);
}

/// Waits until all processes have come here, and thus nothing more can come.
void MpiTransport::drain() {
  auto begin = Clock::now();
  auto isTooLate = [&] { return Clock::now() - begin > kMostWaitAtEnd; };
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
        fprintf(stderr, "tfc: other processes have not ended; this one aborts the job\n");
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

void MpiTransport::run() {
  // Its waits are shorter than the 50 us by which the kernel may lengthen them otherwise.
  prctl(PR_SET_TIMERSLACK, 1000);
  for (size_t i = 0; i < kPosted; ++i)
    postReceive(i);
  isSpoken.clear(std::memory_order_release);
  auto lastTick = Clock::now();
  lastEvent.store(lastTick, std::memory_order_relaxed);
  for (bool isOver = false; !isOver;) {
    speak();
    idle();
    auto now = Clock::now();
    bool isTickDue = now - lastTick > kBetweenTicks;
    {
      std::lock_guard lock(mutex);
      isOver = isStopping && queue.empty();
      isTickDue |= hasFailed;
    }
    if (isTickDue && tick())
      lastTick = now;
  }
  // Nobody else waits for messages any more.
  while (isSpoken.test_and_set(std::memory_order_acquire))
    std::this_thread::yield();
  drain();
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

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
