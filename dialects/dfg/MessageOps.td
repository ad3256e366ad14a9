//===- MessageOps.td - Messages between the devices of an entry -----------===//

#ifndef TFC_DIALECTS_DFG_MESSAGEOPS_TD
#define TFC_DIALECTS_DFG_MESSAGEOPS_TD

include "dialects/dfg/DfgBase.td"

class Dfg_MessageOp<string mnemonic, list<Trait> traits = []>
    : Dfg_Op<mnemonic,
             !listconcat([DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Dfg_StepRole],
                         traits)>;

def Dfg_SendOp : Dfg_MessageOp<"send", [Dfg_RegisterReaderRole]> {
  let summary = "Sends a value to another partition of the entry";
  let description = [{
    `slot` is a number in the `slots` of the entry; one `dfg.receive` has the
    same. A scalar is sent as it is. A tensor is sent as the address of its
    memory if the operation is in the body of the partition; in a branch or a
    loop it is copied, because memory there is used again.

    ```mlir
    dfg.send %x to slot 0 : tensor<4xf32>
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins Dfg_Tensor:$value, I32Attr:$slot);
  let assemblyFormat = "$value `to` `slot` $slot attr-dict `:` type($value)";
  let extraClassDeclaration = [{
    /// The number of buffers into which the value is copied: 0 if it is read in place, and 2 in a
    /// loop, whose next iteration may send before the value was read.
    unsigned getBufferCount();
  }];
}

def Dfg_ReceiveOp : Dfg_MessageOp<"receive"> {
  let summary = "Waits for a value of another partition of the entry";
  let description = [{
    The result is in memory of the sender until the last operation of the block
    that reads it has run. With `copied` it is in memory of the receiver, and the
    sender does not wait: for a value that is assigned to a variable, which happens
    at the end of the partition, when the sender may be at its end as well.

    ```mlir
    %x = dfg.receive slot 0 : tensor<4xf32>
    %y = dfg.receive slot 1 copied : tensor<4xf32>
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins I32Attr:$slot, UnitAttr:$copied);
  let results = (outs Dfg_Tensor:$value);
  let assemblyFormat = "`slot` $slot (`copied` $copied^)? attr-dict `:` type($value)";
}

def Dfg_AwaitReleaseOp : Dfg_MessageOp<"await_release"> {
  let summary = "Waits until a value that was sent in place has been read";
  let description = [{
    Keeps the value in memory until then.

    ```mlir
    dfg.await_release %x of slot 0 : tensor<4xf32>
    ```
  }];
  let specialValues = "Values do not matter.";
  let arguments = (ins Dfg_Tensor:$value, I32Attr:$slot);
  let assemblyFormat = "$value `of` `slot` $slot attr-dict `:` type($value)";
}

def Dfg_CommitOp : Dfg_MessageOp<"commit"> {
  let summary = "Waits until no earlier check of any partition can fail any more";
  let description = [{
    Each partition of the entry has the same ones, in the same branches and loops:
    the last in its body after its checks, before everything that a failed call
    must not have done; others before operations on queues, and with `after_queue`
    behind those that other calls may run during: who reads variables waits for
    that. If a check has failed in some partition, the call ends here in all of
    them.

    ```mlir
    dfg.commit
    dfg.commit after_queue
    ```
  }];
  let arguments = (ins UnitAttr:$after_queue);
  let assemblyFormat = "(`after_queue` $after_queue^)? attr-dict";
}

#endif // TFC_DIALECTS_DFG_MESSAGEOPS_TD
