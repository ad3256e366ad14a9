//===- Queues.cpp - Waiting at queues -------------------------------------===//
//
// Decides which call may use a queue next and which call can never proceed, under the mutex that
// all queues of a state share. The elements themselves are in Queue.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Clock.h"
#include "runtime/Instance.h"

using namespace tfc::runtime;

static long long asLong(int64_t value) { return value; }

bool Queues::initialise(const Allocator &allocator, const tfc_model &model,
                        const std::atomic<int32_t> &users) {
  handles = &users;
  int64_t bytes = model.queue_count * static_cast<int64_t>(sizeof(Queue) + 64);
  for (int64_t i = 0; i < model.queue_count; ++i) {
    int64_t own = Queue::memoryBytes(model.queues[i]);
    if (own < 0 || __builtin_add_overflow(bytes, own, &bytes))
      return false;
  }
  if (model.queue_count == 0)
    return true;
  if (!memory.reserve(allocator, bytes))
    return false;
  queues = reinterpret_cast<Queue *>(memory.data());
  char *next = memory.data() + (model.queue_count * sizeof(Queue) + 63) / 64 * 64;
  for (; count < model.queue_count; ++count) {
    Queue *queue = new (&queues[count]) Queue(model.queues[count]);
    queue->place(next);
    next += Queue::memoryBytes(model.queues[count]);
  }
  return true;
}

void Queues::finish() {
  pthread_cond_destroy(&changed);
  pthread_mutex_destroy(&mutex);
}

int32_t Queues::find(const char *name) const {
  for (int32_t i = 0; name && i < count; ++i)
    if (strcmp(queues[i].getInfo().name, name) == 0)
      return i;
  return -1;
}

//===- Whose turn it is ---------------------------------------------------===//

bool Queues::isFirst(const QueueAccess &access) const {
  const QueueAccess *other = accesses;
  while (other != &access && (other->queue != access.queue || other->puts != access.puts))
    other = other->next;
  return other == &access;
}

bool Queues::hasPutters(const Queue &queue) const {
  for (const QueueAccess *access = accesses; access; access = access->next)
    if (access->queue == &queue && access->puts && !access->cancelled &&
        !access->handle->cancelled.load(std::memory_order_relaxed))
      return true;
  return false;
}

Queues::Turn Queues::turnToTake(const QueueAccess &access) const {
  const Queue &queue = *access.queue;
  bool isLast = queue.isClosed() && !hasPutters(queue);
  if (isFirst(access) &&
      (queue.available() >= access.wanted || (isLast && access.upTo && queue.size() > 0)))
    return Turn::Now;
  // An earlier access may leave elements for this one.
  bool isHopeless = isLast && (isFirst(access) || queue.size() < access.wanted) &&
                    !(access.upTo && queue.size() > 0);
  return isHopeless || access.wanted > queue.largestTake() ? Turn::Never : Turn::Later;
}

/// Returns true if another partition of the call has failed.
static bool isAborted(const QueueAccess &access) {
  return access.isDivided && access.handle->rendezvous.status() != TFC_OK;
}

Queues::Turn Queues::turnOf(const QueueAccess &access) const {
  Turn turn = Turn::Later;
  if (access.isStuck)
    turn = Turn::Never;
  else if (!access.puts)
    turn = turnToTake(access);
  else if (access.cancelled)
    turn = Turn::Never;
  else if (access.queue->room() > 0 && isFirst(access))
    turn = Turn::Now;
  bool isCancelled = access.handle->cancelled.load(std::memory_order_relaxed);
  if (isAborted(access) || (turn == Turn::Later && isCancelled))
    return Turn::Never;
  return turn;
}

/// Returns true for the first access of its handle: partitions may wait at several queues.
static bool isFirstOfHandle(const QueueAccess &access, const QueueAccess *all) {
  while (all->handle != access.handle)
    all = all->next;
  return all == &access;
}

/// Returns true if every handle waits and none can proceed.
bool Queues::isStuck() const {
  // Other processes may call.
  if (accesses && accesses->handle->state->tasks.areAlone())
    return false;
  int32_t waiting = 0;
  for (const QueueAccess *access = accesses; access; access = access->next) {
    if (turnOf(*access) != Turn::Later || !access->handle->waits.isQuiescent())
      return false;
    waiting += isFirstOfHandle(*access, accesses);
  }
  return waiting >= handles->load(std::memory_order_acquire);
}

//===- Calls on several devices -------------------------------------------===//

void Queues::begin(tfc_instance &handle, int32_t partitions, int32_t readers) {
  // No other thread looks at the waits of a handle without accesses.
  handle.waits = {.busy = partitions, .readers = readers};
}

void Queues::end(tfc_instance &handle) { handle.waits = {.busy = 1}; }

void Queues::leave(tfc_instance &handle) {
  pthread_mutex_lock(&mutex);
  becomeIdle(handle);
  // The partition may have failed, which ends waits of the others.
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

void Queues::releaseState(tfc_instance &handle) {
  pthread_mutex_lock(&mutex);
  if (--handle.waits.readers == 0)
    handle.lock->finish();
  pthread_mutex_unlock(&mutex);
}

void Queues::beginWait(tfc_instance &handle, MessageWait &wait) {
  pthread_mutex_lock(&mutex);
  wait.next = handle.waits.messages;
  handle.waits.messages = &wait;
  becomeIdle(handle);
  pthread_mutex_unlock(&mutex);
}

void Queues::endWait(tfc_instance &handle, MessageWait &wait) {
  pthread_mutex_lock(&mutex);
  MessageWait **link = &handle.waits.messages;
  while (*link != &wait)
    link = &(*link)->next;
  *link = wait.next;
  becomeBusy(handle);
  pthread_mutex_unlock(&mutex);
}

/// Lets other calls run if no partition of this one can proceed.
void Queues::becomeIdle(tfc_instance &handle) {
  CallWaits &waits = handle.waits;
  --waits.busy;
  if (waits.isPaused || !waits.isQuiescent() || !handle.state->tasks.mayPause(handle))
    return;
  waits.isPaused = true;
  handle.lock->pause();
  pthread_cond_broadcast(&changed); // it may be stuck
}

/// Returns when the call holds the lock of the state. The mutex is released meanwhile.
void Queues::becomeBusy(tfc_instance &handle) {
  CallWaits &waits = handle.waits;
  while (waits.isResuming)
    pthread_cond_wait(&changed, &mutex);
  ++waits.busy;
  if (!waits.isPaused)
    return;
  waits.isPaused = false;
  waits.isResuming = true;
  pthread_mutex_unlock(&mutex);
  handle.lock->resume();
  pthread_mutex_lock(&mutex);
  waits.isResuming = false;
  pthread_cond_broadcast(&changed);
}

//===- Accesses -----------------------------------------------------------===//

void Queues::add(QueueAccess &access) {
  QueueAccess **last = &accesses;
  while (*last)
    last = &(*last)->next;
  *last = &access;
}

void Queues::remove(QueueAccess &access) {
  QueueAccess **link = &accesses;
  while (*link != &access)
    link = &(*link)->next;
  *link = access.next;
  if (accesses)
    pthread_cond_broadcast(&changed);
}

/// Fails with a message that begins with the entry and with what the author called.
__attribute__((format(printf, 3, 4))) static tfc_status
fail(const QueueAccess &access, tfc_status status, const char *format, ...) {
  char text[sizeof(Message)];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  return access.handle->fail(status, "%s: %s: %s", access.handle->entry->name, access.subject,
                             text);
}

static tfc_status failClosed(const QueueAccess &access) {
  const char *name = access.queue->getInfo().name;
  if (access.puts)
    return fail(access, TFC_CLOSED, "queue '%s' is closed", name);
  return fail(access, TFC_CLOSED, "queue '%s' is closed and holds %lld of %lld elements", name,
              asLong(access.queue->size()), asLong(access.wanted));
}

/// The status of an access that can never proceed.
static int32_t failForever(const QueueAccess &access) {
  if (isAborted(access))
    return TFC_RT_ABORTED;
  const Queue &queue = *access.queue;
  const char *name = queue.getInfo().name;
  if (access.cancelled || access.handle->cancelled.load(std::memory_order_relaxed))
    return fail(access, TFC_CANCELLED, "the wait at queue '%s' was cancelled", name);
  bool takesWhatIsLeft = access.upTo && queue.isClosed();
  if (!access.puts && !takesWhatIsLeft && access.wanted > queue.largestTake())
    return fail(access, TFC_OUT_OF_RANGE,
                "queue '%s' returns at most %lld elements at once, but got %lld", name,
                asLong(queue.largestTake()), asLong(access.wanted));
  return failClosed(access);
}

static tfc_status failStuck(const QueueAccess &access) {
  const char *name = access.queue->getInfo().name;
  if (access.puts)
    return fail(access, TFC_FAILED_PRECONDITION,
                "queue '%s' is full, and no other handle can take from it", name);
  return fail(
      access, TFC_FAILED_PRECONDITION,
      "queue '%s' can return %lld of %lld elements, and no other handle can put more into it", name,
      asLong(access.queue->available() < 0 ? 0 : access.queue->available()), asLong(access.wanted));
}

/// The status of an access whose wait other processes have not ended in time.
static tfc_status failLate(const QueueAccess &access, int64_t elapsed) {
  const Queue &queue = *access.queue;
  const char *name = queue.getInfo().name, *task = access.handle->state->tasks.nameOf(access.task);
  long long milliseconds = elapsed / 1'000'000;
  if (access.puts)
    return fail(access, TFC_TASK_LOST, "waited %lld ms for room in queue '%s' of %s", milliseconds,
                name, task);
  return fail(access, TFC_TASK_LOST,
              "waited %lld ms for queue '%s' of %s, which can return %lld of %lld elements",
              milliseconds, name, task, asLong(queue.available() < 0 ? 0 : queue.available()),
              asLong(access.wanted));
}

/// Copies as many elements as possible; returns true if that completes the access.
bool Queues::proceed(QueueAccess &access) {
  Queue &queue = *access.queue;
  ++access.handle->queueEffects;
  int64_t end = access.wanted;
  if (access.puts && end - access.done > queue.room())
    end = access.done + queue.room();
  else if (!access.puts && end > queue.size())
    end = queue.size();
  for (; access.done < end; ++access.done)
    access.puts ? queue.put(access.from, access.done) : queue.take(access.to, access.done);
  pthread_cond_broadcast(&changed);
  return !access.puts || access.done == access.wanted;
}

/// Waits without the state's lock until the access can proceed or it is known that it never will.
int32_t Queues::waitForTurn(QueueAccess &access, bool isLate) {
  tfc_instance &handle = *access.handle;
  uint64_t version = handle.lock->holds() ? handle.state->version : 0;
  ++handle.waits.atQueues;
  becomeIdle(handle);
  int64_t begin = access.limit ? nanoseconds() : 0, elapsed = 0;
  // The access that came last fails, whichever thread is awake first. The transport's thread wakes
  // all at times.
  while (turnOf(access) == Turn::Later && !(access.isStuck = !access.next && isStuck()) &&
         (!access.limit || (elapsed = nanoseconds() - begin) < access.limit))
    pthread_cond_wait(&changed, &mutex);
  int32_t status = TFC_OK;
  if (access.isStuck)
    status = failStuck(access);
  else if (turnOf(access) == Turn::Later)
    status = failLate(access, elapsed);
  --handle.waits.atQueues;
  // No other access can overtake this one in the meantime, because it is in the list.
  becomeBusy(handle);
  bool isOld = isLate && handle.lock->holds() && handle.queueEffects == 0 &&
               !handle.state->tasks.othersUseQueues(handle) && version != handle.state->version;
  return status == TFC_OK && isOld ? kRestart : status;
}

int32_t Queues::runInTurn(QueueAccess &access, bool isLate) {
  if (access.puts && access.queue->isClosed())
    return failClosed(access);
  for (;;) {
    Turn turn = turnOf(access);
    if (turn == Turn::Never)
      return failForever(access);
    if (turn == Turn::Now && proceed(access))
      return TFC_OK;
    if (turn == Turn::Later)
      if (int32_t status = waitForTurn(access, isLate))
        return status;
  }
}

int32_t Queues::run(QueueAccess &access, bool isLate) {
  if (access.wanted <= 0)
    return TFC_OK;
  pthread_mutex_lock(&mutex);
  add(access);
  int32_t status = runInTurn(access, isLate);
  remove(access);
  pthread_mutex_unlock(&mutex);
  return status;
}

int64_t Queues::sizeOf(const Queue &queue) {
  pthread_mutex_lock(&mutex);
  int64_t size = queue.size();
  pthread_mutex_unlock(&mutex);
  return size;
}

void Queues::close(Queue &queue, bool cancelPending) {
  change([&] {
    queue.close();
    for (QueueAccess *access = accesses; access; access = access->next)
      access->cancelled |= cancelPending && access->queue == &queue && access->puts;
    return 0;
  });
}

//===- Functions that generated code calls --------------------------------===//

/// On several devices another partition may have read variables.
static int32_t runAccess(Queues &queues, QueueAccess &access, const tfc_call_frame &frame,
                         bool isLate) {
  access.task = access.handle->state->tasks.sharedBy(frame, access.limit);
  access.isDivided = access.handle->rendezvous.isRunning();
  return queues.run(access, isLate || access.isDivided);
}

extern "C" int32_t tfc_rt_enqueue(tfc_call_frame *frame, int32_t queue, const void *const *values,
                                  int64_t count, int32_t isLate, const char *subject) {
  Queues &queues = frame->handle->state->queues;
  QueueAccess access = {frame->handle, &queues[queue], true,   false,
                        count,         subject,        values, nullptr};
  return runAccess(queues, access, *frame, isLate);
}

extern "C" int32_t tfc_rt_dequeue(tfc_call_frame *frame, int32_t queue, void *const *values,
                                  int64_t count, int32_t isLate, const char *subject) {
  Queues &queues = frame->handle->state->queues;
  QueueAccess access = {frame->handle, &queues[queue], false,   false,
                        count,         subject,        nullptr, values};
  return runAccess(queues, access, *frame, isLate);
}

extern "C" int32_t tfc_rt_dequeue_up_to(tfc_call_frame *frame, int32_t queue, void *const *values,
                                        int64_t count, int32_t *taken, int32_t isLate,
                                        const char *subject) {
  Queues &queues = frame->handle->state->queues;
  QueueAccess access = {frame->handle, &queues[queue], false,   true,
                        count,         subject,        nullptr, values};
  int32_t status = runAccess(queues, access, *frame, isLate);
  *taken = static_cast<int32_t>(access.done);
  const tfc_queue_info &info = queues[queue].getInfo();
  for (int32_t i = 0; status == TFC_OK && i < info.component_count; ++i)
    if (uint64_t bytes = info.components[i].bytes; bytes && access.done < count)
      memset(static_cast<char *>(values[i]) + access.done * bytes, 0,
             (count - access.done) * bytes);
  return status;
}

extern "C" int32_t tfc_rt_queue_size(tfc_call_frame *frame, int32_t queue) {
  Queues &queues = frame->handle->state->queues;
  return static_cast<int32_t>(queues.sizeOf(queues[queue]));
}

extern "C" void tfc_rt_queue_close(tfc_call_frame *frame, int32_t queue, int32_t cancelPending) {
  Queues &queues = frame->handle->state->queues;
  queues.change([&] { return ++frame->handle->queueEffects; });
  queues.close(queues[queue], cancelPending);
}

//===- By name ------------------------------------------------------------===//

static Queue *findQueue(tfc_instance &instance, const char *name) {
  instance.message.clear();
  Queues &queues = instance.state->queues;
  int32_t index = queues.find(name);
  if (index >= 0)
    return &queues[index];
  instance.fail(TFC_NOT_FOUND, "%s has no queue '%s'", instance.state->model->name,
                name ? name : "(null)");
  return nullptr;
}

extern "C" tfc_status tfc_instance_queue_size(tfc_instance *instance, const char *name,
                                              int64_t *size) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  Queue *queue = findQueue(*instance, name);
  if (!queue)
    return TFC_NOT_FOUND;
  if (!size)
    return instance->fail(TFC_INVALID_ARGUMENT, "the pointer for the size of queue '%s' is null",
                          name);
  *size = instance->state->queues.sizeOf(*queue);
  return TFC_OK;
}

extern "C" tfc_status tfc_instance_queue_close(tfc_instance *instance, const char *name,
                                               int32_t cancelPending) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  Queue *queue = findQueue(*instance, name);
  if (!queue)
    return TFC_NOT_FOUND;
  instance->state->queues.close(*queue, cancelPending);
  return TFC_OK;
}

extern "C" void tfc_instance_cancel(tfc_instance *instance) {
  if (!instance)
    return;
  instance->state->queues.change([&] {
    instance->cancelled.store(true, std::memory_order_relaxed);
    return 0;
  });
  instance->state->tasks.cancel(*instance);
}
