//===- TrigonometryOps.td - Trigonometric, hyperbolic and error functions -===//

#ifndef TFC_DIALECTS_DFG_TRIGONOMETRYOPS_TD
#define TFC_DIALECTS_DFG_TRIGONOMETRYOPS_TD

include "dialects/dfg/ElementwiseOps.td"

def Dfg_SinOp : Dfg_UnaryOp<"sin", "Float"> {
  let summary = "Takes the sine";
  let description = [{
    In radians; NaN for an infinity.

    ```mlir
    %y = dfg.sin %x : tensor<4xf32>
    ```
  }];
}

def Dfg_CosOp : Dfg_UnaryOp<"cos", "Float"> {
  let summary = "Takes the cosine";
  let description = [{
    In radians; NaN for an infinity.

    ```mlir
    %y = dfg.cos %x : tensor<4xf32>
    ```
  }];
}

def Dfg_TanOp : Dfg_UnaryOp<"tan", "Float"> {
  let summary = "Takes the tangent";
  let description = [{
    In radians; NaN for an infinity.

    ```mlir
    %y = dfg.tan %x : tensor<4xf32>
    ```
  }];
}

def Dfg_AsinOp : Dfg_UnaryOp<"asin", "Float"> {
  let summary = "Takes the inverse sine";
  let description = [{
    From -pi/2 to pi/2; NaN outside of -1 to 1.

    ```mlir
    %y = dfg.asin %x : tensor<4xf32>
    ```
  }];
}

def Dfg_AcosOp : Dfg_UnaryOp<"acos", "Float"> {
  let summary = "Takes the inverse cosine";
  let description = [{
    From 0 to pi; NaN outside of -1 to 1.

    ```mlir
    %y = dfg.acos %x : tensor<4xf32>
    ```
  }];
}

def Dfg_AtanOp : Dfg_UnaryOp<"atan", "Float"> {
  let summary = "Takes the inverse tangent";
  let description = [{
    From -pi/2 to pi/2, the values at the infinities.

    ```mlir
    %y = dfg.atan %x : tensor<4xf32>
    ```
  }];
}

def Dfg_Atan2Op : Dfg_BinaryOp<"atan2", "Float"> {
  let summary = "Takes the angle of a point";
  let description = [{
    The angle of the point with ordinate `lhs` and abscissa `rhs`, from -pi to
    pi, like C's `atan2`, including points at 0, where the signs of zeros count,
    and at infinity.

    ```mlir
    %c = dfg.atan2 %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_SinhOp : Dfg_UnaryOp<"sinh", "Float"> {
  let summary = "Takes the hyperbolic sine";
  let description = [{
    ```mlir
    %y = dfg.sinh %x : tensor<4xf32>
    ```
  }];
  let specialValues = "Infinite, with the sign of `x`, if the result is too large; 0 keeps its sign.";
}

def Dfg_CoshOp : Dfg_UnaryOp<"cosh", "Float"> {
  let summary = "Takes the hyperbolic cosine";
  let description = [{
    ```mlir
    %y = dfg.cosh %x : tensor<4xf32>
    ```
  }];
  let specialValues = "Infinity at both infinities and if the result is too large, 1 at 0 and -0.";
}

def Dfg_AsinhOp : Dfg_UnaryOp<"asinh", "Float"> {
  let summary = "Takes the inverse hyperbolic sine";
  let description = [{
    ```mlir
    %y = dfg.asinh %x : tensor<4xf32>
    ```
  }];
  let specialValues = "Infinities and zeros are unchanged.";
}

def Dfg_AcoshOp : Dfg_UnaryOp<"acosh", "Float"> {
  let summary = "Takes the inverse hyperbolic cosine";
  let description = [{
    NaN below 1, infinity at infinity.

    ```mlir
    %y = dfg.acosh %x : tensor<4xf32>
    ```
  }];
}

def Dfg_AtanhOp : Dfg_UnaryOp<"atanh", "Float"> {
  let summary = "Takes the inverse hyperbolic tangent";
  let description = [{
    NaN outside of -1 to 1, infinite at both.

    ```mlir
    %y = dfg.atanh %x : tensor<4xf32>
    ```
  }];
}

def Dfg_ErfOp : Dfg_UnaryOp<"erf", "Float"> {
  let summary = "Takes the error function";
  let description = [{
    `2 / sqrt(pi)` times the integral of `exp(-t * t)` from 0 to `x`: 1 and
    -1 at the infinities.

    ```mlir
    %y = dfg.erf %x : tensor<4xf32>
    ```
  }];
}

def Dfg_ErfcOp : Dfg_UnaryOp<"erfc", "Float"> {
  let summary = "Takes the complementary error function";
  let description = [{
    `1 - erf(x)`, without its cancellation for large `x`: 2 at
    minus infinity, 0 at infinity.

    ```mlir
    %y = dfg.erfc %x : tensor<4xf32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_TRIGONOMETRYOPS_TD
