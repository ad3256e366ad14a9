//===- RoundingOps.td - Signs, rounding, limits, floor division -----------===//

#ifndef TFC_DIALECTS_DFG_ROUNDINGOPS_TD
#define TFC_DIALECTS_DFG_ROUNDINGOPS_TD

include "dialects/dfg/ElementwiseOps.td"

def Dfg_AbsOp : Dfg_UnaryOp<"abs", "Numeric"> {
  let summary = "Takes the absolute value";
  let description = [{
    Integers wrap: the smallest one is unchanged. Infinities and zeros lose their sign. The gradient
    at 0 is 0.

    ```mlir
    %y = dfg.abs %x : tensor<4xf32>
    ```
  }];
}

def Dfg_SignOp : Dfg_UnaryOp<"sign", "Numeric"> {
  let summary = "Takes the sign";
  let description = [{
    -1, 0 or 1; NaN stays NaN and -0 stays -0. No gradient flows.

    ```mlir
    %y = dfg.sign %x : tensor<4xf32>
    ```
  }];
}

def Dfg_FloorOp : Dfg_UnaryOp<"floor", "Float"> {
  let summary = "Rounds down";
  let description = [{
    To an integer, 0 with the sign of `x`; infinities and NaN stay. No gradient
    flows.

    ```mlir
    %y = dfg.floor %x : tensor<4xf32>
    ```
  }];
}

def Dfg_CeilOp : Dfg_UnaryOp<"ceil", "Float"> {
  let summary = "Rounds up";
  let description = [{
    To an integer, 0 with the sign of `x`; infinities and NaN stay. No gradient
    flows.

    ```mlir
    %y = dfg.ceil %x : tensor<4xf32>
    ```
  }];
}

def Dfg_RoundOp : Dfg_UnaryOp<"round", "Float"> {
  let summary = "Rounds to the nearest integer";
  let description = [{
    Halves go to the even one, 0 has the sign of `x`; infinities and NaN stay.
    No gradient flows.

    ```mlir
    %y = dfg.round %x : tensor<4xf32>
    ```
  }];
}

def Dfg_TruncOp : Dfg_UnaryOp<"trunc", "Float"> {
  let summary = "Rounds toward 0";
  let description = [{
    To an integer, 0 with the sign of `x`; infinities and NaN stay. No gradient
    flows.

    ```mlir
    %y = dfg.trunc %x : tensor<4xf32>
    ```
  }];
}

def Dfg_ClampOp : Dfg_ElementwiseOp<"clamp", "Numeric", [Dfg_Differentiable]> {
  let summary = "Limits elements to a range";
  let description = [{
    `minimum(maximum(x, min), max)`, with broadcasting of all three: `max` where `min` is larger, NaN if
    one operand is. At a limit the gradient goes to `x`, or to `max` if both limits are equal.

    ```mlir
    %y = dfg.clamp %x, %min, %max : tensor<4xf32>, tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_NumericTensor:$min,
                       Dfg_NumericTensor:$max);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "$x `,` $min `,` $max attr-dict `:` type($x) `,` type($min) `,` type($max)";
}

def Dfg_FloordivOp : Dfg_BinaryOp<"floordiv", "Numeric",
    [Dfg_Differentiable, Dfg_CheckedWithStatus, Dfg_SizeEvaluation]> {
  let summary = "Divides and rounds down";
  let description = [{
    `lhs // rhs`. Division of an integer by 0 fails the call; the smallest
    integer divided by -1 wraps. Floating-point division by 0 is that of `div`;
    that of an infinity is NaN; a quotient of 0 has the sign of the exact one.
    No gradient flows.

    ```mlir
    %c = dfg.floordiv %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_ModOp : Dfg_BinaryOp<"mod", "Numeric",
    [Dfg_Differentiable, Dfg_CheckedWithStatus, Dfg_SizeEvaluation]> {
  let summary = "Takes the remainder of division";
  let description = [{
    `lhs % rhs` has the sign of `rhs`: `lhs - rhs * (lhs // rhs)`. For integers
    `rhs` of 0 fails the call; for floating point the remainder is NaN if `rhs`
    is 0 or `lhs` infinite. A remainder of 0 has the sign of `rhs` too.

    ```mlir
    %c = dfg.mod %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_ROUNDINGOPS_TD
