//===- Datasets.h - The datasets of a state -------------------------------===//
//
// A read of rows names those that will be wanted next. Threads of the dataset read them into a
// slot, while the call goes on; the read that wants them takes them from there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Rows.h"

#include <pthread.h>

namespace tfc::runtime {

/// One dataset: its files, and what its threads read ahead. All functions are thread-safe.
class Dataset {
public:
  /// `threads` read ahead, from 1 to kMostReaderThreads; they start with the first read.
  Dataset(const Allocator &allocator, const tfc_dataset_info &info, int32_t threads);
  ~Dataset();
  Dataset(const Dataset &) = delete;
  Dataset &operator=(const Dataset &) = delete;

  /// Opens other files; if that fails, the dataset keeps its own.
  tfc_status open(const char *const *paths, int64_t pathCount, Message &message);
  /// Counts the rows; opens the files that the graph names if none are open.
  tfc_status count(int64_t &rows, Message &message);
  /// See tfc_rt_read_rows.
  tfc_status read(char *const *values, const int64_t *rows, int64_t count, const int64_t *next,
                  int64_t nextCount, Message &message);

  const tfc_dataset_info &getInfo() const { return info; }

private:
  /// Opened files, which live as long as somebody reads them.
  struct Opened {
    Rows rows;
    int32_t users = 1;
  };
  /// Rows that are read ahead.
  struct Slot {
    /// A slot is read in parts, each by a thread.
    enum State { Free, Waiting, Reading, Ready, Taken };

    State state = Free;
    uint64_t age = 0;         // when it was filled
    Opened *opened = nullptr; // of which it has a share while it is not free
    int64_t count = 0;
    int64_t begun = 0;   // of these, that threads have read or are reading
    int32_t readers = 0; // threads that are reading
    tfc_status status = TFC_OK;
    Block numbers, values, scratch;
  };
  /// A loop over samples has one batch ahead; several copies of a network read one each.
  static constexpr int kSlots = 32;

  static void *threadMain(void *dataset);
  bool startThreads();
  void readAhead();
  Slot *oldestUnread();
  Opened *create(const char *const *paths, int64_t pathCount, tfc_status &status, Message &message);
  /// Returns a share in the files, or null.
  Opened *share(tfc_status &status, Message &message);
  void release(Opened *opened);
  void release(Slot &slot);
  bool holds(const Slot &slot, const Opened *opened, const int64_t *rows, int64_t count) const;
  Slot *find(const Opened *opened, const int64_t *rows, int64_t count);
  Slot *take(const Opened *opened, const int64_t *rows, int64_t count);
  void want(Opened *opened, const int64_t *rows, int64_t count);
  bool reserve(Slot &slot, int64_t count) const;
  char *valuesOf(const Slot &slot, int32_t component) const;
  tfc_status readPart(const Slot &slot, int64_t first, int64_t count, Block &pointers,
                      Block &scratch) const;
  tfc_status readNow(const Opened &opened, char *const *values, const int64_t *rows, int64_t count,
                     Message &message);
  void copy(Slot &slot, char *const *values);

  Allocator allocator;
  const tfc_dataset_info &info;
  uint64_t rowBytes;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  const int32_t wantedThreads;
  int32_t threadCount = 0; // that have started
  pthread_t threads[kMostReaderThreads];
  bool isStopping = false;
  Opened *opened = nullptr;
  uint64_t clock = 0;
  Slot slots[kSlots];
};

/// The datasets of a model, by number.
class Datasets {
public:
  explicit Datasets(const Allocator &allocator) : allocator(allocator) {}
  ~Datasets();

  bool create(const tfc_model &model, int32_t threads);
  Dataset &operator[](int64_t number) const { return *table[number]; }
  /// Null if there is none.
  Dataset *find(const char *name) const;

private:
  Allocator allocator;
  Block memory;
  Dataset **table = nullptr;
  int64_t size = 0;
};

} // namespace tfc::runtime
