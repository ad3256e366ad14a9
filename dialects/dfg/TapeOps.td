//===- TapeOps.td - Values that a loop keeps for another ------------------===//

#ifndef TFC_DIALECTS_DFG_TAPEOPS_TD
#define TFC_DIALECTS_DFG_TAPEOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Dfg_TapeOp : Dfg_Op<"tape", [Symbol, Dfg_DeclarationRole]> {
  let summary = "Declares a tape that lives as long as a call";
  let description = [{
    A tape is empty when a call starts. Autodiff stores the values that the
    backward loop needs from the forward loop on it, and so do the gradient
    graphs of TensorFlow. `capacity`, a single size over the names of the entry
    that uses the tape, is the largest number of values that it holds; without it
    the memory grows in chunks that double. In both cases the instance keeps the
    memory from call to call.

    ```mlir
    dfg.tape @saved_0 : tensor<32x64xf32> {capacity = #dfg.dims<t>}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Dfg_Tensor>:$type,
                       OptionalAttr<Dfg_DimsAttr>:$capacity);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
  }];
}

class Dfg_TapeAccess<string mnemonic> : Dfg_Op<mnemonic, [
    Dfg_TapeAccessOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def Dfg_PushOp : Dfg_TapeAccess<"push"> {
  let summary = "Appends a value to a tape";
  let description = [{
    With `probe`, the value is passed to a function in the compiling process
    instead of being stored; comparisons with the oracle use this.

    ```mlir
    dfg.push @saved_0, %x : tensor<32x64xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$tape, Dfg_Tensor:$value,
                       OptionalAttr<Dfg_ProbeAttr>:$probe);
  let internalAttributes = ["probe"];
  let assemblyFormat = "$tape `,` $value attr-dict `:` type($value)";
}

def Dfg_PopOp : Dfg_TapeAccess<"pop"> {
  let summary = "Takes the last value off a tape";
  let description = [{
    An empty tape fails the call.

    ```mlir
    %x = dfg.pop @saved_0 : tensor<32x64xf32>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$tape);
  let results = (outs Dfg_Tensor:$value);
  let assemblyFormat = "$tape attr-dict `:` type($value)";
}

#endif // TFC_DIALECTS_DFG_TAPEOPS_TD
