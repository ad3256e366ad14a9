//===- ActivationOps.td - Nonlinearities of neural networks ---------------===//

#ifndef TFC_DIALECTS_DFG_ACTIVATIONOPS_TD
#define TFC_DIALECTS_DFG_ACTIVATIONOPS_TD

include "dialects/dfg/ElementwiseOps.td"

def Dfg_SigmoidOp : Dfg_UnaryOp<"sigmoid", "Float"> {
  let summary = "Takes the logistic function";
  let description = [{
    `1 / (1 + exp(-x))`: 0 and 1 at the infinities, and 0 where the exponential
    is infinite.

    ```mlir
    %y = dfg.sigmoid %x : tensor<4xf32>
    ```
  }];
}

def Dfg_SiluOp : Dfg_UnaryOp<"silu", "Float"> {
  let summary = "Multiplies by the logistic function";
  let description = [{
    `x * sigmoid(x)`, also called swish: 0 where `exp(-x)` is infinite, NaN at
    minus infinity.

    ```mlir
    %y = dfg.silu %x : tensor<4xf32>
    ```
  }];
}

def Dfg_SoftplusOp : Dfg_UnaryOp<"softplus", "Float"> {
  let summary = "Takes a smooth maximum with 0";
  let description = [{
    `log(1 + exp(x))`, without overflow: 0 at minus infinity.

    ```mlir
    %y = dfg.softplus %x : tensor<4xf32>
    ```
  }];
  let specialValues = "Infinity at infinity.";
}

def Dfg_SoftsignOp : Dfg_UnaryOp<"softsign", "Float"> {
  let summary = "Divides by one plus the absolute value";
  let description = [{
    `x / (1 + abs(x))`; NaN at the infinities.

    ```mlir
    %y = dfg.softsign %x : tensor<4xf32>
    ```
  }];
}

def Dfg_GeluOp : Dfg_UnaryOp<"gelu", "Float"> {
  let summary = "Multiplies by the normal distribution function";
  let description = [{
    `x * (1 + erf(x / sqrt(2))) / 2`. With `approximate` its approximation
    `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))) / 2`. NaN
    at minus infinity.

    ```mlir
    %y = dfg.gelu %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_FloatTensor:$x, DefaultValuedOptionalAttr<BoolAttr, "false">:$approximate);
}

def Dfg_EluOp : Dfg_UnaryOp<"elu", "Float"> {
  let summary = "Takes the exponential linear unit";
  let description = [{
    `x` above 0, else `alpha * (exp(x) - 1)`: `-alpha` at minus infinity. -0 may
    become 0.

    ```mlir
    %y = dfg.elu %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_FloatTensor:$x, DefaultValuedOptionalAttr<F64Attr, "1.0">:$alpha);
}

def Dfg_SeluOp : Dfg_UnaryOp<"selu", "Float"> {
  let summary = "Takes the scaled exponential linear unit";
  let description = [{
    `scale * elu(x, alpha)` with the constants of self-normalizing networks,
    alpha = 1.6732632423543772 and scale = 1.0507009873554805. -0 may become 0.

    ```mlir
    %y = dfg.selu %x : tensor<4xf32>
    ```
  }];
  let specialValues = "`-scale * alpha` at minus infinity.";
}

def Dfg_LeakyReluOp : Dfg_UnaryOp<"leaky_relu", "Float"> {
  let summary = "Scales negative elements";
  let description = [{
    `x` above 0, else `slope * x`.

    ```mlir
    %y = dfg.leaky_relu %x : tensor<4xf32>
    ```
  }];
  let specialValues =
      "Infinities stay, 0 keeps its sign; with a slope of 0 it is NaN at minus infinity.";
  let arguments = (ins Dfg_FloatTensor:$x, DefaultValuedOptionalAttr<F64Attr, "0.01">:$slope);
}

def Dfg_SigmoidCrossEntropyOp : Dfg_BinaryOp<"sigmoid_cross_entropy", "Float"> {
  let summary = "Takes the cross entropy of logits against probabilities";
  let description = [{
    `-p * log(sigmoid(x)) - (1 - p) * log(1 - sigmoid(x))` with logits `x` =
    `lhs` and probabilities `p` = `rhs`, without overflow. NaN where `x` is
    plus infinity.

    ```mlir
    %c = dfg.sigmoid_cross_entropy %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
  let specialValues = "If `x` is minus infinity the result is infinite, or NaN for a probability of 0.";
}

#endif // TFC_DIALECTS_DFG_ACTIVATIONOPS_TD
