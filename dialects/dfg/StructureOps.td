//===- StructureOps.td - Entries, gradients, kernels ----------------------===//

#ifndef TFC_DIALECTS_DFG_STRUCTUREOPS_TD
#define TFC_DIALECTS_DFG_STRUCTUREOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

class Dfg_FunctionLike<string mnemonic> : Dfg_Op<mnemonic, [
    FunctionOpInterface, IsolatedFromAbove]> {
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  code functionLikeDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Dfg_EntryOp : Dfg_FunctionLike<"entry"> {
  let summary = "Defines one function of the compiled model";
  let description = [{
    Arguments are feeds, results are fetches; `dfg.name` on each is its name.
    `symbols` lists the named dimensions in order of first appearance, `bounds`
    the largest legal value of some, `where` the facts that each call must
    satisfy, in the language's text. The entry with the attribute
    `initializer` assigns every variable its initial value and is no function
    of the model.

    ```mlir
    dfg.entry @twice(%x: tensor<?xf32, #dfg.dims<n>> {dfg.name = "x"})
        -> (tensor<?xf32, #dfg.dims<n>> {dfg.name = "y"})
        attributes {symbols = ["n"], bounds = {n = 256 : i64}} {
      %y = dfg.add %x, %x : tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<n>>
      dfg.return %y : tensor<?xf32, #dfg.dims<n>>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrArrayAttr>:$symbols, OptionalAttr<DictionaryAttr>:$bounds,
                       OptionalAttr<StrArrayAttr>:$where, OptionalAttr<StrAttr>:$doc,
                       UnitAttr:$initializer);
  let extraClassDeclaration = functionLikeDeclaration;
}

def Dfg_KernelOp : Dfg_FunctionLike<"kernel"> {
  let summary = "Defines a unit of code generation";
  let description = [{
    A function of tensors without effects, outlined from one or more entries.
    `symbols` are its own named dimensions; each `dfg.launch` says what they
    are there.

    ```mlir
    dfg.kernel @kernel_0(%x: tensor<?xf32, #dfg.dims<d0>>) -> tensor<?xf32, #dfg.dims<d0>>
        attributes {symbols = ["d0"]} {
      %y = dfg.exp %x : tensor<?xf32, #dfg.dims<d0>>
      dfg.return %y : tensor<?xf32, #dfg.dims<d0>>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrArrayAttr>:$symbols);
  let extraClassDeclaration = functionLikeDeclaration;
}

def Dfg_LaunchOp : Dfg_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    `sizes` gives the kernel's named dimensions in terms of the entry's.

    ```mlir
    %y = dfg.launch @kernel_0(%x) {sizes = #dfg.dims<n>}
        : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Dfg_Tensor>:$inputs,
                       Dfg_DimsAttr:$sizes);
  let results = (outs Variadic<Dfg_Tensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Dfg_ReturnOp : Dfg_Op<"return", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends an entry or a kernel with its results";
  let description = [{
    ```mlir
    dfg.return %y : tensor<4xf32>
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins Variadic<Dfg_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let hasVerifier = 1;
}

def Dfg_CheckOp : Dfg_Op<"check", [Dfg_RegisterReaderRole]> {
  let summary = "Fails the call unless a condition holds";
  let description = [{
    The call returns `status` with `message`, and no variable has changed,
    whatever the order of the operations.

    ```mlir
    dfg.check %valid, "'gather' got an index outside of f32[n]" : tensor<i1>
    dfg.check %same, "'ensure' expects f32[n]", failed_precondition : tensor<i1>
    ```
  }];
  let arguments = (ins Dfg_BoolTensor:$condition, StrAttr:$message,
                       DefaultValuedAttr<Dfg_Failure, "Failure::OutOfRange">:$status);
  let assemblyFormat = "$condition `,` $message (`,` $status^)? attr-dict `:` type($condition)";
}

def Dfg_GradientsOp : Dfg_Op<"gradients", [Pure]> {
  let summary = "Takes the gradients of a scalar with respect to values";
  let description = [{
    Results are d y / d xs[i], of the types of `xs`; the gradient through paths
    that lead from an `x` to `y`, with everything else held constant. An `x`
    without a path gets zeros. For an `x` in `sparse` (its position), which only `gather`
    along the first axis reads, there are two results instead: the indices of
    the touched rows, i64[r], and their gradients, [r, ...], in the order of
    the gathers, rows possibly repeated. The autodiff stage replaces the operation.

    ```mlir
    %g = dfg.gradients %y, [%x] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let specialValues = "NaN and infinities are what the formulas of the operations make of them.";
  let arguments = (ins Dfg_FloatTensor:$y, Variadic<Dfg_FloatTensor>:$xs,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$sparse);
  let results = (outs Variadic<Dfg_Tensor>:$grads);
  let assemblyFormat = "$y `,` `[` $xs `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_DFG_STRUCTUREOPS_TD
