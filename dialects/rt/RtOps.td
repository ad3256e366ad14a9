//===- RtOps.td - Calls of the runtime ------------------------------------===//

#ifndef TFC_DIALECTS_RT_RTOPS_TD
#define TFC_DIALECTS_RT_RTOPS_TD

include "dialects/rt/RtBase.td"
include "dialects/rt/RtDeviceOps.td"
include "dialects/rt/RtInputOps.td"
include "dialects/rt/RtMessageOps.td"

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

def Rt_FieldOp : Rt_Op<"field", [Pure]> {
  let summary = "Loads a field of the call's frame";
  let description = [{
    The fields of a frame do not change while the call runs, so loads of them
    can be moved.

    ```mlir
    %feeds = rt.field %frame[feeds]
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Field:$field);
  let results = (outs Rt_Pointer:$value);
  let assemblyFormat = "$frame `[` $field `]` attr-dict";
}

def Rt_ElementOp : Rt_Op<"element", [Pure]> {
  let summary = "Loads an element of a table of the frame";
  let description = [{
    `feeds`, `fetches` and `variables` are tables of pointers, `symbols` is a
    table of sizes. Elements do not change while the call runs.

    ```mlir
    %x = rt.element %feeds[3] : !llvm.ptr
    %n = rt.element %symbols[0] : i64
    ```
  }];
  let arguments = (ins Rt_Pointer:$table, I32Attr:$number);
  let results = (outs AnyTypeOf<[Rt_Pointer, I64]>:$value);
  let assemblyFormat = "$table `[` $number `]` attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Calls that fail
//===----------------------------------------------------------------------===//

def Rt_CheckOp : Rt_FallibleOp<"check", [AttrSizedOperandSegments]> {
  let summary = "Ends the call with a message unless a condition holds";
  let description = [{
    Passes the status, the format and the values, of which there are at most
    four, to `tfc_rt_fail`. Each `%lld` in the format is replaced by a value; a
    percent sign is written as `%%`. With a `position`, the partitions of the entry
    first agree on the first failed check, in lexicographic order, which ends the
    call: the number and iteration of each loop around it, then its own number.

    ```mlir
    rt.check %frame, %holds else invalid_argument "n %% 4 == 0 does not hold: n is %lld"(%n)
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I1:$condition, Rt_Status:$status, StrAttr:$format,
                       Variadic<I64>:$values, Variadic<I64>:$position);
  let assemblyFormat = [{
    $frame `,` $condition `else` (`at` `[` $position^ `]`)? $status $format (`(` $values^ `)`)?
    attr-dict
  }];
  let hasVerifier = 1;
}

def Rt_PropagateOp : Rt_FallibleOp<"propagate"> {
  let summary = "Ends the call with the status of a part of its function, unless that is 0";
  let description = [{
    Follows the call of a function that `tfc-split-host` has moved operations to.

    ```mlir
    %status = llvm.call @tfc_entry_0_run.part0(%frame, %spilled) : (!llvm.ptr, !llvm.ptr) -> i32
    rt.propagate %status
    ```
  }];
  let arguments = (ins I32:$status);
  let assemblyFormat = "$status attr-dict";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Rt_LaunchOp : Rt_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    Passes `arguments`, which are sizes and pointers, and the range of parallel
    units from 0 to `extent` to the kernel. With a `grain`,
    `tfc_rt_parallel_for` distributes chunks of that many units among the
    threads of the instance, which call the kernel's task, a function with the
    suffix `.task`. Without one, the thread of the call runs all units.

    ```mlir
    rt.launch %frame, @kernel_3(%n, %x, %scratch) over %n grain 4096 : i64, !llvm.ptr, !llvm.ptr
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, FlatSymbolRefAttr:$kernel,
                       Variadic<AnyTypeOf<[Rt_Pointer, I64]>>:$arguments, I64:$extent,
                       OptionalAttr<I64Attr>:$grain);
  let assemblyFormat = [{
    $frame `,` $kernel `(` $arguments `)` `over` $extent (`grain` $grain^)? attr-dict
    (`:` type($arguments)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

def Rt_TraceBeginOp : Rt_Op<"trace_begin"> {
  let summary = "Returns the time at which a step begins";
  let description = [{
    ```mlir
    %begin = rt.trace_begin
    ```
  }];
  let results = (outs I64:$time);
  let assemblyFormat = "attr-dict";
}

def Rt_TraceEndOp : Rt_Op<"trace_end"> {
  let summary = "Records a step that ends now";
  let description = [{
    `name` says what was done, followed by a line break and its place in the
    graph. `slot` is that of a message, or -1. A kernel has arithmetic, and it reads
    and writes a number of bytes, of which those of feeds, variables and constants
    are `held` by the memory of the model between calls; these are 0 of other steps.

    ```mlir
    rt.trace_end %frame, %begin, kernel slot -1 "kernel_0_matmul\0Amodel.graph:3"
        flops %flops bytes %bytes held %held
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I64:$begin, Rt_TraceKind:$kind, I32Attr:$slot,
                       StrAttr:$name, I64:$flops, I64:$bytes, I64:$held);
  let assemblyFormat = [{
    $frame `,` $begin `,` $kind `slot` $slot $name `flops` $flops `bytes` $bytes `held` $held attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

def Rt_ChunkOp : Rt_Op<"chunk", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads the address of a chunk";
  let description = [{
    `chunks` is the field of the frame. The address is valid until the chunk
    grows.

    ```mlir
    %data = rt.chunk %chunks[2]
    ```
  }];
  let arguments = (ins Rt_Pointer:$chunks, I32Attr:$number);
  let results = (outs Rt_Pointer:$data);
  let assemblyFormat = "$chunks `[` $number `]` attr-dict";
  let hasVerifier = 1;
}

def Rt_GrowOp : Rt_FallibleOp<"grow"> {
  let summary = "Grows a chunk to a number of bytes";
  let description = [{
    Keeps the contents of the chunk. If it has fewer bytes, `tfc_rt_grow` moves
    it to larger memory, or ends the call if there is none.

    ```mlir
    rt.grow %frame, %chunks[2] to %bytes
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, Rt_Pointer:$chunks, I32Attr:$number, I64:$bytes);
  let assemblyFormat = "$frame `,` $chunks `[` $number `]` `to` $bytes attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// Moves elements between a queue and memory.
class Rt_QueueTransfer<string mnemonic> : Rt_FallibleOp<mnemonic> {
  dag transferArguments = (ins Rt_Pointer:$frame, I32Attr:$queue, Variadic<Rt_Pointer>:$values,
                               I64:$count, UnitAttr:$late, StrAttr:$subject);
  let hasVerifier = 1;
}

def Rt_EnqueueOp : Rt_QueueTransfer<"enqueue"> {
  let summary = "Puts elements into a queue";
  let description = [{
    `values` point to `count` elements of each component. Waits while the queue
    is full; a closed queue ends the call. `late` means that the call may have
    read variables before: `tfc_rt_enqueue` then restarts it if they have
    changed while it waited. `subject` begins the message if the call ends.

    ```mlir
    rt.enqueue %frame, queue 0(%x, %y) count %one late for "'enqueue' at model.graph:7"
    ```
  }];
  let arguments = transferArguments;
  let assemblyFormat = [{
    $frame `,` `queue` $queue `(` $values `)` `count` $count (`late` $late^)? `for` $subject
    attr-dict
  }];
}

def Rt_DequeueOp : Rt_QueueTransfer<"dequeue"> {
  let summary = "Takes elements out of a queue";
  let description = [{
    `values` point to memory for `count` elements of each component. Waits until
    that many elements are available; a closed queue with fewer elements ends
    the call. `late` and `subject` have the same meaning as for `rt.enqueue`.

    ```mlir
    rt.dequeue %frame, queue 0(%x, %y) count %eight for "'dequeue_many' at model.graph:9"
    ```
  }];
  let arguments = transferArguments;
  let assemblyFormat = [{
    $frame `,` `queue` $queue `(` $values `)` `count` $count (`late` $late^)? `for` $subject
    attr-dict
  }];
}

def Rt_DequeueUpToOp : Rt_QueueTransfer<"dequeue_up_to"> {
  let summary = "Takes elements out of a queue, fewer if it is closed";
  let description = [{
    Like `rt.dequeue`, but takes the remaining elements if the queue is closed.
    The number of elements is stored to `taken`, an `i32` in memory; the rest of
    the values becomes zero.

    ```mlir
    rt.dequeue_up_to %frame, queue 0(%x, %y) count %eight taken %number for "'dequeue_up_to'"
    ```
  }];
  let arguments = !con(transferArguments, (ins Rt_Pointer:$taken));
  let assemblyFormat = [{
    $frame `,` `queue` $queue `(` $values `)` `count` $count `taken` $taken (`late` $late^)?
    `for` $subject attr-dict
  }];
}

def Rt_QueueSizeOp : Rt_Op<"queue_size"> {
  let summary = "Counts the elements of a queue";
  let description = [{
    ```mlir
    %n = rt.queue_size %frame, queue 0
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$queue);
  let results = (outs I32:$size);
  let assemblyFormat = "$frame `,` `queue` $queue attr-dict";
  let hasVerifier = 1;
}

def Rt_QueueCloseOp : Rt_Op<"queue_close"> {
  let summary = "Closes a queue";
  let description = [{
    A closed queue accepts no more elements. With `cancel_pending`, calls that
    wait for the queue fail; without it, calls that wait to put elements in may
    still finish.

    ```mlir
    rt.queue_close %frame, queue 0 cancel_pending
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$queue, UnitAttr:$cancel_pending);
  let assemblyFormat = "$frame `,` `queue` $queue (`cancel_pending` $cancel_pending^)? attr-dict";
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_RT_RTOPS_TD
