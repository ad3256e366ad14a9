//===- MathOps.td - Elementwise functions of one floating-point tensor ----===//

#ifndef TFC_DIALECTS_DFG_MATHOPS_TD
#define TFC_DIALECTS_DFG_MATHOPS_TD

include "dialects/dfg/ElementwiseOps.td"

def Dfg_ExpOp : Dfg_UnaryOp<"exp", "Float"> {
  let summary = "Takes the exponential";
  let description = [{
    `e ** x`: 0 at minus infinity, infinity if the result is too large.

    ```mlir
    %y = dfg.exp %x : tensor<4xf32>
    ```
  }];
}

def Dfg_LogOp : Dfg_UnaryOp<"log", "Float"> {
  let summary = "Takes the natural logarithm";
  let description = [{
    NaN below 0, minus infinity at 0 and -0.

    ```mlir
    %y = dfg.log %x : tensor<4xf32>
    ```
  }];
}

def Dfg_SqrtOp : Dfg_UnaryOp<"sqrt", "Float"> {
  let summary = "Takes the square root";
  let description = [{
    Correctly rounded; NaN below 0, -0 at -0.

    ```mlir
    %y = dfg.sqrt %x : tensor<4xf32>
    ```
  }];
}

def Dfg_RsqrtOp : Dfg_UnaryOp<"rsqrt", "Float"> {
  let summary = "Takes the reciprocal of the square root";
  let description = [{
    `1 / sqrt(x)`; NaN below 0, infinity at 0, minus infinity at -0.

    ```mlir
    %y = dfg.rsqrt %x : tensor<4xf32>
    ```
  }];
}

def Dfg_TanhOp : Dfg_UnaryOp<"tanh", "Float"> {
  let summary = "Takes the hyperbolic tangent";
  let description = [{
    1 and -1 at the infinities, and where it rounds to them.

    ```mlir
    %y = dfg.tanh %x : tensor<4xf32>
    ```
  }];
}

def Dfg_Exp2Op : Dfg_UnaryOp<"exp2", "Float"> {
  let summary = "Takes powers of 2";
  let description = [{
    `2 ** x`: 0 at minus infinity, infinity if the result is too large.

    ```mlir
    %y = dfg.exp2 %x : tensor<4xf32>
    ```
  }];
}

def Dfg_Expm1Op : Dfg_UnaryOp<"expm1", "Float"> {
  let summary = "Takes the exponential minus 1";
  let description = [{
    `exp(x) - 1`, without its cancellation near 0; -1 at minus infinity.

    ```mlir
    %y = dfg.expm1 %x : tensor<4xf32>
    ```
  }];
}

def Dfg_Log2Op : Dfg_UnaryOp<"log2", "Float"> {
  let summary = "Takes the binary logarithm";
  let description = [{
    NaN below 0, minus infinity at 0 and -0.

    ```mlir
    %y = dfg.log2 %x : tensor<4xf32>
    ```
  }];
}

def Dfg_Log1pOp : Dfg_UnaryOp<"log1p", "Float"> {
  let summary = "Takes the logarithm of one plus x";
  let description = [{
    `log(1 + x)`, without its cancellation near 0; NaN below -1,
    minus infinity at -1.

    ```mlir
    %y = dfg.log1p %x : tensor<4xf32>
    ```
  }];
}

def Dfg_ReciprocalOp : Dfg_UnaryOp<"reciprocal", "Float"> {
  let summary = "Takes the reciprocal";
  let description = [{
    `1 / x`; the infinity of the same sign at 0 and -0.

    ```mlir
    %y = dfg.reciprocal %x : tensor<4xf32>
    ```
  }];
}

def Dfg_ReluOp : Dfg_UnaryOp<"relu", "Numeric"> {
  let summary = "Replaces negative elements by 0";
  let description = [{
    `max(x, 0)`; NaN stays NaN, the result for -0 is 0 or -0. The gradient at 0
    is 0.

    ```mlir
    %y = dfg.relu %x : tensor<4xf32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_MATHOPS_TD
