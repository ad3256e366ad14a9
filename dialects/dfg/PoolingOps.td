//===- PoolingOps.td - Reductions of windows ------------------------------===//

#ifndef TFC_DIALECTS_DFG_POOLINGOPS_TD
#define TFC_DIALECTS_DFG_POOLINGOPS_TD

include "dialects/dfg/DfgBase.td"

class Dfg_PoolingOp<string mnemonic, string dtypes, dag extra, list<Trait> traits = []> :
    Dfg_PureOp<mnemonic,
        !listconcat([Dfg_Differentiable, Dfg_Composite, Dfg_CheckedWithStatus], traits)> {
  let arguments = !con((ins Dfg_TensorNamed<dtypes>.type:$x, DenseI64ArrayAttr:$size,
                            OptionalAttr<Dfg_LimitedStride>:$stride,
                            OptionalAttr<Dfg_PaddingModeAttr>:$padding,
                            OptionalAttr<DenseI64ArrayAttr>:$pads,
                            OptionalAttr<DenseI64ArrayAttr>:$dilation,
                            DefaultValuedOptionalAttr<BoolAttr, "false">:$ceil), extra);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dfg_MaxPoolOp : Dfg_PoolingOp<"max_pool", "Numeric", (ins)> {
  let summary = "Takes the largest element of each window";
  let description = [{
    `x: [n, sizes.., channels]` becomes `[n, windows.., channels]`. `size` is that of a window: one number for
    all axes or one for each. `stride` defaults to `size`; `padding`, `pads` and `dilation` are as in
    `convolution`. With `ceil` the last window may extend beyond the padding if it starts before the padding
    after the elements: the number of windows is rounded up, as in PyTorch and ONNX. Padding is never the
    largest: a window of only padding returns minus infinity, or the smallest integer. NaN if any element of
    the window is NaN. The gradient goes to the first of equal elements.

    ```mlir
    %y = dfg.max_pool %x {size = array<i64: 2>} : tensor<4x8x8x3xf32>
    ```
  }];
}

def Dfg_MaxPoolWithIndicesOp : Dfg_PoolingOp<"max_pool_with_indices", "Numeric",
    (ins OptionalAttr<Dfg_Dtype>:$dtype), [Dfg_Numbering]> {
  let summary = "Takes the largest element of each window and its position";
  let description = [{
    `max_pool` and, for each element of its result, its position in the image
    and channel: the row-major position over the axes between the first and the
    last, `row * width + column`; `index * channels + channel` is the position
    among all elements of the image. The position is that of the first of equal
    elements, that of a NaN if there is one, and -1 in a window of only padding.
    `dtype` is i32 by default.

    ```mlir
    %y, %index = dfg.max_pool_with_indices %x {size = array<i64: 2>} : tensor<4x8x8x3xf32>
    ```
  }];
  let results = (outs Dfg_NumericTensor:$y, Dfg_IndexTensor:$index);
}

def Dfg_AvgPoolOp : Dfg_PoolingOp<"avg_pool", "Float",
    (ins DefaultValuedOptionalAttr<BoolAttr, "false">:$count_padding)> {
  let summary = "Averages the elements of each window";
  let description = [{
    `x: [n, sizes.., channels]` becomes `[n, windows.., channels]`; the options
    are those of `max_pool`. With `count_padding`, padding counts as zeros,
    except for the part of a window of `ceil` beyond it. Otherwise padding is
    ignored, and the average of only padding is NaN.

    ```mlir
    %y = dfg.avg_pool %x {size = array<i64: 3>, stride = array<i64: 2>, padding = #dfg.padding<same>} : tensor<4x8x8x3xf32>
    ```
  }];
  let specialValues = "NaN and infinities add up as in `sum`.";
}

def Dfg_LocalResponseNormOp : Dfg_PureOp<"local_response_norm",
    [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Divides by the activity of neighboring channels";
  let description = [{
    `x / (bias + alpha * sum(x ** 2)) ** beta`, with the sum over the channels
    of the last axis that are at most `radius` away. f16 and bf16 are computed
    in f32. (If another library divides `alpha` by the number of summed
    channels, pass the quotient.)

    ```mlir
    %y = dfg.local_response_norm %x {radius = 2 : i64, alpha = 1.0e-4} : tensor<4x8x8x16xf32>
    ```
  }];
  let specialValues =
      "NaN where one of these channels is NaN or `x` is infinite; 0 where another of them is.";
  let arguments = (ins Dfg_FloatTensor:$x, DefaultValuedOptionalAttr<I64Attr, "5">:$radius,
                       DefaultValuedOptionalAttr<F64Attr, "1.0">:$bias,
                       DefaultValuedOptionalAttr<F64Attr, "1.0">:$alpha,
                       DefaultValuedOptionalAttr<F64Attr, "0.5">:$beta);
  let results = (outs Dfg_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_POOLINGOPS_TD
