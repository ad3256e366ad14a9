#ifndef TFC_DIALECTS_LINALG_EXT_LINALGEXT_TD
#define TFC_DIALECTS_LINALG_EXT_LINALGEXT_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def LinalgExt_Dialect : Dialect {
  let name = "linalg_ext";
  let cppNamespace = "::tfc::linalg_ext";
  let summary = "Structured operations that linalg.generic cannot express";
  let description = [{
    Operations on tensors with loop-carried or data-dependent accesses: scans,
    scatters and sorts. They occur next to `linalg.generic` in a kernel's body,
    read any producer, and are emitted by the code generator of each target.
  }];
}

class LinalgExt_Op<string mnemonic, list<Trait> traits = []>
    : Op<LinalgExt_Dialect, mnemonic, traits>;

def LinalgExt_YieldOp : LinalgExt_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region with its results";
  let description = [{
    Example:

    ```mlir
    linalg_ext.yield %sum : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def LinalgExt_ScanOp : LinalgExt_Op<"scan", [
    Pure, SingleBlock]> {
  let summary = "Combines the elements before each element along a dimension";
  let description = [{
    Element i of the result along `dimension` is `init` combined with elements 0
    to i of `inputs` (all of one shape) in this order, or 0 to i - 1 if
    `exclusive`. With `reverse` the order runs from the last element to the
    first. The region receives the accumulated value and the next element of
    each input, and yields the new value. If `associative`, there is one input,
    whose elements the region may widen to the type of accumulated values first,
    combining these in any grouping gives the same value up to rounding, and
    `init` is neutral.

    Example:

    ```mlir
    %sums = linalg_ext.scan %zero, %x along 1 : f32, tensor<?x8xf32> -> tensor<?x8xf32> {
    ^bb0(%sum: f32, %e: f32):
      %next = arith.addf %sum, %e : f32
      linalg_ext.yield %next : f32
    }
    ```
  }];
  let arguments = (ins AnyType:$init, Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension,
                       UnitAttr:$exclusive, UnitAttr:$reverse,
                       UnitAttr:$associative);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def LinalgExt_ScatterOp : LinalgExt_Op<"scatter", [
    Pure, SingleBlock, AllTypesMatch<["operand", "result"]>]> {
  let summary = "Writes rows into a tensor at computed positions";
  let description = [{
    The result is `operand`, changed by one update after the other in row-major
    order of the batch. `indices` is [batch..., depth]: each row of `depth`
    numbers is a position in the leading `depth` dimensions of `operand`;
    `updates` is [batch..., rest...] and `operand` [indexed..., rest...]. The
    region receives the old element and the update, and yields the new element.
    An update with an index out of bounds is skipped.

    Example:

    ```mlir
    %r = linalg_ext.scatter %u into %x at %i
        : tensor<?x8xf32>, tensor<100x8xf32>, tensor<?x1xi64> {
    ^bb0(%old: f32, %update: f32):
      %new = arith.addf %old, %update : f32
      linalg_ext.yield %new : f32
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$updates, AnyRankedTensor:$operand,
                       AnyRankedTensor:$indices);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def LinalgExt_SortOp : LinalgExt_Op<"sort", [Pure, AllTypesMatch<["into", "places"]>]> {
  let summary = "Finds the positions of the smallest keys along a dimension";
  let description = [{
    The result has the positions of the smallest keys along `dimension`, in
    ascending order of the keys. `into` determines its shape and thus the number
    of positions; if there are fewer keys, the rest is zero. Keys are unsigned.
    The sort is stable.

    Example:

    ```mlir
    %p = linalg_ext.sort %k along 0 into %e : tensor<?xi32> -> tensor<5xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$keys, AnyRankedTensor:$into, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$places);
  let assemblyFormat = [{
    $keys `along` $dimension `into` $into attr-dict `:` type($keys) `->` type($into)
  }];
  let extraClassDeclaration = [{
    mlir::IntegerType getKeyType();
    mlir::IntegerType getPlaceType();
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_LINALG_EXT_LINALGEXT_TD
