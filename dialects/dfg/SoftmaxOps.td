//===- SoftmaxOps.td - Softmax and its losses -----------------------------===//

#ifndef TFC_DIALECTS_DFG_SOFTMAXOPS_TD
#define TFC_DIALECTS_DFG_SOFTMAXOPS_TD

include "dialects/dfg/DfgBase.td"

class Dfg_SoftmaxLikeOp<string mnemonic> :
    Dfg_PureOp<mnemonic, [Dfg_Differentiable, Dfg_Composite]> {
  let arguments = (ins Dfg_FloatTensor:$x, Dfg_Axis<"-1">:$axis);
  let results = (outs Dfg_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferSoftmax(location, "}] # mnemonic # [{", adaptor.getX().getType(),
                          adaptor.getAxis(), results);
    }
  }];
}

def Dfg_SoftmaxOp : Dfg_SoftmaxLikeOp<"softmax"> {
  let summary = "Takes exponentials that sum to 1 along an axis";
  let description = [{
    `exp(x) / sum(exp(x))`, without overflow. NaN where a row holds NaN or plus
    infinity, or only minus infinity.

    ```mlir
    %y = dfg.softmax %x {axis = -1 : i64} : tensor<4x10xf32>
    ```
  }];
}

def Dfg_LogSoftmaxOp : Dfg_SoftmaxLikeOp<"log_softmax"> {
  let summary = "Takes the logarithm of softmax along an axis";
  let description = [{
    `x - log(sum(exp(x)))`, without overflow. NaN where `softmax` is.

    ```mlir
    %y = dfg.log_softmax %x {axis = -1 : i64} : tensor<4x10xf32>
    ```
  }];
}

def Dfg_SoftmaxCrossEntropyOp : Dfg_PureOp<"softmax_cross_entropy",
    [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Takes the cross entropy of logits against probabilities";
  let description = [{
    `-sum(probabilities * log_softmax(logits))` over the last axis, one loss per
    row. A probability of 0 adds 0 for any logit. Rows need not sum to 1.

    ```mlir
    %loss = dfg.softmax_cross_entropy %logits, %p : tensor<4x10xf32>, tensor<4x10xf32>
    ```
  }];
  let specialValues = "NaN where a probability meets a logarithm that is NaN.";
  let arguments = (ins Dfg_FloatTensor:$logits, Dfg_FloatTensor:$probabilities);
  let results = (outs Dfg_FloatTensor:$loss);
  let assemblyFormat = "$logits `,` $probabilities attr-dict `:` type($logits) `,` type($probabilities)";
}

def Dfg_SparseSoftmaxCrossEntropyOp : Dfg_PureOp<"sparse_softmax_cross_entropy",
    [Dfg_Differentiable, Dfg_Composite, Dfg_Checked]> {
  let summary = "Takes the cross entropy of logits against labels";
  let description = [{
    `-log_softmax(logits)[label]` over the last axis, one loss per row. A
    label below 0 or not below the size of the last axis fails the call.

    ```mlir
    %loss = dfg.sparse_softmax_cross_entropy %logits, %label : tensor<4x10xf32>, tensor<4xi32>
    ```
  }];
  let specialValues =
      "NaN where `log_softmax` is, infinity for a label whose logit is minus infinity.";
  let arguments = (ins Dfg_FloatTensor:$logits, Dfg_IndexTensor:$label);
  let results = (outs Dfg_FloatTensor:$loss);
  let assemblyFormat = "$logits `,` $label attr-dict `:` type($logits) `,` type($label)";
}

#endif // TFC_DIALECTS_DFG_SOFTMAXOPS_TD
