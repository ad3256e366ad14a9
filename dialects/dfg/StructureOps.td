//===- StructureOps.td - Entries, gradients, kernels ----------------------===//

#ifndef TFC_DIALECTS_DFG_STRUCTUREOPS_TD
#define TFC_DIALECTS_DFG_STRUCTUREOPS_TD

include "dialects/dfg/DfgBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

class Dfg_FunctionLike<string mnemonic, list<Trait> traits = []> :
    Dfg_Op<mnemonic, !listconcat([FunctionOpInterface, IsolatedFromAbove], traits)> {
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  code functionLikeDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Dfg_SlotArray : TypedArrayAttrBase<Dfg_SlotAttr, "slots of messages">;
def Dfg_FactArray : TypedArrayAttrBase<Dfg_FactAttr, "facts">;
def Dfg_LimitArray : TypedArrayAttrBase<Dfg_LimitAttr, "limits of sizes">;
def Dfg_MemoryArray : TypedArrayAttrBase<Dfg_MemoryAttr, "owners of memory">;

def Dfg_EntryOp : Dfg_FunctionLike<"entry", [Dfg_DeclarationRole,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Defines one function of the compiled model";
  let description = [{
    Arguments are feeds, results are fetches; `dfg.name` on each is its name.
    `symbols` lists the named dimensions in order of first appearance, `bounds`
    the largest legal value of some, `where` the facts that each call must
    satisfy, and `limits` sizes that are checked before they are used. `solved`
    lists facts `name == size` that have replaced a name everywhere: it is no
    symbol, and only messages and callers mention it. The entry
    with the attribute `initializer` assigns every variable its initial value
    and is not a function of the model; a module has at most one.

    An entry on several devices is the partition of the first one, and
    `partitions` names those of the others, which are entries `partition_of` it,
    each on its `device` and without arguments and results. They exchange values
    through the numbered `slots`, each from one partition to another.

    ```mlir
    dfg.entry @twice(%x: tensor<?xf32, #dfg.dims<n>> {dfg.name = "x"})
        -> (tensor<?xf32, #dfg.dims<n>> {dfg.name = "y"})
        attributes {symbols = ["n"], bounds = {n = 256 : i64},
                    where = [#dfg.fact<"n >= 1">]} {
      %y = dfg.add %x, %x : tensor<?xf32, #dfg.dims<n>>, tensor<?xf32, #dfg.dims<n>>
      dfg.return %y : tensor<?xf32, #dfg.dims<n>>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrArrayAttr>:$symbols, OptionalAttr<DictionaryAttr>:$bounds,
                       OptionalAttr<Dfg_FactArray>:$where,
                       OptionalAttr<Dfg_FactArray>:$solved,
                       OptionalAttr<Dfg_LimitArray>:$limits,
                       OptionalAttr<StrAttr>:$doc, UnitAttr:$initializer,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$partitions,
                       OptionalAttr<Dfg_SlotArray>:$slots,
                       OptionalAttr<FlatSymbolRefAttr>:$partition_of,
                       OptionalAttr<Dfg_DeviceAttr>:$device);
  let extraClassDeclaration = functionLikeDeclaration # [{
    /// Returns true if this is a partition of another entry, and not a function of the model.
    bool isPartition() { return getPartitionOfAttr() != nullptr; }
    /// The sizes that `limits` lists for a use.
    ::llvm::SmallVector<::tfc::dfg::DimExpr> getLimitedSizes(::tfc::dfg::SizeUse use);
  }];
}

def Dfg_KernelOp : Dfg_FunctionLike<"kernel"> {
  let summary = "Defines a unit of code generation";
  let description = [{
    A function of tensors without effects, outlined from one or more entries.
    `symbols` are its own named dimensions; each `dfg.launch` assigns them.

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

def Dfg_LaunchOp : Dfg_Op<"launch", [
    Pure, Dfg_StepRole, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    `sizes` specifies the kernel's named dimensions in terms of the entry's.
    Once memory is planned, `memory` specifies where each result is stored. The last
    operand of a `guarded` launch is no input of the kernel, but a bool: the kernel
    writes nothing if it is false.

    ```mlir
    %y = dfg.launch @kernel_0(%x) {sizes = #dfg.dims<n>}
        : (tensor<?xf32, #dfg.dims<n>>) -> tensor<?xf32, #dfg.dims<n>>
    %v = dfg.launch @update(%g, %holds) {guarded, sizes = #dfg.dims<>}
        : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
    ```
  }];
  let specialValues = "Values pass as they are.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Dfg_Tensor>:$values,
                       Dfg_DimsAttr:$sizes, OptionalAttr<Dfg_MemoryArray>:$memory,
                       UnitAttr:$guarded);
  let internalAttributes = ["guarded"];
  let results = (outs Variadic<Dfg_Tensor>:$outputs);
  let assemblyFormat = "$kernel `(` $values `)` attr-dict `:` functional-type($values, $outputs)";
  let extraClassDeclaration = [{
    /// The operands of the kernel.
    ::mlir::OperandRange getInputs() { return getValues().drop_back(getGuarded() ? 1 : 0); }
    /// The guard; null if there is none.
    ::mlir::Value getGuard() { return getGuarded() ? getValues().back() : ::mlir::Value(); }
    void setGuard(::mlir::Value guard);
  }];
  let hasVerifier = 1;
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

def Dfg_OwnFeedOp : Dfg_Op<"own_feed", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Dfg_StepRole]> {
  let summary = "Returns a feed as the process of the device passes it";
  let description = [{
    Processes that call an entry together each pass feeds of the same shapes.
    Arguments of the entry are those of the first process; this returns feed
    `number` of the process in which the operation runs. In a program of one
    process both are the same. A process that passes null fails the call.

    ```mlir
    %own = dfg.own_feed 0 {dfg.device = #dfg.device<"/job:worker/task:1">} : tensor<?x16xf32, #dfg.dims<n, 16>>
    ```
  }];
  let specialValues = "Elements pass as they are.";
  let arguments = (ins I32Attr:$number);
  let results = (outs Dfg_Tensor:$value);
  let assemblyFormat = "$number attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Dfg_CheckOp : Dfg_Op<"check", [Dfg_StepRole, Dfg_RegisterReaderRole]> {
  let summary = "Fails the call unless a condition holds";
  let description = [{
    The call returns `status` with `message`, without having changed a variable,
    regardless of the order in which the operations are listed. The message of a
    check with values, scalars of type i32 or i64, shows one wherever it has `%lld`,
    and a percent sign where it has `%%`. The message of others is plain text.
    `numbers` orders the checks of an entry on several devices, as they are numbered
    together with its loops: the numbers of the loops around the check, from outside
    in, then its own. The call fails with the message of the first check, in the
    first iteration.

    ```mlir
    dfg.check %valid, "'gather' got index %lld of axis 0 of f32[8]"(%i : tensor<i64>) : tensor<i1>
    dfg.check %same, "'ensure' expects f32[n]", failed_precondition : tensor<i1>
    ```
  }];
  let specialValues = "The values are shown as they are, up to the limits of their types.";
  let arguments = (ins Dfg_BoolTensor:$condition, StrAttr:$message, Variadic<Dfg_Tensor>:$values,
                       DefaultValuedAttr<Dfg_Failure, "Failure::OutOfRange">:$status,
                       OptionalAttr<DenseI32ArrayAttr>:$numbers);
  let internalAttributes = ["numbers"];
  let assemblyFormat = [{
    $condition `,` $message (`(` $values^ `:` type($values) `)`)? (`,` $status^)? attr-dict
    `:` type($condition)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "const Message &":$message,
                                 "Failure":$status)>];
  let extraClassDeclaration = [{
    /// The message as a format, also if there are no values.
    ::std::string getFormat();
  }];
}

def Dfg_GradientsOp : Dfg_Op<"gradients", [Pure]> {
  let summary = "Takes the gradients of a scalar with respect to values";
  let description = [{
    Results are d y / d xs[i], of the types of `xs`; the gradient follows the paths from
    an `x` to `y` and holds everything else constant. An `x` without a path gets zeros.
    For an `x` in `sparse` (its position), which only `gather` along the first axis
    reads, there are two results instead: the indices of the touched rows, i64[r], and
    their gradients, [r, ...], in the order of the gathers, rows possibly repeated. The
    autodiff stage replaces the operation.

    ```mlir
    %g = dfg.gradients %y, [%x] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let specialValues = "NaN and infinities follow from the formulas of the operations.";
  let arguments = (ins Dfg_FloatTensor:$y, Variadic<Dfg_FloatTensor>:$xs,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$sparse);
  let results = (outs Variadic<Dfg_Tensor>:$grads);
  let assemblyFormat = "$y `,` `[` $xs `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // TFC_DIALECTS_DFG_STRUCTUREOPS_TD
