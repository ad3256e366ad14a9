//===- ElementwiseOps.td - Arithmetic, comparison, selection, casts -------===//

#ifndef TFC_DIALECTS_DFG_ELEMENTWISEOPS_TD
#define TFC_DIALECTS_DFG_ELEMENTWISEOPS_TD

include "dialects/dfg/DfgBase.td"

/// `dtypes` names the accepted element types for `inferElementwise`: Numeric, Float, Integer, Bool, Any.
class Dfg_ElementwiseOp<string mnemonic, string dtypes, list<Trait> traits = []> :
    Dfg_PureOp<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<Dfg_ScalarOpInterface>], traits)> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferElementwise(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                              adaptor.getOperands(), results);
    }
  }];
}

class Dfg_UnaryOp<string mnemonic, string dtypes, list<Trait> traits = [Dfg_Differentiable]> :
    Dfg_ElementwiseOp<mnemonic, dtypes, traits> {
  let arguments = (ins Dfg_TensorNamed<dtypes>.type:$x);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

class Dfg_BinaryOp<string mnemonic, string dtypes, list<Trait> traits = [Dfg_Differentiable]> :
    Dfg_ElementwiseOp<mnemonic, dtypes, traits> {
  let arguments = (ins Dfg_TensorNamed<dtypes>.type:$lhs, Dfg_TensorNamed<dtypes>.type:$rhs);
  let results = (outs Dfg_TensorNamed<dtypes>.type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

/// Compares two numeric tensors; the result is bool.
class Dfg_CompareOp<string mnemonic, string dtypes = "Any"> :
    Dfg_BinaryOp<mnemonic, dtypes, [Dfg_SizeEvaluation]> {
  let results = (outs Dfg_BoolTensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferComparison(location, "}] # mnemonic # [{", Dtypes::}] # dtypes # [{,
                             adaptor.getOperands(), results);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Dfg_AddOp : Dfg_BinaryOp<"add", "Numeric", [Dfg_Differentiable, Commutative, Dfg_SizeEvaluation]> {
  let summary = "Adds two tensors";
  let description = [{
    `lhs + rhs`, elementwise with broadcasting. Integers wrap;
    infinities of both signs give NaN.

    ```mlir
    %c = dfg.add %a, %b : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let hasFolder = 1;
}

def Dfg_SubOp : Dfg_BinaryOp<"sub", "Numeric", [Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Subtracts two tensors";
  let description = [{
    `lhs - rhs`, elementwise with broadcasting. Integers wrap;
    equal infinities give NaN.

    ```mlir
    %c = dfg.sub %a, %b : tensor<4x8xf32>, tensor<8xf32>
    ```
  }];
  let hasFolder = 1;
}

def Dfg_MulOp : Dfg_BinaryOp<"mul", "Numeric", [Dfg_Differentiable, Commutative, Dfg_SizeEvaluation]> {
  let summary = "Multiplies two tensors elementwise";
  let description = [{
    `lhs * rhs`, elementwise with broadcasting. Integers wrap;
    0 times an infinity is NaN.

    ```mlir
    %c = dfg.mul %a, %b : tensor<4x8xf32>, tensor<f32>
    ```
  }];
  let hasFolder = 1;
}

def Dfg_DivOp : Dfg_BinaryOp<"div", "Float"> {
  let summary = "Divides two floating-point tensors";
  let description = [{
    `lhs / rhs`, elementwise with broadcasting, as IEEE 754 specifies: division by
    zero returns an infinity or, for 0 and NaN, NaN. Integers are divided by
    `floordiv`.

    ```mlir
    %c = dfg.div %a, %b : tensor<4x8xf32>, tensor<f32>
    ```
  }];
  let hasFolder = 1;
}

def Dfg_MaximumOp : Dfg_BinaryOp<"maximum", "Numeric",
    [Dfg_Differentiable, Commutative, Dfg_SizeEvaluation]> {
  let summary = "Takes the larger of two elements";
  let description = [{
    The result is NaN if either operand is; for 0 and -0 it is either. For equal
    operands each gets half of the gradient.

    ```mlir
    %c = dfg.maximum %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_MinimumOp : Dfg_BinaryOp<"minimum", "Numeric",
    [Dfg_Differentiable, Commutative, Dfg_SizeEvaluation]> {
  let summary = "Takes the smaller of two elements";
  let description = [{
    The result is NaN if either operand is; for 0 and -0 it is either. For equal
    operands each gets half of the gradient.

    ```mlir
    %c = dfg.minimum %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_PowOp : Dfg_BinaryOp<"pow", "Float"> {
  let summary = "Raises to a power";
  let description = [{
    `lhs ** rhs` like C's `pow`: 1 for a base of 1 or an exponent of 0, even if
    the other operand is NaN; NaN for a finite base below 0 and an exponent that
    is not an integer. The gradient of the exponent is 0 where the base is not
    positive.

    ```mlir
    %c = dfg.pow %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_NegOp : Dfg_UnaryOp<"neg", "Numeric", [Dfg_Differentiable, Dfg_SizeEvaluation]> {
  let summary = "Negates a tensor";
  let description = [{
    `-x`. Integers wrap: the smallest one is unchanged.

    ```mlir
    %y = dfg.neg %x : tensor<4xf32>
    ```
  }];
}

def Dfg_SquareOp : Dfg_UnaryOp<"square", "Numeric"> {
  let summary = "Squares a tensor";
  let description = [{
    `x * x`. Integers wrap.

    ```mlir
    %y = dfg.square %x : tensor<4xf32>
    ```
  }];
  let specialValues = "Infinity at both infinities, 0 at -0.";
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

def Dfg_EqualOp : Dfg_CompareOp<"equal"> {
  let summary = "Tests for equality";
  let description = [{
    `lhs == rhs`; NaN equals nothing, 0 equals -0.

    ```mlir
    %c = dfg.equal %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_NotEqualOp : Dfg_CompareOp<"not_equal"> {
  let summary = "Tests for inequality";
  let description = [{
    `lhs != rhs`; NaN differs from everything, 0 does not differ
    from -0.

    ```mlir
    %c = dfg.not_equal %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_LessOp : Dfg_CompareOp<"less", "Numeric"> {
  let summary = "Tests for less than";
  let description = [{
    `lhs < rhs`; false if either is NaN.

    ```mlir
    %c = dfg.less %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_LessEqualOp : Dfg_CompareOp<"less_equal", "Numeric"> {
  let summary = "Tests for less than or equal";
  let description = [{
    `lhs <= rhs`; false if either is NaN.

    ```mlir
    %c = dfg.less_equal %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_GreaterOp : Dfg_CompareOp<"greater", "Numeric"> {
  let summary = "Tests for greater than";
  let description = [{
    `lhs > rhs`; false if either is NaN.

    ```mlir
    %c = dfg.greater %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_GreaterEqualOp : Dfg_CompareOp<"greater_equal", "Numeric"> {
  let summary = "Tests for greater than or equal";
  let description = [{
    `lhs >= rhs`; false if either is NaN.

    ```mlir
    %c = dfg.greater_equal %a, %b : tensor<4xf32>, tensor<f32>
    ```
  }];
}

def Dfg_SelectOp : Dfg_PureOp<"select",
    [Dfg_Differentiable, DeclareOpInterfaceMethods<Dfg_ScalarOpInterface>, Dfg_SizeEvaluation]> {
  let summary = "Chooses between two tensors, element by element";
  let description = [{
    `onTrue` where `condition` holds, else `onFalse`, with broadcasting of all
    three. An element that is not chosen has no influence, even if it is NaN,
    and gets a gradient of 0.

    ```mlir
    %c = dfg.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>, tensor<f32>
    ```
  }];
  let specialValues = "Chosen elements pass as they are.";
  let arguments = (ins Dfg_BoolTensor:$condition, Dfg_Tensor:$on_true, Dfg_Tensor:$on_false);
  let results = (outs Dfg_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:`
    type($condition) `,` type($on_true) `,` type($on_false)
  }];
}

def Dfg_CastOp : Dfg_PureOp<"cast",
    [Dfg_Differentiable, DeclareOpInterfaceMethods<Dfg_ScalarOpInterface>, Dfg_SizeEvaluation]> {
  let summary = "Converts elements to another type";
  let description = [{
    Conversions to floating point round to nearest even, to f16 and bf16 by way
    of f32, and numbers beyond the largest one become infinities. Conversions
    from floating point to integers truncate and saturate; NaN becomes 0.
    Integers wrap to narrower types. bool is 0 or 1; converted to bool,
    everything except 0 and -0 is true, including NaN.

    ```mlir
    %y = dfg.cast %x {dtype = f16} : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_Tensor:$x, Dfg_Dtype:$dtype);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Dfg_StopGradientOp : Dfg_PureOp<"stop_gradient", [Dfg_Differentiable, Dfg_Composite]> {
  let summary = "Forwards a tensor without a gradient";
  let description = [{
    `x` itself, held constant by `gradients`.

    ```mlir
    %y = dfg.stop_gradient %x : tensor<4xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins Dfg_Tensor:$x);
  let results = (outs Dfg_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // TFC_DIALECTS_DFG_ELEMENTWISEOPS_TD
