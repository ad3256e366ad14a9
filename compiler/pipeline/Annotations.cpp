// What stages say to later ones of single operations in entries. Modules that are read may hold
// anything there.

#include "compiler/pipeline/Pipeline.h"
#include "dialects/dfg/HostForm.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

static LogicalResult failWith(Operation *op, StringRef attribute) {
  return op->emitOpError("has an invalid attribute '") << attribute << "'";
}

/// Carried tensors.
static bool areSingleBuffers(Operation *op, Attribute attribute) {
  auto carried = dyn_cast<DenseI64ArrayAttr>(attribute);
  return isa<dfg::WhileOp>(op) && carried && llvm::all_of(carried.asArrayRef(), [&](int64_t i) {
           return i >= 0 && i < op->getNumResults() &&
                  isa<RankedTensorType>(op->getResultTypes()[i]);
         });
}

static bool isInRegister(Operation *op, Attribute attribute) {
  return isa<UnitAttr>(attribute) && isa<dfg::ScalarOpInterface>(op) &&
         llvm::all_of(op->getOperandTypes(), dfg::isRegisterType) &&
         llvm::all_of(op->getResultTypes(), dfg::isRegisterType);
}

/// An attribute, and whether an operation may have it with that value.
struct Annotation {
  StringLiteral name;
  bool (*isValid)(Operation *op, Attribute attribute);
};

static constexpr Annotation kAnnotations[] = {
    {"tfc.single", areSingleBuffers},
    {"tfc.register", isInRegister},
};

static LogicalResult verifyOther(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    for (const Annotation &annotation : kAnnotations)
      if (attribute.getName() == annotation.name && !annotation.isValid(op, attribute.getValue()))
        return failWith(op, annotation.name);
  return success();
}

/// Checks that there are entries, which describe the model; code generation replaces them by
/// functions.
static LogicalResult verifyEntriesExist(ModuleOp module) {
  if (!module.getOps<dfg::EntryOp>().empty())
    return success();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function.getName().starts_with("tfc_entry_"))
      return function.emitError("the entries of this module have already been compiled to code and "
                                "cannot be called; expected the output of a stage before 'host'");
  return success();
}

LogicalResult tfc::verifyAnnotations(ModuleOp module) {
  if (failed(verifyEntriesExist(module)))
    return failure();
  WalkResult result = module.walk([&](Operation *op) {
    return failed(verifyOther(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
