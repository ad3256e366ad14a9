// Registers the rt dialect and verifies the attributes that record where planned entries keep their
// values.

#include "dialects/rt/Rt.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::rt;

#include "dialects/rt/RtDialect.cpp.inc"
#include "dialects/rt/RtEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/rt/RtAttrs.cpp.inc"

void RtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/rt/RtAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/rt/Rt.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult SlotAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned region,
                               int64_t offset) {
  if (offset < 0)
    return emitError() << "expected an offset of at least 0, but got " << offset;
  return success();
}

LogicalResult ChunkAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned number) {
  if (number >= dfg::kMaxChunks)
    return emitError() << "expected a chunk below " << dfg::kMaxChunks << ", but got " << number;
  return success();
}

LogicalResult ArenaAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> counts, dfg::DimsAttr units) {
  if (counts.size() != units.getSizes().size())
    return emitError() << "expected a unit for each region, but got " << counts.size()
                       << " counts and " << units.getSizes().size() << " units";
  if (counts.empty() || !units.getExprs().front().isConstant(1))
    return emitError() << "expected bytes as the unit of the first region";
  if (llvm::any_of(counts, [](int64_t count) { return count < 0; }))
    return emitError() << "expected counts of at least 0";
  return success();
}

LogicalResult PartitioningAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                       ArrayRef<int64_t> devices, ArrayRef<int64_t> accesses,
                                       ArrayAttr slots, bool) {
  if (devices.size() < 2 || devices.front() != 0)
    return emitError() << "expected partitions on device 0 and others";
  auto isAccess = [](int64_t access) { return access >= 0 && access <= 6 && access % 4 <= 2; };
  if (accesses.size() != devices.size() || !llvm::all_of(accesses, isAccess))
    return emitError() << "expected 0, 1 or 2 for each partition's use of variables, or 4 more";
  for (Attribute attribute : slots) {
    auto slot = dyn_cast<dfg::SlotAttr>(attribute);
    if (!slot || slot.getSender() >= devices.size() || slot.getReceiver() >= devices.size())
      return emitError() << "expected slots of " << devices.size() << " partitions, but got "
                         << attribute;
  }
  return success();
}

LogicalResult CopiedConstantAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                         int64_t offset, int64_t bytes, int64_t device) {
  if (offset < 0 || bytes < 0 || device < 1)
    return emitError() << "expected bytes of the constants and a device other than the caller's";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory of planned entries
//===----------------------------------------------------------------------===//

/// Returns true if the attribute is a slot in the arena of the entry that contains `op`.
static bool isSlot(Operation *op, Attribute attribute) {
  auto slot = dyn_cast<SlotAttr>(attribute);
  auto entry = op->getParentOfType<dfg::EntryOp>();
  auto arena = entry ? entry->getAttrOfType<ArenaAttr>(kArenaAttr) : ArenaAttr();
  return slot && arena && slot.getRegion() < arena.getCounts().size() &&
         slot.getOffset() < arena.getCounts()[slot.getRegion()];
}

static bool isMemoryOf(Operation *op, Type type, Attribute attribute) {
  if (isa<dfg::ListType>(type))
    return isa<UnitAttr, ChunkAttr>(attribute);
  return isa<UnitAttr>(attribute) || isSlot(op, attribute);
}

/// Returns true if the attribute is a list with the memory of each result.
static bool isMemoryOfResults(Operation *op, Attribute attribute) {
  auto memory = dyn_cast<ArrayAttr>(attribute);
  if (!memory || memory.size() != op->getNumResults())
    return false;
  return llvm::all_of(llvm::zip_equal(memory, op->getResultTypes()), [&](auto pair) {
    return isMemoryOf(op, std::get<1>(pair), std::get<0>(pair));
  });
}

static bool areTapes(Operation *op, Attribute attribute) {
  auto tapes = dyn_cast<ArrayAttr>(attribute);
  return isa<dfg::EntryOp>(op) && tapes && llvm::all_of(tapes, llvm::IsaPred<FlatSymbolRefAttr>);
}

static constexpr StringLiteral kEntryAttr = "rt.entry";

void tfc::rt::setEntryFunction(LLVM::LLVMFuncOp function) {
  function->setAttr(kEntryAttr, UnitAttr::get(function.getContext()));
}

bool tfc::rt::isEntryFunction(LLVM::LLVMFuncOp function) { return function->hasAttr(kEntryAttr); }

static bool isValid(Operation *op, StringRef name, Attribute value) {
  if (name == kEntryAttr)
    return isa<LLVM::LLVMFuncOp>(op) && isa<UnitAttr>(value);
  if (name == kArenaAttr)
    return isa<dfg::EntryOp>(op) && isa<ArenaAttr>(value);
  if (name == kTapesAttr)
    return areTapes(op, value);
  if (name == kPartitioningAttr)
    return isa<LLVM::LLVMFuncOp>(op) && isa<PartitioningAttr>(value);
  if (name == kOnGpuAttr)
    return isa<LLVM::LLVMFuncOp>(op) && isa<DenseI64ArrayAttr>(value);
  if (name == kVariableDevicesAttr)
    return isa<ModuleOp>(op) && isa<DenseI64ArrayAttr>(value);
  if (name == kCopiedConstantsAttr) {
    auto constants = dyn_cast<ArrayAttr>(value);
    return isa<ModuleOp>(op) && constants &&
           llvm::all_of(constants, llvm::IsaPred<CopiedConstantAttr>);
  }
  if (name == kScratchAttr)
    return isa<dfg::LaunchOp, dfg::SendOp>(op) && isSlot(op, value);
  if (name == kAlternateAttr)
    return isa<dfg::WhileOp>(op) && isMemoryOfResults(op, value);
  return name == kMemoryAttr && isMemoryOfResults(op, value);
}

LogicalResult RtDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (isValid(op, attribute.getName(), attribute.getValue()))
    return success();
  return op->emitOpError("has an invalid attribute '") << attribute.getName().getValue() << "'";
}
