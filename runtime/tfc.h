//===- tfc.h - The C API of compiled models -------------------------------===//
//
// A model's own header repeats this text and adds one typed function for each
// entry. Read that first; the functions here work for all models, by name.
//
// An instance is a handle on a state: the variables and queues of one copy of a
// model. Calls on different instances may run at the same time; an instance may
// be used by one thread at a time. A function that fails leaves every variable
// unchanged and sets the instance's message.
//
//===----------------------------------------------------------------------===//

#ifndef TFC_H
#define TFC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFC_ABI_VERSION 1

typedef enum tfc_status {
  TFC_OK = 0,
  TFC_INVALID_ARGUMENT = 1,    // a null pointer, a wrong dtype, rank or shape, a division by 0
  TFC_OUT_OF_RANGE = 2,        // a size beyond its bound, an index beyond a dimension
  TFC_NOT_FOUND = 3,           // no such entry, variable or file
  TFC_FAILED_PRECONDITION = 4, // 'ensure' failed; a file that belongs to another model
  TFC_DATA_LOSS = 5,           // a damaged file
  TFC_OUT_OF_MEMORY = 6,
  TFC_IO_ERROR = 7,        // the system refused to read or write a file
  TFC_UNSUPPORTED_CPU = 8, // the model was compiled for another processor
  TFC_ABI_MISMATCH = 9,    // model, runtime or options of another version
  TFC_INTERNAL = 10,
  TFC_CLOSED = 11,      // a queue accepts no more elements, or has fewer left than requested
  TFC_CANCELLED = 12,   // the wait at a queue was ended from outside
  TFC_NO_DEVICE = 13,   // a device that the model needs is not there
  TFC_DEVICE_LOST = 14, // a device has failed, and nothing can run on it any more
  TFC_TASK_LOST = 15    // another process of the cluster does not answer
} tfc_status;

typedef enum tfc_dtype {
  TFC_F32 = 0,
  TFC_F64 = 1,
  TFC_F16 = 2,
  TFC_BF16 = 3,
  TFC_I8 = 4,
  TFC_I16 = 5,
  TFC_I32 = 6,
  TFC_I64 = 7,
  TFC_U8 = 8,
  TFC_BOOL = 9, // one byte, 0 or 1
  TFC_U16 = 10,
  TFC_U32 = 11,
  TFC_U64 = 12
} tfc_dtype;

/// A dense, row-major tensor in the caller's memory, aligned to its element type. The data of feeds
/// and fetches may also be in memory of a GPU, if the model uses one.
typedef struct tfc_tensor {
  int32_t dtype; // tfc_dtype
  int32_t rank;
  const int64_t *dims; // `rank` sizes; may be null for rank 0
  void *data;          // may be null for a tensor without elements
} tfc_tensor;

/// A device of an instance.
typedef struct tfc_device_options {
  const char *name; // "cpu:1", or with the task: "/job:local/task:0/device:cpu:1"
  int32_t threads;  // of a call on this device; 0 means `threads` of tfc_options
  int32_t reserved; // 0
} tfc_device_options;

/// The functions of an instance that a transport calls, one at a time, on a thread of its choice:
/// one of its own, or one that calls `poll`.
typedef struct tfc_receiver {
  void *context; // their first argument

  /// Returns memory for the data of a message, or null if there is none: it is dropped then. With
  /// tfc_transport.device_memory it may be memory of a GPU, for more than `copied_bytes`.
  void *(*place)(void *context, const void *header, int32_t header_bytes, int64_t bytes);
  /// Takes a message, with the memory that `place` returned for it. Messages of a task must come in
  /// the order in which it has sent them.
  void (*arrived)(void *context, int32_t task, const void *header, int32_t header_bytes, void *data,
                  int64_t bytes);
  /// The data of a message that was sent with `token` may change.
  void (*sent)(void *context, void *token);
  /// A task cannot be reached any more; null for `task` -1, if nothing can be.
  void (*lost)(void *context, int32_t task, const char *reason);
  /// Must be called at least every 100 ms.
  void (*tick)(void *context);
  /// Makes calls of the driver of GPUs on this thread refer to one that the instance uses. With
  /// tfc_transport.device_memory, a thread of the transport calls it each time before it moves
  /// data; threads that call `send` and `poll` need not.
  void (*enter)(void *context);
} tfc_receiver;

/// Headers of messages are not longer than this.
#define TFC_MAX_HEADER 2048

/// Counts the changes of tfc_transport and tfc_receiver.
#define TFC_TRANSPORT_VERSION 2

/// Carries the messages of an instance and its forks to the other processes of a cluster. tfc_mpi.h
/// has one on MPI.
typedef struct tfc_transport {
  uint32_t size; // sizeof(tfc_transport)
  int32_t task;  // the number of this process, in the order of the jobs and their tasks
  int32_t task_count;
  uint32_t version;      // TFC_TRANSPORT_VERSION
  int32_t device_memory; // 1 if data may be in memory of GPUs, unless they are copied; otherwise 0
  void *context;         // the first argument of the functions

  /// Begins: from now on the receiver's functions are called. The receiver is valid until `detach`
  /// returns.
  tfc_status (*attach)(void *context, const tfc_receiver *receiver);
  /// Sends a message without waiting. Any thread may call it, also from functions of the receiver.
  /// The header is copied, and so are data of at most `copied_bytes`; others must not change until
  /// `sent`, which is called for these alone.
  void (*send)(void *context, int32_t task, const void *header, int32_t header_bytes,
               const void *data, int64_t bytes, void *token);
  /// Ends, when all that was sent has left and all processes have called this. If that takes longer
  /// than `limit_ms`, which is 0 if others are known to be gone, and this process cannot end
  /// without them, it ends the job.
  void (*detach)(void *context, int64_t limit_ms);
  /// May be null. Does what is to be done for messages on the calling thread, which waits for one,
  /// so that no thread has to be woken for it. `is_last` is 1 if the thread goes to sleep then.
  void (*poll)(void *context, int32_t is_last);
  int64_t copied_bytes;
} tfc_transport;

/// How the processes of a cluster call the entries that have devices of tasks.
typedef enum tfc_call_mode {
  /// All call an entry together, with the same sizes, and one such call after the other, in the
  /// same order; they save, load, and create forks together, too. `/job:local` is task 0: its feeds
  /// and fetches are used, and may be null in others.
  TFC_CALL_TOGETHER = 0,
  /// Each calls, saves and loads on its own, and is `/job:local` in its calls; the other tasks of
  /// the entry take part on threads of the runtime, from `create` until the instance is destroyed.
  /// Calls of several processes run at the same time, and their effects are whole: a call holds the
  /// tasks whose variables it changes exclusively, and shares those that it only reads. A call that
  /// waits at a queue lets others run on the task of the queue, unless it uses variables of later
  /// tasks, and goes on holding other tasks.
  TFC_CALL_ALONE = 1
} tfc_call_mode;

/// Options of an instance. Initialise with zeros and set `size`: zero means the default in all
/// other fields.
typedef struct tfc_options {
  uint32_t size; // sizeof(tfc_options)

  /// The number of threads that a call may use on each device, including the caller's: 0 means one
  /// for each processor that this process may use, divided among the devices; with 1 and a single
  /// device, none starts. They start at the first call that is large enough, those of other devices
  /// earlier, and sleep between calls. Results do not depend on their number.
  int32_t threads;

  /// Replace malloc and free for all memory of the instance; both or neither. `allocate` may
  /// return null; `alignment` is a power of two, at most 64. Both may be called by any thread
  /// that uses the instance or a fork of it.
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*release)(void *context, void *memory, size_t bytes);
  void *allocator_context;

  /// Replaces the instance's threads: runs body(body_context, i) once for each i in [0, count), in
  /// any order and on any threads, and returns when all are done.
  void (*parallel_for)(void *context, void (*body)(void *body_context, int64_t i),
                       void *body_context, int64_t count);
  void *parallel_context;

  /// The devices that there are besides the caller's, cpu:0, which may be listed too. With null,
  /// all CPU devices that the model needs are there. Without one that it needs, `create` fails with
  /// TFC_NO_DEVICE. Each has threads of its own; by default they share the processors equally.
  /// `parallel_for` above is called by the devices at the same time. GPUs need not be listed:
  /// without one that the model needs, `create` succeeds, and what uses it fails with
  /// TFC_NO_DEVICE.
  const tfc_device_options *devices;
  int64_t device_count;

  /// Streams (CUstream) of the caller: gpu_streams[i] gets the work of this handle's calls on
  /// gpu:i, after what is there already. Nobody else may use it during a call, and it must outlive
  /// the handle. Where it is null or there is none, the handle has a stream of its own, as forks
  /// always do.
  void *const *gpu_streams;
  int64_t gpu_stream_count;

  /// For a model with a cluster: the way to the other processes, each of which must create its
  /// instance; `call_mode` says how they call entries. Without a transport, this process has the
  /// devices of all tasks. Must outlive the instance. The transport's thread and, with
  /// TFC_CALL_ALONE, those that take part in calls allocate with `allocate` above, too.
  const tfc_transport *transport;
  /// A call that has waited longer for another process fails with TFC_TASK_LOST, on all that can be
  /// reached. If the other process has not taken data, the handle makes no calls until it has, and
  /// the data, which may be feeds, may be read until then, or the last handle is destroyed. 0 means
  /// 10 minutes. With TFC_CALL_ALONE it limits waits at queues of tasks, too.
  int64_t task_timeout_ms;
  int32_t call_mode; // tfc_call_mode, the same in all processes

  /// The number of threads that read rows of each dataset ahead, at most 64; 0 means one. They
  /// share the rows of a read. Results do not depend on their number.
  int32_t reader_threads;
} tfc_options;

typedef struct tfc_model tfc_model;       // the compiled model: constant data
typedef struct tfc_instance tfc_instance; // a handle on variables, with memory for one call

/// A feed, a fetch or a variable. The strings live as long as the model.
typedef struct tfc_value {
  const char *name;
  const char *type; // as written, "f32[n, 64]"; null for a variable
  int32_t dtype;
  int32_t rank;
  const int64_t *dims; // of a variable; null for feeds and fetches, see `shapes`
} tfc_value;

/// A named size of an entry: lower <= value <= upper; upper is -1 when there is no bound.
typedef struct tfc_symbol {
  const char *name;
  int64_t lower;
  int64_t upper;
} tfc_symbol;

/// A device on which entries run.
typedef struct tfc_device {
  const char *name; // "/job:local/task:0/device:cpu:1"
  const char *kind; // "cpu"
  int64_t index;    // among the devices of its kind
} tfc_device;

/// A condition on the named sizes of an entry that no bound expresses; a call with other sizes
/// fails with TFC_INVALID_ARGUMENT.
typedef struct tfc_fact {
  const char *text; // "n % 4 == 0"
  const char *site; // where the graph states it, "model.graph:12"; null if that is not known
  int32_t defines;  // 1 for "m == 2 * n", where 'm' is only another name for '2 * n'
} tfc_fact;

typedef struct tfc_entry {
  const char *name;
  int32_t feed_count;
  int32_t fetch_count;
  int32_t symbol_count;
  int32_t writes; // 1 if a call changes variables
} tfc_entry;

typedef enum tfc_queue_kind {
  TFC_QUEUE_FIFO = 0,
  TFC_QUEUE_SHUFFLE = 1, // returns a random element
  TFC_QUEUE_PRIORITY = 2 // returns the element with the smallest first component
} tfc_queue_kind;

typedef struct tfc_queue {
  const char *name;
  int32_t kind; // tfc_queue_kind
  int32_t component_count;
  int64_t capacity; // elements
} tfc_queue;

/// The runtime that a model was linked with. New functions are only added at the end; `size` tells
/// which are present.
typedef struct tfc_api {
  uint32_t abi_version; // TFC_ABI_VERSION
  uint32_t size;        // sizeof(tfc_api)

  /// The name of a status in lower case, "invalid argument". Never null.
  const char *(*status_name)(int32_t status);

  /// Describe the parts of the model: each function fills `out` for index in [0, count), and
  /// otherwise returns TFC_NOT_FOUND. Safe on any thread.
  tfc_status (*entry)(const tfc_model *model, int32_t index, tfc_entry *out);
  tfc_status (*feed)(const tfc_model *model, int32_t entry, int32_t index, tfc_value *out);
  tfc_status (*fetch)(const tfc_model *model, int32_t entry, int32_t index, tfc_value *out);
  tfc_status (*symbol)(const tfc_model *model, int32_t entry, int32_t index, tfc_symbol *out);
  tfc_status (*variable)(const tfc_model *model, int32_t index, tfc_value *out);

  /// Writes the dimensions of all feeds, then of all fetches, axis by axis, for these sizes.
  tfc_status (*shapes)(const tfc_model *model, int32_t entry, const int64_t *symbols,
                       int64_t *dims);

  /// Creates an instance with its variables at their initial values. `options` may be null and is
  /// copied. If it fails, `*out` is null and message(null) returns the reason. Safe on any thread.
  tfc_status (*create)(const tfc_model *model, const tfc_options *options, tfc_instance **out);

  /// Creates another handle on the same variables and queues, for another thread. Calls that change
  /// variables are then exclusive, and calls that only read them run concurrently; a call that
  /// waits at a queue lets others run. Allocates.
  tfc_status (*fork)(tfc_instance *instance, tfc_instance **out);

  /// Frees the handle, and the variables with their last handle. Null is allowed.
  void (*destroy)(tfc_instance *instance);

  /// Returns why the last function failed on this instance, or "". Valid until the next function on
  /// it. With null: why the last `create` of the process failed.
  const char *(*message)(const tfc_instance *instance);

  /// Runs an entry, with feeds and fetches in the order of the entry. The caller sets the dtypes
  /// and shapes of the fetches (see `infer`), whose data are written; after a failure they are
  /// undefined. A fetch of data-dependent size has room for the upper bound; `found` returns its
  /// actual shape, in which its elements are dense. A fetch must not overlap a feed or another
  /// fetch. Blocks until done, including waits for queues until other handles have put elements in
  /// or taken them out. A wait that only this handle could end fails with TFC_FAILED_PRECONDITION,
  /// one for elements of a closed queue with TFC_CLOSED.
  tfc_status (*call)(tfc_instance *instance, const char *entry, const tfc_tensor *feeds,
                     int32_t feed_count, const tfc_tensor *fetches, int32_t fetch_count);

  /// Checks the feeds like `call` (their data may be null) and fills dtype, rank and dims of each
  /// fetch; data-dependent sizes are upper bounds. The dims belong to the instance and are valid
  /// until the next function on it.
  tfc_status (*infer)(tfc_instance *instance, const char *entry, const tfc_tensor *feeds,
                      int32_t feed_count, tfc_tensor *fetches, int32_t fetch_count);

  /// Copies a variable to `out->data`, or from `in->data`. Dtype and shape must be the variable's.
  tfc_status (*get)(tfc_instance *instance, const char *variable, const tfc_tensor *out);
  tfc_status (*set)(tfc_instance *instance, const char *variable, const tfc_tensor *in);

  /// Writes all variables as a safetensors file with a CRC-32C for each tensor. The file appears
  /// whole or not at all: it is written under another name in the same directory, synced and
  /// renamed. Symbolic links are followed, and an existing file keeps its mode; a path that exists
  /// and is not a regular file is refused. Blocks for the disk. The processes of a cluster call
  /// this together: each writes a file beside the path, which becomes an index of them.
  tfc_status (*save)(tfc_instance *instance, const char *path);

  /// Replaces all variables by those of a safetensors file. It must contain every variable, under
  /// its name or its '@was' name, and nothing else; a damaged file or one of another model is
  /// rejected as a whole. Needs memory for a second copy of the variables. Blocks for the disk. An
  /// index, as `save` of a cluster writes it, stands for the files that it names. The processes of
  /// a cluster call this together: all of them load, or none does.
  tfc_status (*load)(tfc_instance *instance, const char *path);

  /// Like `entry` and `variable`: the queues, and the components of their elements.
  tfc_status (*queue)(const tfc_model *model, int32_t index, tfc_queue *out);
  tfc_status (*component)(const tfc_model *model, int32_t queue, int32_t index, tfc_value *out);

  /// Returns the current number of elements in a queue.
  tfc_status (*queue_size)(tfc_instance *instance, const char *queue, int64_t *size);

  /// Closes a queue for all handles: it accepts no more elements; those in it can still be taken.
  /// Calls that wait to put elements in may still finish, or fail with TFC_CANCELLED if
  /// `cancel_pending` is not 0. A queue that is closed stays closed.
  tfc_status (*queue_close)(tfc_instance *instance, const char *queue, int32_t cancel_pending);

  /// Makes all current and future waits of this handle at queues fail with TFC_CANCELLED. The only
  /// function that any thread may call while another uses the handle. Null is allowed.
  void (*cancel)(tfc_instance *instance);

  /// Fills dtype, rank and dims of each fetch as in the last `call` of this handle, with the actual
  /// data-dependent sizes. The dims belong to the instance and are valid until the next function on
  /// it.
  tfc_status (*found)(tfc_instance *instance, tfc_tensor *fetches, int32_t fetch_count);

  /// Describes the facts of an entry, like `symbol`.
  tfc_status (*fact)(const tfc_model *model, int32_t entry, int32_t index, tfc_fact *out);

  /// Returns where the graph declares an entry, "model.graph:12", or null if that is not known.
  const char *(*site)(const tfc_model *model, int32_t entry);

  /// Describes the devices that the model uses, like `entry`; the caller's is the first.
  tfc_status (*device)(const tfc_model *model, int32_t index, tfc_device *out);

  /// With TFC_CALL_ALONE: takes part in calls of other processes until all of them are here, too,
  /// or have destroyed their instances; for tasks that make no calls, or no more. Nothing else may
  /// be called on the instance and its forks meanwhile, nor calls of entries afterwards.
  /// TFC_TASK_LOST if others cannot be reached any more, or nothing has come from one that is not
  /// here for the time of `task_timeout_ms`, and at least a second: the runtime of each process
  /// tells the others that it lives. Destroying the last handle waits like this.
  tfc_status (*serve)(tfc_instance *instance);

  /// Lets a dataset read these files instead of those that the graph names, in all handles of this
  /// process. They are opened at once; if that fails, the dataset keeps its files. Calls that read
  /// rows at the same time read them from the old files or from the new ones. Null if the model has
  /// no dataset.
  tfc_status (*open_dataset)(tfc_instance *instance, const char *dataset, const char *const *paths,
                             int64_t path_count);
} tfc_api;

/// A model with the runtime inside its library. Every shared library that tfc writes exports
/// `const tfc_library *tfc_library_get(void)`, for programs that load one by dlopen and dlsym.
typedef struct tfc_library {
  const tfc_api *api;
  const tfc_model *model;
} tfc_library;

#ifdef __cplusplus
}
#endif

#endif // TFC_H
