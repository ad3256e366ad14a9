//===- DfgAttrs.td - The dfg dialect, its attributes and types ------------===//

#ifndef TFC_DIALECTS_DFG_DFGATTRS_TD
#define TFC_DIALECTS_DFG_DFGATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "dialects/dfg/DfgInterfaces.td"

def Dfg_Dialect : Dialect {
  let name = "dfg";
  let cppNamespace = "::tfc::dfg";
  let summary = "Tensor dataflow graphs, independent of how they are executed";
  let description = [{
    Operations on whole tensors, variables and entries, as the author of a graph
    wrote them. Sizes that are not known at compile time have names:
    `tensor<?x64xf32, #dfg.dims<n, 64>>` is the language's `f32[n, 64]`.
    Elementwise operations broadcast missing leading axes and axes of static
    size 1; dynamic sizes never broadcast.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  // On the module: the constants in the order in which code addresses them, the number of chunks
  // that an instance has besides its arena, and the address of the function to which probes pass
  // values.
  // On operations: that the host computes one in registers, that a kernel stores a view instead of
  // each reader computing it, and which carried tensors of a loop need one buffer instead of two.
  let discardableAttrs = (ins "::mlir::ArrayAttr":$weights, "::mlir::IntegerAttr":$chunks,
                              "::mlir::IntegerAttr":$probe_function,
                              "::mlir::UnitAttr":$in_register, "::mlir::UnitAttr":$stored,
                              "::mlir::DenseI64ArrayAttr":$single_buffers);
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // Result types are inferred from attributes while text is parsed, when properties are not set yet.
  let usePropertiesForAttributes = 0;
}

def Dfg_DimsAttr : AttrDef<Dfg_Dialect, "Dims",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "dims";
  let summary = "Sizes of a tensor's axes as expressions over named dimensions";
  let description = [{
    One size per axis: an integer, a name, or an expression in quotes:
    `#dfg.dims<n, 64, "4 * m + 1">`. As the encoding of a tensor type it names
    the dynamic sizes; as an attribute it is the shape of an operation's result.
    Expressions are kept in the canonical form of `DimExpr`, so that equal types
    mean provably equal sizes.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$sizes);
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::tfc::dfg::DimExpr>":$sizes)>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::tfc::dfg::DimExpr> getExprs() const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dfg_FactAttr : AttrDef<Dfg_Dialect, "Fact"> {
  let mnemonic = "fact";
  let summary = "A comparison of sizes that each call satisfies";
  let description = [{
    `#dfg.fact<"n + 1 >= 2 * m">`, with both sizes in the canonical form of
    `DimExpr`. A call whose sizes do not satisfy it fails.
  }];
  let parameters = (ins "::mlir::StringAttr":$lhs, "::tfc::dfg::Comparison":$comparison,
                        "::mlir::StringAttr":$rhs);
  let builders = [AttrBuilder<(ins "const ::tfc::dfg::Fact &":$fact)>];
  let extraClassDeclaration = "::tfc::dfg::Fact getFact() const;";
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dfg_LimitAttr : AttrDef<Dfg_Dialect, "Limit"> {
  let mnemonic = "limit";
  let summary = "Sizes that a call computes and checks before it uses them";
  let description = [{
    `#dfg.limit<memory : <n, "4 * n">>` lists sizes and byte counts of tensors
    that the bounds of the names do not limit, `#dfg.limit<i32 : <"n - 1">>` sizes
    that become numbers of the type i32. A call in which one of them is too
    large fails.
  }];
  let parameters = (ins EnumParameter<Dfg_SizeUse>:$use, "::tfc::dfg::DimsAttr":$sizes);
  let assemblyFormat = "`<` $use `:` $sizes `>`";
  let genVerifyDecl = 1;
}

def Dfg_MemoryAttr : AttrDef<Dfg_Dialect, "Memory"> {
  let mnemonic = "memory";
  let summary = "The memory in which a launch stores a result";
  let description = [{
    `#dfg.memory<arena>`, `#dfg.memory<variable @w>`, `#dfg.memory<fetch 0>`,
    `#dfg.memory<operand 1>` for the memory of an operand at its last use, and
    `#dfg.memory<result 0>` for the memory of the branch or loop that contains
    the launch: a value that the branch yields, or the next value of a carried
    one.
  }];
  let parameters = (ins EnumParameter<Dfg_MemoryKind>:$kind,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$variable,
                        DefaultValuedParameter<"int64_t", "0">:$index);
  let extraClassDeclaration = [{
    static MemoryAttr inArena(::mlir::MLIRContext *context);
    static MemoryAttr inVariable(::mlir::FlatSymbolRefAttr variable);
    static MemoryAttr inFetch(::mlir::MLIRContext *context, int64_t index);
    static MemoryAttr inOperand(::mlir::MLIRContext *context, int64_t index);
    static MemoryAttr inResult(::mlir::MLIRContext *context, int64_t index);
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dfg_ProbeAttr : AttrDef<Dfg_Dialect, "Probe"> {
  let mnemonic = "probe";
  let summary = "The number of a value that is shown, and the operation that computed it";
  let description = "`#dfg.probe<0, \"add\">` on a `dfg.push`.";
  let parameters = (ins "int64_t":$number, "::mlir::StringAttr":$op);
  let assemblyFormat = "`<` $number `,` $op `>`";
  let genVerifyDecl = 1;
}

def Dfg_DeviceAttr : AttrDef<Dfg_Dialect, "Device"> {
  let mnemonic = "device";
  let summary = "The name of a device, or a part of it that several devices share";
  let description = [{
    `#dfg.device<"/job:ps/task:3/device:cpu:1">`, with the parts that an author
    leaves open left out: `#dfg.device<"/task:3">`. As the discardable attribute
    `dfg.device` it says where an operation, a variable or a queue shall be.
  }];
  let parameters = (ins "::mlir::StringAttr":$name);
  let builders = [AttrBuilder<(ins "const ::tfc::dfg::DeviceName &":$name)>];
  let assemblyFormat = "`<` $name `>`";
  let extraClassDeclaration = "::tfc::dfg::DeviceName getDevice() const;";
  let genVerifyDecl = 1;
}

def Dfg_JobAttr : AttrDef<Dfg_Dialect, "Job"> {
  let mnemonic = "job";
  let summary = "The tasks of a job, each in a process of its own";
  let description = [{
    `#dfg.job<"ps", 2>` in the attribute `dfg.cluster` of a module, which lists all
    jobs in the order of their processes.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$tasks);
  let assemblyFormat = "`<` $name `,` $tasks `>`";
  let genVerifyDecl = 1;
}

def Dfg_SliceAttr : AttrDef<Dfg_Dialect, "Slice"> {
  let mnemonic = "slice";
  let summary = "The elements of a larger tensor that a variable holds";
  let description = [{
    `#dfg.slice<"table", axis = 0, first = 1, step = 2, size = 11>`: of the 11 rows of
    `table`, the variable has row 1 and every second one after it, as many as its own
    size says. Variables may hold slices of one tensor, which is stored nowhere as a
    whole: a checkpoint says which slices it has, and is loaded into others. Copies are
    slices that hold all elements; a scalar has size 1.
  }];
  let parameters = (ins "::mlir::StringAttr":$whole, "int64_t":$axis, "int64_t":$first,
                        "int64_t":$step, "int64_t":$size);
  let assemblyFormat = "`<` $whole `,` struct($axis, $first, $step, $size) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// How many elements of the axis it can have.
    int64_t mostElements() const {
      return getFirst() < getSize() ? (getSize() - 1 - getFirst()) / getStep() + 1 : 0;
    }
  }];
}

def Dfg_SlotAttr : AttrDef<Dfg_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "A slot for messages from one partition of an entry to another";
  let description = [{
    `#dfg.slot<0 to 2>`, by the numbers of the partitions.
  }];
  let parameters = (ins "unsigned":$sender, "unsigned":$receiver);
  let assemblyFormat = "`<` $sender `to` $receiver `>`";
}

/// Words that an author chooses among: `#dfg.outside<skip>`.
class Dfg_EnumAttr<EnumInfo words, string name> : EnumAttr<Dfg_Dialect, words, name> {
  let assemblyFormat = "`<` $value `>`";
}
def Dfg_OutsideAttr : Dfg_EnumAttr<Dfg_Outside, "outside">;
def Dfg_ScatterModeAttr : Dfg_EnumAttr<Dfg_ScatterMode, "scatter_mode">;
def Dfg_PaddingModeAttr : Dfg_EnumAttr<Dfg_PaddingMode, "padding">;
def Dfg_QueueKindAttr : Dfg_EnumAttr<Dfg_QueueKind, "queue">;
def Dfg_DatasetFormatAttr : Dfg_EnumAttr<Dfg_DatasetFormat, "dataset_format">;
def Dfg_RecomputeAttr : Dfg_EnumAttr<Dfg_Recompute, "recompute">;

/// With `fail` an index out of range fails the call; with `skip` the element is read as 0 and not
/// written.
def Dfg_OutsideOption : DefaultValuedOptionalAttr<Dfg_OutsideAttr, "::tfc::dfg::Outside::Fail">;

class Dfg_Type<string name, string typeMnemonic> : TypeDef<Dfg_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Dfg_ListType : Dfg_Type<"List", "list"> {
  let summary = "A sequence of tensors of one type";
  let description = [{
    `!dfg.list<tensor<4xf32>>` holds any number of `f32[4]`: the TensorArray of
    the TensorFlow paper, as a value. An operation that changes a list returns a
    new one, which reuses the memory of the old list if that has no later use.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def Dfg_TokenType : Dfg_Type<"Token", "token"> {
  let summary = "A control edge";
  let description = [{
    Returned by `dfg.node`, so that other nodes can run after it. Only occurs in
    the graph form.
  }];
}

#endif // TFC_DIALECTS_DFG_DFGATTRS_TD
