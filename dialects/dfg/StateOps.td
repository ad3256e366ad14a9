//===- StateOps.td - Variables --------------------------------------------===//

#ifndef TFC_DIALECTS_DFG_STATEOPS_TD
#define TFC_DIALECTS_DFG_STATEOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Dfg_VariableOp : Dfg_Op<"variable", [Symbol, Dfg_DeclarationRole]> {
  let summary = "Declares a tensor that outlives calls";
  let description = [{
    The symbol is the checkpoint name. `frozen` excludes it from training;
    `formerly` is the name under which older checkpoints hold it. `slice` says which
    elements of a larger tensor it holds. The entry with the attribute `initializer`
    assigns the initial value.

    ```mlir
    dfg.variable @"net.w" : tensor<64x128xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Dfg_StaticTensor>:$type,
                       UnitAttr:$frozen, OptionalAttr<StrAttr>:$formerly,
                       OptionalAttr<Dfg_SliceAttr>:$slice);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

class Dfg_VariableAccess<string mnemonic, list<Trait> traits = []> : Dfg_Op<mnemonic, !listconcat([
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Dfg_ReadOp : Dfg_VariableAccess<"read", [Dfg_SourceRole]> {
  let summary = "Reads a variable";
  let description = [{
    The value at this point of the program order; later assignments do not
    change it.

    ```mlir
    %w = dfg.read @w : tensor<64x128xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Dfg_Tensor:$value);
  let assemblyFormat = "$variable attr-dict `:` type($value)";
}

def Dfg_AssignOp : Dfg_VariableAccess<"assign", [AllTypesMatch<["value", "result"]>, Dfg_AliasRole]> {
  let summary = "Sets a variable";
  let description = [{
    The result is the new value.

    ```mlir
    %new = dfg.assign @w, %value : tensor<64x128xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$variable, Dfg_Tensor:$value);
  let results = (outs Dfg_Tensor:$result);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

#endif // TFC_DIALECTS_DFG_STATEOPS_TD
