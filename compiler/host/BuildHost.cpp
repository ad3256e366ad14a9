// Turns entries into host functions. Runs after the memory plan, which determines addresses, and
// after the generation of kernels, whose ABI determines how they are launched.

#include "compiler/host/EntryFunctions.h"
#include "compiler/host/PartitionedRun.h"
#include "compiler/host/Passes.h"
#include "compiler/host/RunFunction.h"
#include "dialects/dfg/Partitions.h"
#include "dialects/rt/Names.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

namespace tfc {
#define GEN_PASS_DEF_BUILDHOST
#include "compiler/host/Passes.h.inc"
} // namespace tfc

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

/// Returns the size of the arena for the largest call, in bytes or as an expression.
static std::string describe(rt::ArenaAttr arena) {
  DimExpr total;
  for (auto [count, unit] : llvm::zip_equal(arena.getCounts(), arena.getUnits().getExprs()))
    total = total + unit * DimExpr(count);
  return total.str();
}

static void report(StringRef name, rt::ArenaAttr arena, const HostCounts &counts) {
  llvm::errs() << name << ": arena of " << describe(arena) << " bytes, " << counts.launches
               << " launches, " << counts.inPlace << " results in place, " << counts.copies
               << " copies, " << counts.checks << " checks\n";
}

/// Prints the memory of an instance besides the arena, which its entries share, and the weights.
static void report(const ModelInfo &model, const HostModule &host) {
  int64_t bytes = 0;
  for (const VariableInfo &variable : model.variables)
    bytes += bytesOf(variable.type).constant().value_or(0);
  llvm::errs() << model.variables.size() << " variables of " << bytes << " bytes, weights of "
               << host.getWeightBytes() << " bytes\n";
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns true if the name is that of an entry's function or of a function defined by the runtime.
static bool isReserved(Operation &op, StringRef name) {
  if (name.starts_with("tfc_rt_"))
    return !cast<SymbolOpInterface>(op).isDeclaration();
  return name.starts_with(rt::kEntryPrefix) || name == rt::kWeightsName;
}

static LogicalResult checkNames(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (name && isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op) && isReserved(op, name.getValue()))
      return op.emitOpError("has a name that is reserved for generated code: ") << name;
  }
  return success();
}

namespace {
struct BuildHostPass : tfc::impl::BuildHostBase<BuildHostPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ModelInfo> model = describeModel(module);
    if (failed(model) || failed(checkNames(module)))
      return signalPassFailure();
    HostModule host(module);
    for (auto entry : llvm::to_vector(module.getOps<EntryOp>()))
      if (!entry.isPartition() &&
          failed(build(host, entry, model->infoOf(entry), model->numberOf(entry))))
        return signalPassFailure();
    host.finish();
    if (printReport)
      ::report(*model, host);
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (op.hasTrait<DeclarationRole>())
        op.erase();
  }

private:
  LogicalResult build(HostModule &host, EntryOp entry, const EntryInfo &info, unsigned number) {
    buildShapesFunction(host, entry, info, number);
    buildFoundFunction(host, entry, info, number);
    if (!entry.getPartitions())
      return buildRun(host, entry, info, number, "run", rt::arenaName(0));
    SmallVector<EntryOp> partitions = partitionsOf(entry, host.getSymbols());
    HostCounts counts;
    buildPartitionedRun(host, partitions, info, number, counts);
    for (auto [i, partition] : llvm::enumerate(partitions))
      if (failed(buildRun(host, partition, info, number, rt::partitionName(i), rt::arenaName(i))))
        return failure();
    return success();
  }

  /// Builds the functions that differ from one partition of an entry to another.
  LogicalResult buildRun(HostModule &host, EntryOp entry, const EntryInfo &info, unsigned number,
                         StringRef run, StringRef size) {
    auto arena = entry->getAttrOfType<rt::ArenaAttr>(rt::kArenaAttr);
    if (!arena)
      return entry.emitOpError("expects its memory in '")
             << rt::kArenaAttr << "', which 'tfc-allocate-arena' sets";
    if (failed(checkAllSteps(entry)))
      return failure();
    HostCounts counts;
    if (failed(RunFunction(host, entry, info, number, run, counts, trace).build()))
      return failure();
    buildArenaFunction(host, entry, info, number, size, arena);
    if (printReport)
      ::report(entry.getInitializer() ? "initializer" : entry.getSymName(), arena, counts);
    return success();
  }
};
} // namespace
