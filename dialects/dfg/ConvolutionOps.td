//===- ConvolutionOps.td - Sums of products over windows ------------------===//

#ifndef TFC_DIALECTS_DFG_CONVOLUTIONOPS_TD
#define TFC_DIALECTS_DFG_CONVOLUTIONOPS_TD

include "dialects/dfg/DfgBase.td"

def Dfg_ContractOp : Dfg_PureOp<"contract", [Dfg_ContractionRole, Dfg_Differentiable]> {
  let summary = "Sums products of two tensors over named axes";
  let description = [{
    `einsum` of two tensors without repeated names, as a single product: no
    operand is rearranged before it. f16 and bf16 accumulate in f32.

    ```mlir
    %y = dfg.contract %a, %b {labels = "n i j c, i j c f -> n f"} : tensor<2x3x3x4xf32>, tensor<3x3x4x5xf32>
    ```
  }];
  let specialValues = "Those of `matmul`: integers wrap, 0 times an infinity is NaN.";
  let arguments = (ins Dfg_NumericTensor:$lhs, Dfg_NumericTensor:$rhs, StrAttr:$labels);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

/// Three operations, each of which is the gradient of the others, for the sum over all n, windows
/// o, taps k, channels c and features f of x[n, o * stride + k * dilation - low, c] w[k, c, f] y[n,
/// o, f].
class Dfg_ConvolutionLikeOp<string mnemonic, dag operands, dag extra, list<Trait> traits> :
    Dfg_PureOp<mnemonic, !listconcat([Dfg_Differentiable, Dfg_Composite], traits)> {
  let arguments = !con(operands, extra, (ins OptionalAttr<Dfg_LimitedStride>:$stride,
                                             OptionalAttr<Dfg_PaddingModeAttr>:$padding,
                                             OptionalAttr<DenseI64ArrayAttr>:$pads,
                                             OptionalAttr<DenseI64ArrayAttr>:$dilation,
                                             DefaultValuedOptionalAttr<I64Attr, "1">:$groups));
  let results = (outs Dfg_NumericTensor:$y);
}

def Dfg_ConvolutionOp : Dfg_ConvolutionLikeOp<"convolution",
    (ins Dfg_NumericTensor:$x, Dfg_NumericTensor:$kernel), (ins), [Dfg_CheckedWithStatus]> {
  let summary = "Convolves images with a kernel";
  let description = [{
    `x: [n, sizes.., channels]`, with any number of sizes, and `kernel: [taps..,
    channels / groups, features]` produce `y: [n, windows.., features]`: at each
    window, the products of its elements and the kernel, summed over taps and
    channels. `stride` and `dilation` (of the taps) default to 1; they are one
    number for all axes or one for each. `padding` is "valid", no padding;
    "same": zeros around `x` such that there are `ceil(size / stride)` windows,
    with an odd zero at the end; or "causal": zeros before each axis only, so
    that windows end at its elements. `pads` specifies the zeros explicitly: one
    number for all sides, one for both sides of each axis, or two for each axis,
    before and after it. With `groups` the channels and the features are divided
    into that many groups, and features depend only on the channels of their
    group.

    ```mlir
    %y = dfg.convolution %x, %w {padding = #dfg.padding<same>, stride = array<i64: 2>} : tensor<4x8x8x3xf32>, tensor<3x3x3x16xf32>
    ```
  }];
  let specialValues =
      "Integers wrap. 0 times an infinity is NaN, and so is a sum of infinities of both signs; "
      "where an infinite or NaN weight meets padding, the sum is NaN or leaves that tap out.";
  let assemblyFormat = "$x `,` $kernel attr-dict `:` type($x) `,` type($kernel)";
}

def Dfg_ConvolutionTransposeOp : Dfg_ConvolutionLikeOp<"convolution_transpose",
    (ins Dfg_NumericTensor:$x, Dfg_NumericTensor:$kernel),
    (ins OptionalAttr<Dfg_DimsAttr>:$sizes, OptionalAttr<DenseI64ArrayAttr>:$output_padding), []> {
  let summary = "Spreads each element by a kernel";
  let description = [{
    The gradient of `convolution` with respect to its images: `x: [n, windows..,
    features]` and `kernel: [taps.., channels / groups, features]` produce `y:
    [n, sizes.., channels]`. The options are those of the convolution. Several
    sizes have the same number of windows; `sizes` selects them. By default they
    are the windows times the stride with padding "same", else the smallest
    sizes that hold the windows, plus `output_padding`.

    ```mlir
    %y = dfg.convolution_transpose %x, %w {padding = #dfg.padding<same>, stride = array<i64: 2>} : tensor<4x4x4x16xf32>, tensor<3x3x3x16xf32>
    ```
  }];
  let specialValues =
      "Those of `convolution`: integers wrap, 0 times an infinity is NaN; an element of the "
      "result that no window reaches is 0.";
  let assemblyFormat = "$x `,` $kernel attr-dict `:` type($x) `,` type($kernel)";
}

def Dfg_ConvolutionWeightsOp : Dfg_ConvolutionLikeOp<"convolution_weights",
    (ins Dfg_NumericTensor:$x, Dfg_NumericTensor:$grad), (ins Dfg_DimsAttr:$size),
    [Dfg_CheckedWithStatus]> {
  let summary = "Takes the gradient of a convolution with respect to its kernel";
  let description = [{
    `x: [n, sizes.., channels]` and `grad: [n, windows.., features]` produce
    `[taps.., channels / groups, features]`, where `size` specifies the taps.
    The options are those of the convolution.

    ```mlir
    %y = dfg.convolution_weights %x, %g {size = #dfg.dims<3, 3>, padding = #dfg.padding<same>} : tensor<4x8x8x3xf32>, tensor<4x8x8x16xf32>
    ```
  }];
  let specialValues =
      "Those of `convolution`: integers wrap, 0 times an infinity is NaN; where an infinite or "
      "NaN gradient meets padding, the sum is NaN or leaves that out.";
  let assemblyFormat = "$x `,` $grad attr-dict `:` type($x) `,` type($grad)";
}

#endif // TFC_DIALECTS_DFG_CONVOLUTIONOPS_TD
