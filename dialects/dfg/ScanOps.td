//===- ScanOps.td - Reductions that return every step ---------------------===//

#ifndef TFC_DIALECTS_DFG_SCANOPS_TD
#define TFC_DIALECTS_DFG_SCANOPS_TD

include "dialects/dfg/DfgBase.td"

/// Combines the elements before each element along an axis.
class Dfg_ScanOp<string mnemonic, string dtypes = "Numeric"> : Dfg_PureOp<mnemonic, [Dfg_Differentiable]> {
  let arguments = (ins Dfg_TensorNamed<dtypes>.type:$x, Dfg_Axis<"0">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$reverse);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferScan(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                       adaptor.getX().getType(), adaptor.getAxis(), results);
    }
  }];
}

def Dfg_CumsumOp : Dfg_ScanOp<"cumsum"> {
  let summary = "Sums the elements up to each one along an axis";
  let description = [{
    `exclusive` excludes the element itself; `reverse` starts from the last
    element. Integers wrap.

    ```mlir
    %y = dfg.cumsum %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues =
      "After a NaN, or after infinities of both signs, all results are NaN.";
}

def Dfg_CumprodOp : Dfg_ScanOp<"cumprod"> {
  let summary = "Multiplies the elements up to each one along an axis";
  let description = [{
    `exclusive` excludes the element itself; `reverse` starts from the last
    element. Integers wrap.

    ```mlir
    %y = dfg.cumprod %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "After a NaN, or after both 0 and an infinity, all results are NaN.";
}

def Dfg_CummaxOp : Dfg_ScanOp<"cummax"> {
  let summary = "Takes the largest element up to each one along an axis";
  let description = [{
    `exclusive` excludes the element itself, and the largest of no elements is
    the smallest value; `reverse` starts from the last element. NaN counts as
    the largest. The gradient goes to the last of equal elements so far.

    ```mlir
    %y = dfg.cummax %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "The largest of no elements is minus infinity, or the smallest integer.";
}

def Dfg_CumminOp : Dfg_ScanOp<"cummin"> {
  let summary = "Takes the smallest element up to each one along an axis";
  let description = [{
    `exclusive` excludes the element itself, and the smallest of no elements is
    the largest value; `reverse` starts from the last element. NaN counts as the
    smallest. The gradient goes to the last of equal elements so far.

    ```mlir
    %y = dfg.cummin %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "The smallest of no elements is infinity, or the largest integer.";
}

def Dfg_LogcumsumexpOp : Dfg_ScanOp<"logcumsumexp", "Float"> {
  let summary = "Takes the logarithm of cumulative sums of exponentials";
  let description = [{
    `log(cumsum(exp(x)))` without overflow. `exclusive` excludes the element
    itself, and the result for no elements is minus infinity; `reverse` starts
    from the last element.

    ```mlir
    %y = dfg.logcumsumexp %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues =
      "After a NaN, all results are NaN; after infinity, infinity. Minus infinity adds nothing.";
}

def Dfg_LinearRecurrenceOp : Dfg_PureOp<"linear_recurrence", [Dfg_Differentiable]> {
  let summary = "Computes a first-order linear recurrence along an axis";
  let description = [{
    `y[i] = factor[i] * y[i - 1] + x[i]`, starting from 0. With `exclusive` the
    result at `i` is `y[i - 1]`; `reverse` runs from the last element to the
    first. Running averages and linear filters are such recurrences, and so is
    the gradient of `cumprod`. Integers wrap.

    ```mlir
    %y = dfg.linear_recurrence %factor, %x {axis = 1 : i64} : tensor<4x8xf32>, tensor<4x8xf32>
    ```
  }];
  let specialValues = "0 times an infinity is NaN; NaN propagates to all later results.";
  let arguments = (ins Dfg_NumericTensor:$factor, Dfg_NumericTensor:$x, Dfg_Axis<"0">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$reverse);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "$factor `,` $x attr-dict `:` type($factor) `,` type($x)";
}

#endif // TFC_DIALECTS_DFG_SCANOPS_TD
