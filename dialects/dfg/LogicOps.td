//===- LogicOps.td - Logic, bits, kinds of numbers ------------------------===//

#ifndef TFC_DIALECTS_DFG_LOGICOPS_TD
#define TFC_DIALECTS_DFG_LOGICOPS_TD

include "dialects/dfg/ElementwiseOps.td"

/// Tests each element; the result is bool.
class Dfg_PredicateOp<string mnemonic> : Dfg_UnaryOp<mnemonic, "Float", []> {
  let results = (outs Dfg_BoolTensor:$y);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        $cppClass::Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      return inferComparison(location, "}] # mnemonic # [{", Dtypes::Float, adaptor.getOperands(),
                             results);
    }
  }];
}

def Dfg_LogicalAndOp : Dfg_BinaryOp<"logical_and", "Bool", [Commutative, Dfg_SizeEvaluation]> {
  let summary = "Takes the logical and";
  let description = [{
    Takes two bool tensors.

    ```mlir
    %c = dfg.logical_and %a, %b : tensor<4xi1>, tensor<i1>
    ```
  }];
}

def Dfg_LogicalOrOp : Dfg_BinaryOp<"logical_or", "Bool", [Commutative, Dfg_SizeEvaluation]> {
  let summary = "Takes the logical or";
  let description = [{
    Takes two bool tensors.

    ```mlir
    %c = dfg.logical_or %a, %b : tensor<4xi1>, tensor<i1>
    ```
  }];
}

def Dfg_LogicalXorOp : Dfg_BinaryOp<"logical_xor", "Bool", [Commutative]> {
  let summary = "Takes the logical exclusive or";
  let description = [{
    Takes two bool tensors.

    ```mlir
    %c = dfg.logical_xor %a, %b : tensor<4xi1>, tensor<i1>
    ```
  }];
}

def Dfg_LogicalNotOp : Dfg_UnaryOp<"logical_not", "Bool", [Dfg_SizeEvaluation]> {
  let summary = "Negates a bool tensor";
  let description = [{
    ```mlir
    %y = dfg.logical_not %x : tensor<4xi1>
    ```
  }];
  let specialValues = "None: bool tensors have no special values.";
  let hasFolder = 1;
}

def Dfg_BitwiseAndOp : Dfg_BinaryOp<"bitwise_and", "Integer", [Commutative]> {
  let summary = "Combines bits by and";
  let description = [{
    Takes two integer tensors.

    ```mlir
    %c = dfg.bitwise_and %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_BitwiseOrOp : Dfg_BinaryOp<"bitwise_or", "Integer", [Commutative]> {
  let summary = "Combines bits by or";
  let description = [{
    Takes two integer tensors.

    ```mlir
    %c = dfg.bitwise_or %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_BitwiseXorOp : Dfg_BinaryOp<"bitwise_xor", "Integer", [Commutative]> {
  let summary = "Combines bits by exclusive or";
  let description = [{
    Takes two integer tensors.

    ```mlir
    %c = dfg.bitwise_xor %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_BitwiseNotOp : Dfg_UnaryOp<"bitwise_not", "Integer", []> {
  let summary = "Inverts bits";
  let description = [{
    Takes an integer tensor.

    ```mlir
    %y = dfg.bitwise_not %x : tensor<4xi32>
    ```
  }];
}

def Dfg_BitcastOp : Dfg_PureOp<"bitcast", [DeclareOpInterfaceMethods<Dfg_ScalarOpInterface>]> {
  let summary = "Takes the bits of elements as another type of the same width";
  let description = [{
    The bits of integers, f32 and f64 do not change, also those of NaN and
    denormal numbers. A NaN of f16 or bf16 may become another one, and a denormal
    number of bf16 may become 0.

    ```mlir
    %y = dfg.bitcast %x {dtype = i32} : tensor<4xf32>
    ```
  }];
  let arguments = (ins Dfg_NumericTensor:$x, Dfg_Dtype:$dtype);
  let results = (outs Dfg_NumericTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Dfg_ShiftLeftOp : Dfg_BinaryOp<"shift_left", "Integer", []> {
  let summary = "Shifts bits to the left";
  let description = [{
    Shifts in zeros. For a negative number of bits, or at least the width of the
    type, the result is 0.

    ```mlir
    %c = dfg.shift_left %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_ShiftRightOp : Dfg_BinaryOp<"shift_right", "Integer", []> {
  let summary = "Shifts bits to the right";
  let description = [{
    Shifts in copies of the sign bit, or zeros for unsigned types. A negative number of
    bits, or at least the width of the type, shifts everything out.

    ```mlir
    %c = dfg.shift_right %a, %b : tensor<4xi32>, tensor<i32>
    ```
  }];
}

def Dfg_IsNanOp : Dfg_PredicateOp<"is_nan"> {
  let summary = "Tests for NaN";
  let description = [{
    ```mlir
    %y = dfg.is_nan %x : tensor<4xf32>
    ```
  }];
  let specialValues = "True only for NaN.";
}

def Dfg_IsInfOp : Dfg_PredicateOp<"is_inf"> {
  let summary = "Tests for infinities";
  let description = [{
    True for both infinities.

    ```mlir
    %y = dfg.is_inf %x : tensor<4xf32>
    ```
  }];
  let specialValues = "False for NaN.";
}

def Dfg_IsFiniteOp : Dfg_PredicateOp<"is_finite"> {
  let summary = "Tests for finite numbers";
  let description = [{
    False for infinities and NaN.

    ```mlir
    %y = dfg.is_finite %x : tensor<4xf32>
    ```
  }];
}

#endif // TFC_DIALECTS_DFG_LOGICOPS_TD
