//===- MathOps.td - Elementwise functions of one floating-point tensor ----===//

#ifndef TFC_DIALECTS_DFG_MATHOPS_TD
#define TFC_DIALECTS_DFG_MATHOPS_TD

include "dialects/dfg/ElementwiseOps.td"

def Dfg_ExpOp : Dfg_UnaryOp<"exp", "Float"> {
  let summary = "Takes the exponential";
  let description = [{
    `e ** x`.

    ```mlir
    %y = dfg.exp %x : tensor<4xf32>
    ```
  }];
}

def Dfg_LogOp : Dfg_UnaryOp<"log", "Float"> {
  let summary = "Takes the natural logarithm";
  let description = [{
    NaN below 0, minus infinity at 0.

    ```mlir
    %y = dfg.log %x : tensor<4xf32>
    ```
  }];
}

def Dfg_SqrtOp : Dfg_UnaryOp<"sqrt", "Float"> {
  let summary = "Takes the square root";
  let description = [{
    Correctly rounded; NaN below 0.

    ```mlir
    %y = dfg.sqrt %x : tensor<4xf32>
    ```
  }];
}

def Dfg_RsqrtOp : Dfg_UnaryOp<"rsqrt", "Float"> {
  let summary = "Takes the reciprocal of the square root";
  let description = [{
    `1 / sqrt(x)`; infinity at 0.

    ```mlir
    %y = dfg.rsqrt %x : tensor<4xf32>
    ```
  }];
}

def Dfg_TanhOp : Dfg_UnaryOp<"tanh", "Float"> {
  let summary = "Takes the hyperbolic tangent";
  let description = [{
    ```mlir
    %y = dfg.tanh %x : tensor<4xf32>
    ```
  }];
}

def Dfg_ReluOp : Dfg_UnaryOp<"relu", "Numeric"> {
  let summary = "Replaces negative elements by 0";
  let description = [{
    `max(x, 0)`; NaN stays NaN. The gradient at 0 is 0.

    ```mlir
    %y = dfg.relu %x : tensor<4xf32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_MATHOPS_TD
