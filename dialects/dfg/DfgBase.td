//===- DfgBase.td - Constraints and base classes of operations ------------===//

#ifndef TFC_DIALECTS_DFG_DFGBASE_TD
#define TFC_DIALECTS_DFG_DFGBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/dfg/DfgAttrs.td"
include "dialects/dfg/DfgInterfaces.td"

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
