//===- ScanOps.td - Reductions that keep every step -----------------------===//

#ifndef TFC_DIALECTS_DFG_SCANOPS_TD
#define TFC_DIALECTS_DFG_SCANOPS_TD

include "dialects/dfg/DfgBase.td"

/// Combines the elements before each element along an axis.
class Dfg_ScanOp<string mnemonic> : Dfg_PureOp<mnemonic, [Dfg_Differentiable]> {
  let arguments = (ins Dfg_Tensor:$x, Dfg_Axis<"0">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$reverse);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferScan(location, "}] # mnemonic # [{", adaptor.getX().getType(),
                       adaptor.getAxis(), results);
    }
  }];
}

def Dfg_CumsumOp : Dfg_ScanOp<"cumsum"> {
  let summary = "Sums the elements up to each one along an axis";
  let description = [{
    With `exclusive` without the element itself, with `reverse` from the last
    element on. Integers wrap.

    ```mlir
    %y = dfg.cumsum %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues =
      "From NaN on, and from where infinities of both signs have been met, all are NaN.";
}

def Dfg_CumprodOp : Dfg_ScanOp<"cumprod"> {
  let summary = "Multiplies the elements up to each one along an axis";
  let description = [{
    With `exclusive` without the element itself, with `reverse` from the last
    element on. Integers wrap.

    ```mlir
    %y = dfg.cumprod %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "From NaN on, and from where 0 and an infinity have been met, all are NaN.";
}

def Dfg_CummaxOp : Dfg_ScanOp<"cummax"> {
  let summary = "Gives the largest element up to each one along an axis";
  let description = [{
    With `exclusive` without the element itself, where the largest of nothing is
    the smallest value; with `reverse` from the last element on. NaN wins. The
    gradient goes to the last of equal elements that was reached.

    ```mlir
    %y = dfg.cummax %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "The largest of nothing is minus infinity, or the smallest integer.";
}

def Dfg_CumminOp : Dfg_ScanOp<"cummin"> {
  let summary = "Gives the smallest element up to each one along an axis";
  let description = [{
    With `exclusive` without the element itself, where the smallest of nothing
    is the largest value; with `reverse` from the last element on. NaN wins. The
    gradient goes to the last of equal elements that was reached.

    ```mlir
    %y = dfg.cummin %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues = "The smallest of nothing is infinity, or the largest integer.";
}

def Dfg_LogcumsumexpOp : Dfg_ScanOp<"logcumsumexp"> {
  let summary = "Gives the logarithm of sums of exponentials along an axis";
  let description = [{
    `log(cumsum(exp(x)))` without overflow. With `exclusive` without the element
    itself, where the logarithm of nothing is minus infinity; with `reverse`
    from the last element on.

    ```mlir
    %y = dfg.logcumsumexp %x {axis = 1 : i64} : tensor<4x8xf32>
    ```
  }];
  let specialValues =
      "From NaN on all are NaN, and from infinity on infinity; minus infinity adds nothing.";
}

def Dfg_LinearRecurrenceOp : Dfg_PureOp<"linear_recurrence", [Dfg_Differentiable]> {
  let summary = "Scales what came before and adds each element along an axis";
  let description = [{
    `y[i] = factor[i] * y[i - 1] + x[i]`, and 0 before the first element. With
    `exclusive` the result at `i` is `y[i - 1]`, with `reverse` it runs from the
    last element to the first. Running averages and linear filters are such
    recurrences, and so is the gradient of `cumprod`. Integers wrap.

    ```mlir
    %y = dfg.linear_recurrence %factor, %x {axis = 1 : i64} : tensor<4x8xf32>, tensor<4x8xf32>
    ```
  }];
  let specialValues = "0 times an infinity is NaN; once met, NaN stays.";
  let arguments = (ins Dfg_Tensor:$factor, Dfg_Tensor:$x, Dfg_Axis<"0">:$axis,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$reverse);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$factor `,` $x attr-dict `:` type($factor) `,` type($x)";
}

#endif // TFC_DIALECTS_DFG_SCANOPS_TD
