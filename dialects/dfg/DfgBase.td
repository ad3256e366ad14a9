//===- DfgBase.td - The dfg dialect, its attributes and base classes ------===//

#ifndef TFC_DIALECTS_DFG_DFGBASE_TD
#define TFC_DIALECTS_DFG_DFGBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
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

// Element types of the language. i1 is bool, ui8 is u8; signless integers are signed.
def Dfg_Float : AnyTypeOf<[F32, F64, F16, BF16]>;
def Dfg_Integer : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Dfg_Numeric : AnyTypeOf<[Dfg_Float, Dfg_Integer]>;
def Dfg_Element : AnyTypeOf<[Dfg_Numeric, I1]>;

/// A tensor whose dynamic sizes have names.
class Dfg_TensorOf<list<Type> elementTypes> : RankedTensorOf<
    elementTypes, [CPred<"::tfc::dfg::hasNamedSizes($_self)">], "ranked tensor"> {
  /// The same for op_table.py.
  list<Type> elements = elementTypes;
}

/// A tensor without axes.
class Dfg_ScalarOf<list<Type> elementTypes> : 0DTensorOf<elementTypes> {
  list<Type> elements = elementTypes;
}

def Dfg_Tensor : Dfg_TensorOf<[Dfg_Element]>;
def Dfg_NumericTensor : Dfg_TensorOf<[Dfg_Numeric]>;
def Dfg_FloatTensor : Dfg_TensorOf<[Dfg_Float]>;
def Dfg_IntegerTensor : Dfg_TensorOf<[Dfg_Integer]>;
def Dfg_IndexTensor : Dfg_TensorOf<[I32, I64]>;
def Dfg_I32Tensor : Dfg_TensorOf<[I32]>;
def Dfg_I64Tensor : Dfg_TensorOf<[I64]>;
def Dfg_CounterTensor : Dfg_ScalarOf<[I64]>;
def Dfg_BoolTensor : Dfg_TensorOf<[I1]>;
def Dfg_StaticTensor : StaticShapeTensorOf<[Dfg_Element]>;

/// Tensors of the element types that inference checks under this name.
class Dfg_TensorNamed<string dtypes> {
  TypeConstraint type =
      !if(!eq(dtypes, "Any"), Dfg_Tensor, !cast<TypeConstraint>("Dfg_" # dtypes # "Tensor"));
}

def Dfg_Dtype : TypeAttrOf<Dfg_Element> { let summary = "element type"; }

def Dfg_Predicate : Dfg_ScalarOf<[I1]>;
def Dfg_Position : Dfg_ScalarOf<[I32, I64]>;

/// The values of edges: tensors and lists of tensors.
def Dfg_Value : AnyTypeOf<[Dfg_Tensor, Dfg_ListType]>;

/// InferTypeOpAdaptor that checks attributes and kinds of operands first: types are inferred during
/// parsing, before the operation is verified.
def Dfg_InferTypes : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>,
  NativeOpTrait<"InferTypeOpAdaptor", [], [{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &results);
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      $cppClass::Adaptor adaptor(operands, attributes, properties, regions);
      ::mlir::Location place = location.value_or(::mlir::UnknownLoc::get(context));
      if (::mlir::failed(adaptor.verify(place)) ||
          ::mlir::failed(::tfc::dfg::verifyOperandKinds(
              place, $cppClass::getOperationName(), operands)))
        return ::mlir::failure();
      return $cppClass::inferReturnTypes(context, location, adaptor, results);
    }
  }]>
]>;

class Dfg_Op<string mnemonic, list<Trait> traits = []> : Op<Dfg_Dialect, mnemonic, traits> {
  /// How the operation treats NaN, infinities, zeros and the limits of integers, unless the
  /// description says so: a line of the reference. Changing it recompiles nothing.
  string specialValues = "";
  /// Attributes set by passes, which are not parameters of the operation in the language.
  list<string> internalAttributes = [];
}

/// An operation without effects whose result types follow from its operands and attributes.
class Dfg_PureOp<string mnemonic, list<Trait> traits = []> :
    Dfg_Op<mnemonic, !listconcat([Pure, Dfg_InferTypes], traits)>;

// Roles: see Roles.h.
class Dfg_Role<string name> : NativeOpTrait<name> { let cppNamespace = "::tfc::dfg"; }
def Dfg_ViewRole : Dfg_Role<"ViewRole">;
def Dfg_SelectionRole : Dfg_Role<"SelectionRole">;
def Dfg_ParallelRole : Dfg_Role<"ParallelRole">;
def Dfg_ReductionRole : Dfg_Role<"ReductionRole">;
def Dfg_ContractionRole : Dfg_Role<"ContractionRole">;
def Dfg_RoutingRole : Dfg_Role<"RoutingRole">;
def Dfg_AliasRole : Dfg_Role<"AliasRole">;
def Dfg_StepRole : Dfg_Role<"StepRole">;
def Dfg_DeclarationRole : Dfg_Role<"DeclarationRole">;
def Dfg_SourceRole : Dfg_Role<"SourceRole">;
def Dfg_UpdateRole : Dfg_Role<"UpdateRole">;
def Dfg_RegisterReaderRole : Dfg_Role<"RegisterReaderRole">;

/// The trait list entry of an operation with a gradient.
def Dfg_Differentiable : DeclareOpInterfaceMethods<Dfg_DifferentiableOpInterface>;

/// The trait list entry of an operation that can be decomposed into others.
def Dfg_Composite : DeclareOpInterfaceMethods<Dfg_CompositeOpInterface>;

/// The trait list entry of an operation whose data can make the call fail.
def Dfg_Checked : DeclareOpInterfaceMethods<Dfg_CheckedOpInterface>;

/// The same if the call's status is not `out_of_range`.
def Dfg_CheckedWithStatus : DeclareOpInterfaceMethods<Dfg_CheckedOpInterface, ["getCheckStatus"]>;

/// The trait list entry of an operation that turns sizes into numbers.
def Dfg_Numbering : DeclareOpInterfaceMethods<Dfg_NumberingOpInterface>;
/// The trait list entry of an operation that computes shapes.
def Dfg_SizeEvaluation : DeclareOpInterfaceMethods<Dfg_SizeEvaluationOpInterface>;

// Attributes whose numbers `checkSizes` limits differently: see `AttrLimit`.
/// A size that becomes a number of 64 bits and not the size of a tensor.
def Dfg_NumberDims : ConfinedAttr<Dfg_DimsAttr, []>;
/// Strides that the operation itself limits, see `readWindows`.
def Dfg_LimitedStride : ConfinedAttr<DenseI64ArrayAttr, []>;

/// One axis, negative ones counted from the end.
class Dfg_Axis<string default> : DefaultValuedOptionalAttr<I64Attr, default>;

#endif // TFC_DIALECTS_DFG_DFGBASE_TD
