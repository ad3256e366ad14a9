//===- RtMessageOps.td - Partitions of entries and their messages ---------===//

#ifndef TFC_DIALECTS_RT_RTMESSAGEOPS_TD
#define TFC_DIALECTS_RT_RTMESSAGEOPS_TD

include "dialects/rt/RtBase.td"

/// The value of a message: an address, or a scalar of at most 8 bytes.
def Rt_MessageValue : AnyTypeOf<[Rt_Pointer, I64]>;

class Rt_MessageOp<string mnemonic> : Rt_FallibleOp<mnemonic> { let hasVerifier = 1; }

def Rt_RunPartitionsOp : Rt_FallibleOp<"run_partitions"> {
  let summary = "Runs the partitions of the entry";
  let description = [{
    The function has the attribute `rt.partitioning`. Ends the call with the
    status of the partition that failed first, if one has.

    ```mlir
    rt.run_partitions %frame
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame);
  let assemblyFormat = "$frame attr-dict";
}

def Rt_SendOp : Rt_MessageOp<"send"> {
  let summary = "Sends a message to another partition";
  let description = [{
    Memory at an address must not change until the message is released. Its
    `bytes` cross if the receiver is in another process.

    ```mlir
    rt.send %frame, slot 3, %x : !llvm.ptr
    rt.send %frame, slot 3, %x bytes %size : !llvm.ptr
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$slot, Rt_MessageValue:$value,
                       Optional<I64>:$bytes);
  let assemblyFormat = [{
    $frame `,` `slot` $slot `,` $value (`bytes` $bytes^)? attr-dict `:` type($value)
  }];
}

def Rt_NextBufferOp : Rt_MessageOp<"next_buffer"> {
  let summary = "Waits until one of two buffers of a slot is free";
  let description = [{
    Returns the number of the buffer for the next message, 0 or 1.

    ```mlir
    %buffer = rt.next_buffer %frame, slot 3
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$slot);
  let results = (outs I32:$buffer);
  let assemblyFormat = "$frame `,` `slot` $slot attr-dict";
}

def Rt_AwaitReleaseOp : Rt_MessageOp<"await_release"> {
  let summary = "Waits until the messages of a slot are released";
  let description = [{
    ```mlir
    rt.await_release %frame, slot 3
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$slot);
  let assemblyFormat = "$frame `,` `slot` $slot attr-dict";
}

def Rt_ReceiveOp : Rt_MessageOp<"receive"> {
  let summary = "Waits for a message of another partition";
  let description = [{
    ```mlir
    %x = rt.receive %frame, slot 3 : !llvm.ptr
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$slot);
  let results = (outs Rt_MessageValue:$value);
  let assemblyFormat = "$frame `,` `slot` $slot attr-dict `:` type($value)";
}

def Rt_ReleaseOp : Rt_Op<"release"> {
  let summary = "Lets the sender use the memory of the oldest message again";
  let description = [{
    ```mlir
    rt.release %frame, slot 3
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$slot);
  let assemblyFormat = "$frame `,` `slot` $slot attr-dict";
  let hasVerifier = 1;
}

def Rt_CommitOp : Rt_FallibleOp<"commit"> {
  let summary = "Waits until all partitions have passed their checks";
  let description = [{
    Ends the call if one has failed.

    ```mlir
    rt.commit %frame
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame);
  let assemblyFormat = "$frame attr-dict";
}

def Rt_ReleaseStateOp : Rt_Op<"release_state"> {
  let summary = "Lets other calls change the variables that the partition has read";
  let description = [{
    The partition uses no variables any more, and changes none.

    ```mlir
    rt.release_state %frame
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame);
  let assemblyFormat = "$frame attr-dict";
}

#endif // TFC_DIALECTS_RT_RTMESSAGEOPS_TD
