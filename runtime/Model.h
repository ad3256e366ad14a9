//===- Model.h - The interface of generated code and the runtime ----------===//
//
// A compiled model is one constant `tfc_model`, a table of its variables and
// entries, and one function per entry. The compiler emits both
// (compiler/emission/Descriptor.cpp); the runtime reads them. Everything here
// is plain C data: pointers, fixed-width integers, no implicit padding.
//
//===----------------------------------------------------------------------===//

#ifndef TFC_RUNTIME_MODEL_H
#define TFC_RUNTIME_MODEL_H

#include "runtime/tfc.h"

#ifdef __cplusplus
extern "C" {
#endif

// The elements of a larger tensor that a variable holds: `first` and every `step`-th after it along
// an axis, on which the tensor has `size` elements. A scalar has one.
typedef struct tfc_slice_info {
  const char *whole; // the name of the tensor
  int64_t axis;
  int64_t first;
  int64_t step;
  int64_t size;
} tfc_slice_info;

typedef struct tfc_variable_info {
  const char *name;     // checkpoint name, as the author wrote it
  const char *formerly; // '@was' name, or null
  int32_t dtype;        // tfc_dtype
  int32_t rank;
  const int64_t *dims; // static
  uint64_t bytes;
  int64_t device;              // number in tfc_model.devices
  const tfc_slice_info *slice; // or null
} tfc_variable_info;

// A feed or fetch of an entry. The entry's `shapes` writes its dimensions.
typedef struct tfc_value_info {
  const char *name;
  const char *type; // as written: "f32[n, 64]"
  int32_t dtype;
  int32_t rank;
  // 1 for a feed whose data only pass to GPUs, by tfc_rt_device_upload; for a fetch that only
  // passes from a GPU to the caller, the number of its slot plus 1. 0 for others.
  int64_t on_gpu;
} tfc_value_info;

// A named dimension of an entry. Its value in a call follows from an axis of one feed: size(feed,
// axis) = scale * value + offset. The typed C functions pass it directly.
typedef struct tfc_symbol_info {
  const char *name;
  int64_t lower; // smallest valid value
  int64_t upper; // largest valid value, or -1: no bound
  int32_t feed;
  int32_t axis;
  int64_t scale;
  int64_t offset;
  const char *lower_site; // where the graph states the bound, "model.graph:12"; null if unknown
  const char *upper_site;
} tfc_symbol_info;

typedef enum tfc_dataset_format {
  TFC_DATASET_CSV = 0,
  TFC_DATASET_NPY = 1,
  TFC_DATASET_SAFETENSORS = 2,
  TFC_DATASET_TFRECORD = 3,
  TFC_DATASET_RAW = 4
} tfc_dataset_format;

typedef struct tfc_queue_info {
  const char *name;
  int32_t kind; // tfc_queue_kind
  int32_t component_count;
  const tfc_variable_info *components; // of one element, in order; no '@was' names
  int64_t capacity;                    // elements, at least 1
  int64_t min_ready;                   // elements that a shuffling queue keeps until it is closed
  int64_t seed;                        // of a shuffling queue
} tfc_queue_info;

typedef struct tfc_dataset_info {
  const char *name;
  int32_t format; // tfc_dataset_format
  int32_t component_count;
  const tfc_variable_info *components; // of one row, in order; no '@was' names
  const char *const *paths;            // of the files, unless the program opens others
  int64_t path_count;
  int64_t skip; // lines or bytes at the beginning of each file
} tfc_dataset_info;

// A device that entries use.
typedef struct tfc_device_info {
  const char *name; // "/job:local/task:0/device:cpu:1"
  const char *kind; // "cpu"
  int64_t index;    // among the devices of its kind
  int64_t task;     // number in tfc_model.tasks, or -1 for the process that makes the call
} tfc_device_info;

// A function of an image. The host launches it with blocks of `block` threads.
typedef struct tfc_grid_info {
  const char *name;
  int64_t block;
} tfc_grid_info;

// The code of an image, assembled for a compute capability, in tenths. GPUs whose capability has
// the same first digit and is not less run it.
typedef struct tfc_binary_info {
  const void *code;
  int64_t capability;
} tfc_binary_info;

// The code for all devices of a kind that have memory of their own, in the form that their driver
// loads: for "gpu", PTX as a text, and what was assembled from it.
typedef struct tfc_image_info {
  const char *kind; // of devices
  const char *code;
  const tfc_grid_info *grids;
  int64_t grid_count;
  const tfc_binary_info *binaries; // of different capabilities
  int64_t binary_count;
} tfc_image_info;

// A constant that `create` copies to a device with memory of its own.
typedef struct tfc_constant_info {
  const void *data;
  int64_t bytes;
  int64_t device; // number in tfc_model.devices
} tfc_constant_info;

typedef struct tfc_call_frame tfc_call_frame;

// Memory of a list or tape with a data-dependent length; it persists from call to call.
typedef struct tfc_chunk {
  char *data; // 64-byte aligned
  int64_t bytes;
} tfc_chunk;

// Entries on several devices. An entry has a function for each device, its partition; values cross
// between them in messages.

// A slot for messages from one partition to another. Loops send many through one slot.
typedef struct tfc_slot_info {
  int32_t sender; // partition
  int32_t receiver;
} tfc_slot_info;

typedef struct tfc_partition_info {
  // Returns a tfc_status or one of the numbers below; the message is set as by `run` of an entry.
  int32_t (*run)(tfc_call_frame *frame);
  int64_t (*arena_bytes)(const int64_t *symbols); // as that of an entry
  int64_t device;                                 // number in tfc_model.devices
  // 2 if the partition changes variables, 1 if it only reads some, otherwise 0; and 4 if it uses
  // queues.
  int64_t access;
} tfc_partition_info;

// How an entry is divided.
typedef struct tfc_partitioning {
  const tfc_partition_info *partitions; // number 0 is on device 0 and runs on the caller's thread
  const tfc_slot_info *slots;
  int32_t partition_count;
  int32_t slot_count;
  int64_t commits; // 1 if each partition calls tfc_rt_commit, equally often
} tfc_partitioning;

typedef struct tfc_entry_info {
  const char *name;
  int32_t feed_count;
  int32_t fetch_count;
  int32_t symbol_count;
  int32_t writes; // 1 if the entry changes variables
  const tfc_value_info *feeds;
  const tfc_value_info *fetches;
  const tfc_symbol_info *symbols;
  // Writes the dimensions of all feeds, then of all fetches, axis by axis; data-dependent sizes are
  // upper bounds. If a dimension overflows, it and all later ones are INT64_MIN.
  void (*shapes)(const int64_t *symbols, int64_t *dims);
  // The bytes of arena that a call needs on device 0; monotone in every symbol.
  int64_t (*arena_bytes)(const int64_t *symbols);
  // Runs one call. The caller has checked null pointers and bounds. Returns a tfc_status; if it is
  // not 0, the message is set (tfc_rt_fail) and no variable has changed.
  int32_t (*run)(tfc_call_frame *frame);
  // Writes the dimensions of the fetches for the data-dependent sizes of a call; null if there are
  // none.
  void (*found_shapes)(const int64_t *symbols, const int64_t *found, int64_t *dims);
  int64_t found_count; // data-dependent sizes
  const tfc_fact *facts;
  int64_t fact_count;
  const char *site;                     // of the entry; null if unknown
  const tfc_partitioning *partitioning; // null for an entry on device 0 alone
} tfc_entry_info;

struct tfc_model {
  int32_t abi_version;
  int32_t variable_count;
  int32_t entry_count;
  int32_t chunk_count; // the maximum over all entries
  const char *name;
  const char *cpu;      // the processor compiled for, for messages
  const char *features; // "+avx2,+fma,...": what the code needs, checked by create
  const tfc_variable_info *variables;
  const tfc_entry_info *entries;
  const tfc_entry_info *init; // no feeds, no fetches: assigns every variable its initial value
  const tfc_queue_info *queues;
  int64_t queue_count;
  const tfc_device_info *devices; // the caller's first
  int64_t device_count;           // 0 if there is no other
  const tfc_image_info *image;    // null without kernels for devices that have memory of their own
  const tfc_constant_info *constants;
  int64_t constant_count;
  const char *const *tasks; // "/job:ps/task:0", ..., each in a process of its own
  int64_t task_count;       // 0 for a program of one process
  const tfc_dataset_info *datasets;
  int64_t dataset_count;
  uint64_t fingerprint; // of the program that all processes must have; 0 for one process
};

// The data of a call that are passed to an entry function; those of its partitions differ in the
// arena, the chunks and the last two fields. The rt dialect and
// compiler/host/LowerRt.cpp know the layout.
struct tfc_call_frame {
  tfc_instance *handle;
  char *arena;              // 64-byte aligned, at least arena_bytes(symbols)
  const void *const *feeds; // dense, row-major; null only without elements
  void *const *fetches;     // dense, row-major, caller's memory; null only without elements
  void *const *variables;   // 64-byte aligned, in the order of tfc_model.variables
  const int64_t *symbols;   // values of the entry's named dimensions
  tfc_chunk *chunks;        // tfc_model.chunk_count of them
  int64_t *found;           // receives the data-dependent sizes, found_count of the entry
  int32_t partition;
  int32_t device;
};

// Grows a chunk to at least `bytes`, keeping its contents. Returns a tfc_status; if it is not 0,
// the message is set and the chunk is unchanged.
int32_t tfc_rt_grow(tfc_call_frame *frame, int32_t chunk, int64_t bytes);

// Sets the message of the failing call, after the entry's name ("train: "), and returns `status`,
// so that generated code can return it. `format` holds "%lld" for each of the `count` (at most 4)
// values and no other conversions. May be called only by the thread that runs the entry, not by
// bodies of parallel_for. In an entry on several devices this ends the waits of all.
int32_t tfc_rt_fail(tfc_call_frame *frame, int32_t status, const char *format,
                    const int64_t *values, int32_t count);

// Runs body(context, begin, end) over [0, count) divided into chunks of `grain` (the last may be
// shorter), on the threads of the frame's device. Returns when all are done. The division depends
// only on count and grain. A call from inside a body runs on the calling thread.
typedef void (*tfc_rt_body)(void *context, int64_t begin, int64_t end);
void tfc_rt_parallel_for(tfc_call_frame *frame, tfc_rt_body body, void *context, int64_t count,
                         int64_t grain);

// Runs the partitions of the entry, each on a thread of its device, and returns when all have
// returned. If one returns a status, waits of all others end. Returns the status of the first that
// failed, which the entry must return as well. Allocates only until each entry has been called
// once.
int32_t tfc_rt_run_partitions(tfc_call_frame *frame);

// Results of the functions below that are no tfc_status.
// A partition returns them.
#define TFC_RT_POISON (-2)  // the value is missing, because a check of its sender has failed
#define TFC_RT_ABORTED (-3) // another partition has failed

// Functions of the sender of a slot. They return 0, TFC_RT_ABORTED, or TFC_RT_POISON if they wait
// for a receiver that has left. A slot has two buffers: `send` waits until the receiver has
// released the message before the last one. The memory at `value` must not change until its message
// is released, and must be valid until all partitions have returned, as that of arenas is: an abort
// ends the sender's waits while the receiver may still read. The receiver gets the same pointer, so
// `value` may be a scalar in place of an address; `bytes` are TFC_RT_SCALAR then. A receiver in
// another process gets a copy of this many bytes.
#define TFC_RT_SCALAR (-1)
int32_t tfc_rt_send(tfc_call_frame *frame, int32_t slot, const void *value, int64_t bytes);
// Waits as the next `send` does, and returns the number of the free buffer, 0 or 1, or
// what `send` would return: for senders in loops, which have memory for two values.
int32_t tfc_rt_next_buffer(tfc_call_frame *frame, int32_t slot);
// Waits until all messages of the slot are released, so that the memory of the last one is free.
int32_t tfc_rt_await_release(tfc_call_frame *frame, int32_t slot);

// Functions of the receiver of a slot. `receive` waits for the next message, and returns 0,
// TFC_RT_POISON or TFC_RT_ABORTED. `release` releases the oldest message that is not yet released;
// after the end of a call all are.
int32_t tfc_rt_receive(tfc_call_frame *frame, int32_t slot, const void **value);
void tfc_rt_release(tfc_call_frame *frame, int32_t slot);

// Waits until no earlier check of any partition can fail any more: each partition calls this, or
// tfc_rt_fail_check. Returns 0, or TFC_RT_ABORTED if a check has failed.
int32_t tfc_rt_commit(tfc_call_frame *frame);
// Ends a partition of which a check has failed. Who waits for its messages receives TFC_RT_POISON.
// Waits until it is known which checks have failed; for the one with the first position, in
// lexicographic order, this sets the message and returns the status as tfc_rt_fail does, and it
// returns TFC_RT_ABORTED for the others.
int32_t tfc_rt_fail_check(tfc_call_frame *frame, const int64_t *position, int32_t position_size,
                          int32_t status, const char *format, const int64_t *values, int32_t count);

// The partition reads no variables any more, and changes none. Other calls may change them, if no
// other partition of this process uses them.
void tfc_rt_release_state(tfc_call_frame *frame);

// Functions for partitions on devices that have memory of their own. There, the arena, chunks and
// variables of the frame are memory of the device. It runs what it is given in order; the end of
// a partition waits for it. All functions return a tfc_status, with the message set if it is not 0,
// or another number, which the partition must return as well.
//
// Launches a grid of the model's image with at least `threads` threads, none if that is 0.
// `arguments` are the `count` parameters of its function, of 8 bytes each.
int32_t tfc_rt_device_launch(tfc_call_frame *frame, int32_t grid, int64_t threads,
                             const int64_t *arguments, int32_t count);
// Copies from the device to the host, and waits for it.
int32_t tfc_rt_device_read(tfc_call_frame *frame, void *to, const void *from, int64_t bytes);
// Copies from the host to the device; the memory of the host is free afterwards.
int32_t tfc_rt_device_upload(tfc_call_frame *frame, void *to, const void *from, int64_t bytes);
int32_t tfc_rt_device_copy(tfc_call_frame *frame, void *to, const void *from, int64_t bytes);
int32_t tfc_rt_device_fill(tfc_call_frame *frame, void *to, int32_t byte, int64_t bytes);
// Sends a copy in memory of the host, as tfc_rt_send does; the memory of the device is free
// afterwards.
int32_t tfc_rt_device_send(tfc_call_frame *frame, int32_t slot, const void *from, int64_t bytes);
// Returns the address, in memory of the device, of constant number `number` of the model.
const void *tfc_rt_device_constant(tfc_call_frame *frame, int32_t number);

// Operations on queue number `queue`. `values` are arrays of `count` elements of each component.
// They wait if necessary and return a tfc_status, with the message set if it is not 0, or another
// number, which the entry must return as well. `is_late` is 1 if the entry has already read a
// variable. `subject` follows the entry's name in the message.
int32_t tfc_rt_enqueue(tfc_call_frame *frame, int32_t queue, const void *const *values,
                       int64_t count, int32_t is_late, const char *subject);
int32_t tfc_rt_dequeue(tfc_call_frame *frame, int32_t queue, void *const *values, int64_t count,
                       int32_t is_late, const char *subject);
// Sets `taken`, and sets the remaining elements of the values to zero.
int32_t tfc_rt_dequeue_up_to(tfc_call_frame *frame, int32_t queue, void *const *values,
                             int64_t count, int32_t *taken, int32_t is_late, const char *subject);
int32_t tfc_rt_queue_size(tfc_call_frame *frame, int32_t queue);
void tfc_rt_queue_close(tfc_call_frame *frame, int32_t queue, int32_t cancel_pending);

// Reads rows of dataset number `dataset`, and counts them. `values` are arrays of `count` elements
// of each component; a negative number in `rows` stands for a row of zeros. Rows `next` are read
// meanwhile by another thread, for a later call of the same numbers. They return a tfc_status, with
// the message set if it is not 0. `subject` follows the entry's name in the message.
int32_t tfc_rt_read_rows(tfc_call_frame *frame, int32_t dataset, void *const *values,
                         const int64_t *rows, int64_t count, const int64_t *next,
                         int64_t next_count, const char *subject);
int32_t tfc_rt_dataset_size(tfc_call_frame *frame, int32_t dataset, int64_t *size,
                            const char *subject);

// Copies feed `number` of the call in this process, of `bytes`. Returns a tfc_status, with the
// message set if it is not 0: without the feed, TFC_INVALID_ARGUMENT. `subject` follows the entry's
// name in the message.
int32_t tfc_rt_own_feed(tfc_call_frame *frame, int32_t number, void *to, int64_t bytes,
                        const char *subject);

// Functions that code calls around its steps if `tfc profile` has compiled it. The first returns a
// time. `slot` is that of a message, or -1; `name` says what was done, and after a line break its
// place in the graph. A kernel has `flops`, and reads and writes `bytes`, of which feeds, variables
// and constants hold `held`.
typedef enum tfc_trace_kind {
  TFC_TRACE_KERNEL = 0,
  TFC_TRACE_SEND = 1,    // of a message, including the wait for its buffer
  TFC_TRACE_RECEIVE = 2, // the wait for a message
  TFC_TRACE_WAIT = 3     // for a queue, rows, or all partitions, or until a message is released
} tfc_trace_kind;
int64_t tfc_rt_trace_begin(void);
void tfc_rt_trace_end(tfc_call_frame *frame, int64_t begin, int32_t kind, int32_t slot,
                      const char *name, int64_t flops, int64_t bytes, int64_t held);

// Called by the functions of a generated header, like those of `tfc_api` below. Checks pointers
// (null only for a value without elements) and the bounds of the symbols, then runs the entry on
// dense arrays of the shapes that follow from the symbols. Allocates only when an unbounded size
// grows.
tfc_status tfc_instance_call(tfc_instance *instance, int32_t entry, const int64_t *symbols,
                             const void *const *feeds, void *const *fetches);

// The same for an entry with data-dependent sizes: if the call succeeds, they are stored to the
// pointers in `found` that are not null.
tfc_status tfc_instance_call_and_find(tfc_instance *instance, int32_t entry, const int64_t *symbols,
                                      const void *const *feeds, void *const *fetches,
                                      int64_t *const *found);

// The functions of `tfc_runtime_api`; tfc.h documents them.
tfc_status tfc_instance_create(const tfc_model *model, const tfc_options *options,
                               tfc_instance **out);
tfc_status tfc_instance_fork(tfc_instance *instance, tfc_instance **out);
void tfc_instance_destroy(tfc_instance *instance);
const char *tfc_instance_message(const tfc_instance *instance);
tfc_status tfc_instance_call_by_name(tfc_instance *instance, const char *entry,
                                     const tfc_tensor *feeds, int32_t feed_count,
                                     const tfc_tensor *fetches, int32_t fetch_count);
tfc_status tfc_instance_infer(tfc_instance *instance, const char *entry, const tfc_tensor *feeds,
                              int32_t feed_count, tfc_tensor *fetches, int32_t fetch_count);
tfc_status tfc_instance_found(tfc_instance *instance, tfc_tensor *fetches, int32_t fetch_count);
tfc_status tfc_instance_get(tfc_instance *instance, const char *variable, const tfc_tensor *out);
tfc_status tfc_instance_set(tfc_instance *instance, const char *variable, const tfc_tensor *in);
tfc_status tfc_instance_save(tfc_instance *instance, const char *path);
tfc_status tfc_instance_load(tfc_instance *instance, const char *path);
tfc_status tfc_instance_queue_size(tfc_instance *instance, const char *queue, int64_t *size);
tfc_status tfc_instance_queue_close(tfc_instance *instance, const char *queue,
                                    int32_t cancel_pending);
void tfc_instance_cancel(tfc_instance *instance);
tfc_status tfc_instance_serve(tfc_instance *instance);
// Linked into models with datasets only.
#ifdef __GNUC__
__attribute__((weak))
#endif
tfc_status tfc_instance_open_dataset(tfc_instance *instance, const char *dataset,
                                     const char *const *paths, int64_t path_count);
const char *tfc_status_name(int32_t status);

// Generated code defines a constant tfc_library from this and its model.
extern const tfc_api tfc_runtime_api;

#ifdef __cplusplus
}
#endif

#endif // TFC_RUNTIME_MODEL_H
