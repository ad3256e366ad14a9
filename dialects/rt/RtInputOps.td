//===- RtInputOps.td - Reads of datasets and feeds ------------------------===//

#ifndef TFC_DIALECTS_RT_RTINPUTOPS_TD
#define TFC_DIALECTS_RT_RTINPUTOPS_TD

include "dialects/rt/RtBase.td"

def Rt_ReadRowsOp : Rt_FallibleOp<"read_rows", [AttrSizedOperandSegments]> {
  let summary = "Reads rows of a dataset";
  let description = [{
    `rows` points to the numbers (`i64`) of `count` rows, and `values` to memory
    for as many of each component. `next` are the numbers of rows that another
    thread reads meanwhile. `subject` begins the message if the call ends.

    ```mlir
    rt.read_rows %frame, dataset 0(%x, %y) rows %rows count %eight for "'read_rows' at m.graph:9"
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$dataset, Variadic<Rt_Pointer>:$values,
                       Rt_Pointer:$rows, I64:$count, Optional<Rt_Pointer>:$next,
                       Optional<I64>:$next_count, StrAttr:$subject);
  let assemblyFormat = [{
    $frame `,` `dataset` $dataset `(` $values `)` `rows` $rows `count` $count
    (`next` $next^ `count` $next_count)? `for` $subject attr-dict
  }];
  let hasVerifier = 1;
}

def Rt_DatasetSizeOp : Rt_FallibleOp<"dataset_size"> {
  let summary = "Counts the rows of a dataset";
  let description = [{
    Stores the number, an `i64`, at `to`.

    ```mlir
    rt.dataset_size %frame, dataset 0 to %n for "'dataset_size' at m.graph:9"
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$dataset, Rt_Pointer:$to, StrAttr:$subject);
  let assemblyFormat = "$frame `,` `dataset` $dataset `to` $to `for` $subject attr-dict";
  let hasVerifier = 1;
}

def Rt_OwnFeedOp : Rt_FallibleOp<"own_feed"> {
  let summary = "Copies a feed of the process";
  let description = [{
    Ends the call if the process has passed null.

    ```mlir
    rt.own_feed %frame, 0 to %x bytes %n for "'own_feed' at m.graph:9"
    ```
  }];
  let arguments = (ins Rt_Pointer:$frame, I32Attr:$number, Rt_Pointer:$to, I64:$bytes,
                       StrAttr:$subject);
  let assemblyFormat = "$frame `,` $number `to` $to `bytes` $bytes `for` $subject attr-dict";
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_RT_RTINPUTOPS_TD
