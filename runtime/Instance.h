//===- Instance.h - States, the handles on them, and failing --------------===//

#pragma once

#include "runtime/Memory.h"
#include "runtime/Model.h"
#include "runtime/Queue.h"
#include "runtime/Threads.h"

#include <pthread.h>
#include <stdarg.h>

namespace tfc::runtime {

/// A message of bounded length; what does not fit is cut.
class Message {
public:
  void clear() { text[length = 0] = 0; }
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...);
  void addList(const char *format, va_list arguments);
  void addShape(const int64_t *dims, int32_t rank);
  const char *c_str() const { return text; }

private:
  size_t length = 0;
  char text[1024] = {};
};

/// What all handles of an instance share.
struct State {
  const tfc_model *model = nullptr;
  Allocator allocator = {};
  std::atomic<int32_t> handles = 0;
  pthread_rwlock_t lock;
  ThreadPool pool;
  Block storage;              // every variable, 64-byte aligned
  void **variables = nullptr; // into storage
  Block pointers;             // the memory of `variables`
  uint64_t version = 0;       // counts what changed variables; under `lock`
  Queues queues;
};

/// Lays the model's variables out in `storage` and writes where each begins. `variables` has room
/// for all.
bool allocateVariables(const tfc_model &model, const Allocator &allocator, Block &storage,
                       void **variables);

/// Keeps calls that change variables apart from all others; free while there is one handle.
class StateLock {
public:
  StateLock(State &state, bool exclusive);
  ~StateLock();
  StateLock(const StateLock &) = delete;
  StateLock &operator=(const StateLock &) = delete;

  /// Lets others run, and waits until they let this one run again.
  void pause();
  void resume();

private:
  State &state;
  bool isExclusive;
  bool isHeld;
};

struct Dtype {
  const char *name;        // "f32"
  const char *safetensors; // "F32"
  int32_t bytes;
};

/// Null for a number that is no dtype.
const Dtype *dtypeInfo(int32_t dtype);
const char *dtypeName(int32_t dtype);

/// Bytes after the last place of an arena: empty tensors have their address there, and code may
/// read its start.
constexpr int64_t kArenaSlack = 64;

/// Whether an arena can have so many bytes; -1 says that they cannot be counted.
constexpr bool isArenaSize(int64_t bytes) { return bytes >= 0 && bytes <= INT64_MAX - kArenaSlack; }

/// The product of `dims`, or -1 if one is negative or the product does not fit.
int64_t elementCount(const int64_t *dims, int32_t rank);

/// The first byte that is neither 0 nor 1 makes memory of dtype bool invalid.
bool isValidBool(const void *data, uint64_t bytes);

} // namespace tfc::runtime

/// One handle: what a call needs besides the state.
struct tfc_instance {
  tfc::runtime::State *state = nullptr;
  const tfc_entry_info *entry = nullptr;   // of the last call, for messages
  bool hasFound = false;                   // the last function was a call that has succeeded
  tfc::runtime::StateLock *lock = nullptr; // of the call that runs
  int64_t queueEffects = 0;                // of this call so far
  std::atomic<bool> cancelled = false;     // no call waits any more
  tfc::runtime::Block arena;

  tfc_chunk *chunks = nullptr; // of the model's chunk_count; in `scratch`

  // Room for the generic calls, sized for the largest entry.
  tfc::runtime::Block scratch;
  int64_t *dims = nullptr;
  int64_t *symbols = nullptr;
  int64_t *found = nullptr;
  void **pointers = nullptr;

  tfc::runtime::Message message;

  /// Sets the message and returns `status`.
  __attribute__((format(printf, 3, 4))) tfc_status fail(tfc_status status, const char *format, ...);
};

namespace tfc::runtime {

/// The bounds of `symbols`, with a message that names the one that breaks them.
tfc_status checkSymbols(tfc_instance &instance, const tfc_entry_info &entry,
                        const int64_t *symbols);

/// Runs an entry whose symbols are within their bounds.
tfc_status runEntry(tfc_instance &instance, const tfc_entry_info &entry, const int64_t *symbols,
                    const void *const *feeds, void *const *fetches);

} // namespace tfc::runtime
