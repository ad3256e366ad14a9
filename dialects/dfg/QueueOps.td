//===- QueueOps.td - Queues between calls and threads ---------------------===//

#ifndef TFC_DIALECTS_DFG_QUEUEOPS_TD
#define TFC_DIALECTS_DFG_QUEUEOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Dfg_QueueOp : Dfg_Op<"queue", [Symbol, Dfg_DeclarationRole]> {
  let summary = "Declares a queue of tuples of tensors";
  let description = [{
    All handles of a state share the queue. `kind` is `fifo`, `shuffle` (takes a
    random element, drawn with `seed`, while at least `min_ready` would remain)
    or `priority` (takes the element with the smallest first component, an i64).
    The queue holds at most `capacity` elements. An element has one tensor for
    each of `components`, with the names `names`.

    ```mlir
    dfg.queue @examples : [tensor<28x28xf32>, tensor<i32>]
        {names = ["image", "label"], kind = #dfg.queue<fifo>, capacity = 64 : i64}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$components, StrArrayAttr:$names,
                       Dfg_QueueKindAttr:$kind, I64Attr:$capacity,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$min_ready,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$seed);
  let assemblyFormat = "$sym_name `:` $components attr-dict";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::RankedTensorType> getTensorTypes();
  }];
  let hasVerifier = 1;
}

class Dfg_QueueAccess<string mnemonic, list<Trait> traits = []> :
    Dfg_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Dfg_EnqueueOp : Dfg_QueueAccess<"enqueue"> {
  let summary = "Puts one element into a queue";
  let description = [{
    Blocks while the queue is full. A closed or cancelled queue fails the call.

    ```mlir
    dfg.enqueue @examples(%image, %label) : tensor<28x28xf32>, tensor<i32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$queue, Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = "$queue `(` $values `)` attr-dict `:` type($values)";
}

def Dfg_EnqueueManyOp : Dfg_QueueAccess<"enqueue_many"> {
  let summary = "Puts the slices of tensors along their first axis into a queue";
  let description = [{
    Blocks until all are in the queue; elements of other threads may be
    interleaved.

    ```mlir
    dfg.enqueue_many @examples(%images, %labels) : tensor<8x28x28xf32>, tensor<8xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$queue, Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = "$queue `(` $values `)` attr-dict `:` type($values)";
}

def Dfg_DequeueOp : Dfg_QueueAccess<"dequeue"> {
  let summary = "Takes one element out of a queue";
  let description = [{
    Blocks while the queue is empty. An empty queue that is closed fails the call.

    ```mlir
    %image, %label = dfg.dequeue @examples : tensor<28x28xf32>, tensor<i32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$queue);
  let results = (outs Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = "$queue attr-dict `:` type($values)";
}

def Dfg_DequeueManyOp : Dfg_QueueAccess<"dequeue_many"> {
  let summary = "Takes a number of elements out of a queue";
  let description = [{
    The results have a new first axis of size `count`. Blocks until that many
    are available; a closed queue with fewer elements fails the call and keeps
    them.

    ```mlir
    %image, %label = dfg.dequeue_many @examples {count = #dfg.dims<8>}
        : tensor<8x28x28xf32>, tensor<8xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$queue, Dfg_DimsAttr:$count);
  let results = (outs Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = "$queue attr-dict `:` type($values)";
}

def Dfg_DequeueUpToOp : Dfg_QueueAccess<"dequeue_up_to"> {
  let summary = "Takes elements out of a queue, fewer once it is closed";
  let description = [{
    Like `dequeue_many`, but a closed queue returns its remaining elements, at
    least one: the first result, i32, is their number, and the rest of the other
    results is zero.

    ```mlir
    %number, %image, %label = dfg.dequeue_up_to @examples {count = #dfg.dims<8>}
        : tensor<i32>, tensor<8x28x28xf32>, tensor<8xi32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$queue, Dfg_DimsAttr:$count);
  let results = (outs Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = "$queue attr-dict `:` type($values)";
}

def Dfg_QueueSizeOp : Dfg_QueueAccess<"queue_size"> {
  let summary = "Returns the number of elements in a queue";
  let description = [{
    ```mlir
    %n = dfg.queue_size @examples : tensor<i32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$queue);
  let results = (outs Dfg_Tensor:$size);
  let assemblyFormat = "$queue attr-dict `:` type($size)";
}

def Dfg_QueueCloseOp : Dfg_QueueAccess<"queue_close"> {
  let summary = "Closes a queue";
  let description = [{
    The queue accepts no more elements; those in it can still be taken. With
    `cancel_pending`, waiting calls fail at once; without it, calls that wait to
    put elements in may still finish.

    ```mlir
    dfg.queue_close @examples
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$queue,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$cancel_pending);
  let assemblyFormat = "$queue attr-dict";
}

#endif // TFC_DIALECTS_DFG_QUEUEOPS_TD
