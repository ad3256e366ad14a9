//===- RtBase.td - The rt dialect, its attributes and base classes --------===//

#ifndef TFC_DIALECTS_RT_RTBASE_TD
#define TFC_DIALECTS_RT_RTBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::tfc::rt";
  let summary = "Calls of the runtime in host functions";
  let description = [{
    One operation for each runtime function that generated code calls
    (runtime/Model.h), and access to the frame of the call. Memory is a pointer
    of the LLVM dialect; sizes and positions are `i64`.

    An operation that fails ends the call in the middle of a block: the host
    function returns the status, and the operations after it do not run.
    Operations that may fail can therefore be in regions of `scf`;
    `tfc-lower-rt` turns them into branches after these regions have been
    lowered to blocks.

    These attributes record where the values of a planned entry are in memory:

    | attribute | of | meaning |
    | --- | --- | --- |
    | `rt.arena` | entry | `#rt.arena`: the regions of the arena |
    | `rt.tapes` | entry | symbols of its tapes; the number in the list is the chunk |
    | `rt.memory` | operation of an entry | for each result, `#rt.slot`, `#rt.chunk`, or `unit` if it is in neither |
    | `rt.alternate` | loop | the same for the second buffers of carried values |
    | `rt.scratch` | launch | `#rt.slot`: the scratch memory of its kernel |
    | `rt.scratch` | send | `#rt.slot`: the buffers into which it copies |

    `rt.variable_devices` of the module lists the number of each variable's
    device, unless all are on the caller's. `rt.copied_constants` lists the
    constants that devices with memory of their own have copies of, each a
    `#rt.copied_constant`.

    `rt.entry` marks a function that describes or runs an entry, which replaces
    the entry in compiled code. `rt.partitioning` describes the partitions that
    such a function runs, and `rt.on_gpu` lists for its feeds whether only
    GPUs read them, then for its fetches by which slot a GPU sends them, plus
    one, if they only pass to the caller; 0 for others.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::tfc::dfg::DfgDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Rt_Attr<string name, string attrMnemonic> : AttrDef<Rt_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Rt_SlotAttr : Rt_Attr<"Slot", "slot"> {
  let summary = "A position in the arena";
  let description = [{
    `#rt.slot<1, 64>` starts 64 units after the start of region 1.
  }];
  let parameters = (ins "unsigned":$region, "int64_t":$offset);
  let assemblyFormat = "`<` $region `,` $offset `>`";
}

def Rt_ChunkAttr : Rt_Attr<"Chunk", "chunk"> {
  let summary = "Memory that grows during calls";
  let description = [{
    `#rt.chunk<2>` is chunk 2 of the instance.
  }];
  let parameters = (ins "unsigned":$number);
  let assemblyFormat = "`<` $number `>`";
}

def Rt_ArenaAttr : Rt_Attr<"Arena", "arena"> {
  let summary = "The regions of an arena";
  let description = [{
    Each region has a number of units of one size in bytes, an expression over
    the entry's names; a negative size counts as 0. Each region starts where the
    previous one ends. `#rt.arena<[128, 3] of <1, "64 * n">>` has 128 bytes,
    followed by 3 units of 64 * n bytes. The unit of the first region is one
    byte.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$counts, "::tfc::dfg::DimsAttr":$units);
  let assemblyFormat = "`<` `[` $counts `]` `of` $units `>`";
}

def Rt_PartitioningAttr : Rt_Attr<"Partitioning", "partitioning"> {
  let summary = "How an entry is divided among devices";
  let description = [{
    The devices of its partitions, by their numbers in the module, how each uses
    variables (0 not, 1 reads, 2 changes some; and 4 if it uses queues), and the
    slots of their messages:
    `#rt.partitioning<[0, 2], [0, 1], [#dfg.slot<0 to 1>], true>`. The last
    parameter says whether the partitions agree on failed checks.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$devices,
                        ArrayRefParameter<"int64_t">:$accesses, "::mlir::ArrayAttr":$slots,
                        "bool":$commits);
  let assemblyFormat = [{
    `<` `[` $devices `]` `,` `[` $accesses `]` `,` $slots `,` $commits `>`
  }];
}

def Rt_CopiedConstantAttr : Rt_Attr<"CopiedConstant", "copied_constant"> {
  let summary = "A constant that a device has a copy of";
  let description = [{
    `#rt.copied_constant<64, 16 on 1>` are 16 bytes of the module's constants,
    from byte 64 on, which device 1 has a copy of.
  }];
  let parameters = (ins "int64_t":$offset, "int64_t":$bytes, "int64_t":$device);
  let assemblyFormat = "`<` $offset `,` $bytes `on` $device `>`";
}

def Rt_Field : I32EnumAttr<"Field", "A field of tfc_call_frame", [
    I32EnumAttrCase<"Arena", 1, "arena">,
    I32EnumAttrCase<"Feeds", 2, "feeds">,
    I32EnumAttrCase<"Fetches", 3, "fetches">,
    I32EnumAttrCase<"Variables", 4, "variables">,
    I32EnumAttrCase<"Symbols", 5, "symbols">,
    I32EnumAttrCase<"Chunks", 6, "chunks">,
    I32EnumAttrCase<"Found", 7, "found">]> {
  let cppNamespace = "::tfc::rt";
}

def Rt_Status : I32EnumAttr<"Status", "The status of a call that fails: a tfc_status", [
    I32EnumAttrCase<"InvalidArgument", 1, "invalid_argument">,
    I32EnumAttrCase<"OutOfRange", 2, "out_of_range">,
    I32EnumAttrCase<"FailedPrecondition", 4, "failed_precondition">,
    I32EnumAttrCase<"OutOfMemory", 6, "out_of_memory">]> {
  let cppNamespace = "::tfc::rt";
}

def Rt_TraceKind : I32EnumAttr<"TraceKind", "The kind of a recorded step: a tfc_trace_kind", [
    I32EnumAttrCase<"Kernel", 0, "kernel">,
    I32EnumAttrCase<"Send", 1, "send">,
    I32EnumAttrCase<"Receive", 2, "receive">,
    I32EnumAttrCase<"Wait", 3, "wait">]> {
  let cppNamespace = "::tfc::rt";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

def Rt_Pointer : Type<CPred<
    "::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self) && "
    "::llvm::cast<::mlir::LLVM::LLVMPointerType>($_self).getAddressSpace() == 0">,
    "pointer", "::mlir::LLVM::LLVMPointerType">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

class Rt_Op<string mnemonic, list<Trait> traits = []> : Op<Rt_Dialect, mnemonic, traits>;

/// An operation that may end the call: its function then returns the status.
def Rt_EndsCall : NativeOpTrait<"EndsCall"> { let cppNamespace = "::tfc::rt"; }
class Rt_FallibleOp<string mnemonic, list<Trait> traits = []> :
    Rt_Op<mnemonic, !listconcat([Rt_EndsCall], traits)>;

#endif // TFC_DIALECTS_RT_RTBASE_TD
