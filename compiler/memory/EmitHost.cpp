//===- EmitHost.cpp - Entries to host functions ---------------------------===//
//
// Stands after the kernels' code is generated: the arena holds their scratch.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/HostFunction.h"
#include "compiler/memory/Passes.h"
#include "compiler/memory/Places.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

namespace tfc {
#define GEN_PASS_DEF_EMITHOST
#include "compiler/memory/Passes.h.inc"
} // namespace tfc

//===----------------------------------------------------------------------===//
// What host functions share
//===----------------------------------------------------------------------===//

HostModule::HostModule(ModuleOp module) : module(module), symbols(module) {
  for (auto variable : module.getOps<VariableOp>())
    variableNumbers.try_emplace(variable.getSymNameAttr(), variableNumbers.size());
  for (auto queue : module.getOps<QueueOp>())
    queueNumbers.try_emplace(queue.getSymNameAttr(), queueNumbers.size());
}

LLVM::LLVMFuncOp HostModule::addFunction(const Twine &name, Type result, ArrayRef<Type> arguments,
                                         Location loc) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, arguments);
  auto function = LLVM::LLVMFuncOp::create(b, loc, name.str(), type);
  symbols.insert(function);
  return function;
}

LLVM::LLVMFuncOp HostModule::runtime(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(name))
    return known;
  return addFunction(name, result, arguments, module.getLoc());
}

Value HostModule::text(OpBuilder &b, Location loc, StringRef text) {
  LLVM::GlobalOp &global = texts[text];
  if (!global) {
    OpBuilder top(module.getContext());
    top.setInsertionPointToEnd(module.getBody());
    std::string bytes = text.str() + '\0';
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    std::string name = "tfc_text_" + std::to_string(texts.size() - 1);
    global = LLVM::GlobalOp::create(top, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name, top.getStringAttr(bytes));
    symbols.insert(global);
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

Value HostModule::weight(OpBuilder &b, Location loc, ElementsAttr value) {
  auto global = symbols.lookup<LLVM::GlobalOp>("tfc_weights");
  if (!global) {
    OpBuilder top(module.getContext());
    top.setInsertionPointToEnd(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    global = LLVM::GlobalOp::create(top, module.getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::External, "tfc_weights", Attribute());
    global.setVisibility_(LLVM::Visibility::Hidden);
    symbols.insert(global);
  }
  auto [it, inserted] = weights.insert({value, weightBytes});
  if (inserted) {
    int64_t bytes = value.getNumElements() * elementBytes(value.getElementType());
    weightBytes += llvm::alignTo(bytes, 64);
  }
  Value base = LLVM::AddressOfOp::create(b, loc, global);
  Value offset = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(it->second));
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

void HostModule::finish() {
  SmallVector<Attribute> all;
  for (auto &[value, offset] : weights)
    all.push_back(value);
  if (!all.empty())
    module->setAttr("tfc.weights", ArrayAttr::get(module.getContext(), all));
  if (chunkCount > 0)
    module->setAttr("tfc.chunks", Builder(module.getContext()).getI32IntegerAttr(chunkCount));
}

//===----------------------------------------------------------------------===//
// Shapes and arena
//===----------------------------------------------------------------------===//

static std::vector<std::string> symbolNames(const EntryInfo &info) {
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  return names;
}

/// Writes the dimensions of `types` to `dims`; the least number for those that overflow or are too
/// large, and all after an overflow.
static void storeDims(OpBuilder &b, Location loc, SizeBuilder &sizes, TypeRange types, Value dims,
                      function_ref<DimExpr(const DimExpr &)> sizeOf) {
  int32_t axis = 0;
  for (Type type : types)
    for (const DimExpr &size : shapeOf(type)) {
      Value place = LLVM::GEPOp::create(b, loc, dims.getType(), b.getI64Type(), dims,
                                        ArrayRef<LLVM::GEPArg>{axis++});
      Value dim = sizes.build(sizeOf(size));
      if (Value overflowed = sizes.overflowed()) {
        Value isLarge = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sgt, dim,
                                             sizes.constant(kMaxTensorBytes));
        overflowed = LLVM::OrOp::create(b, loc, overflowed, isLarge);
        dim = LLVM::SelectOp::create(b, loc, overflowed, sizes.constant(INT64_MIN), dim);
      }
      LLVM::StoreOp::create(b, loc, dim, place);
    }
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Writes the dimensions of all feeds, then of all fetches; sizes that the call finds count as the
/// most that they can be.
static void buildShapesFunction(HostModule &host, EntryOp entry, const EntryInfo &info,
                                unsigned number) {
  MLIRContext *context = entry.getContext();
  OpBuilder b(context);
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto function = host.addFunction("tfc_entry_" + Twine(number) + "_shapes",
                                   LLVM::LLVMVoidType::get(context), {pointer, pointer}, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), symbolNames(info));
  SmallVector<Type> types(entry.getArgumentTypes());
  llvm::append_range(types, entry.getResultTypes());
  if (entry->hasAttr(kMemoryLimit.attribute)) // else the bounds of the names limit all sizes
    sizes.watchOverflow();
  storeDims(b, loc, sizes, types, body->getArgument(1),
            [&](const DimExpr &size) { return info.atMost(size); });
}

/// Writes the dimensions that the fetches of a call had, from the sizes that it found.
static void buildFoundFunction(HostModule &host, EntryOp entry, const EntryInfo &info,
                               unsigned number) {
  if (info.found.empty())
    return;
  MLIRContext *context = entry.getContext();
  OpBuilder b(context);
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto function =
      host.addFunction("tfc_entry_" + Twine(number) + "_found", LLVM::LLVMVoidType::get(context),
                       {pointer, pointer, pointer}, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), symbolNames(info));
  for (auto [i, name] : llvm::enumerate(info.found)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), body->getArgument(1),
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    sizes.bind(name, LLVM::LoadOp::create(b, loc, b.getI64Type(), place), b);
  }
  storeDims(b, loc, sizes, entry.getResultTypes(), body->getArgument(2),
            [](const DimExpr &size) { return size; });
}

/// Gives the bytes of the arena, or -1 if they cannot be counted.
static void buildArenaFunction(HostModule &host, EntryOp entry, const EntryInfo &info,
                               unsigned number, const Arena &arena) {
  OpBuilder b(entry.getContext());
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function =
      host.addFunction("tfc_entry_" + Twine(number) + "_arena", b.getI64Type(), pointer, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), symbolNames(info));
  sizes.watchOverflow();
  Value total = sizes.constant(0);
  for (const Arena::Region &region : arena.getRegions()) {
    Value unit = sizes.build(region.unit);
    if (!region.unit.constant())
      unit = sizes.max(unit, sizes.constant(0));
    total = sizes.add(total, sizes.multiply(sizes.constant(region.units), unit));
  }
  if (Value overflowed = sizes.overflowed())
    total = LLVM::SelectOp::create(b, loc, overflowed, sizes.constant(-1), total);
  LLVM::ReturnOp::create(b, loc, total);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static void report(const EntryInfo &info, const Arena &arena, const HostCounts &counts) {
  llvm::errs() << (info.name.empty() ? "initializer" : info.name) << ": arena of "
               << arena.describe() << " bytes, " << counts.launches << " launches, "
               << counts.inPlace << " results in place, " << counts.copies << " copies, "
               << counts.checks << " checks\n";
}

/// What an instance needs besides the arena, which its entries share, and what the code brings
/// along.
static void report(const ModelInfo &model, const HostModule &host) {
  int64_t bytes = 0;
  for (const VariableInfo &variable : model.variables)
    bytes += bytesOf(variable.type).constant().value_or(0);
  llvm::errs() << model.variables.size() << " variables of " << bytes << " bytes, weights of "
               << host.getWeightBytes() << " bytes\n";
}

/// A module that is read may have been planned by somebody else.
static LogicalResult checkAllSteps(EntryOp entry) {
  WalkResult result = entry.walk([](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(checkSteps(block)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether `op` has the name of a function of an entry, or of one that the runtime defines.
static bool isReserved(Operation &op, StringRef name) {
  if (name.starts_with("tfc_rt_"))
    return !cast<SymbolOpInterface>(op).isDeclaration();
  return name.starts_with("tfc_entry_") || name == "tfc_weights";
}

static LogicalResult checkNames(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (name && isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op) && isReserved(op, name.getValue()))
      return op.emitOpError("has the name of generated code: ") << name;
  }
  return success();
}

namespace {
struct EmitHostPass : tfc::impl::EmitHostBase<EmitHostPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ModelInfo> model = describeModel(module);
    if (failed(model) || failed(checkNames(module)))
      return signalPassFailure();
    HostModule host(module);
    unsigned number = 0;
    for (auto entry : llvm::to_vector(module.getOps<EntryOp>())) {
      bool isInit = bool(entry.getInitializer());
      unsigned own = isInit ? model->entries.size() : number++;
      const EntryInfo &info = isInit ? *model->init : model->entries[own];
      if (failed(emit(host, entry, info, own)))
        return signalPassFailure();
    }
    host.finish();
    if (printReport)
      ::report(*model, host);
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<EntryOp>(op) || isa<VariableOp, TapeOp, QueueOp>(op))
        op.erase();
  }

private:
  LogicalResult emit(HostModule &host, EntryOp entry, const EntryInfo &info, unsigned number) {
    WalkResult known = entry.walk([&](LaunchOp launch) {
      if (host.getSymbols().lookup(launch.getKernel()))
        return WalkResult::advance();
      launch.emitOpError("expects ") << launch.getKernelAttr() << " to exist";
      return WalkResult::interrupt();
    });
    if (known.wasInterrupted() || failed(checkAllSteps(entry)))
      return failure();
    Arena arena(entry, info, host.getSymbols());
    if (arena.isTooLarge())
      return entry.emitError() << "no memory holds the values of '" << info.name
                               << "' for the largest sizes that its bounds allow [too-large]";
    HostCounts counts;
    if (failed(buildRunFunction(host, entry, info, number, arena, counts)))
      return failure();
    buildShapesFunction(host, entry, info, number);
    buildFoundFunction(host, entry, info, number);
    buildArenaFunction(host, entry, info, number, arena);
    if (printReport)
      ::report(info, arena, counts);
    return success();
  }
};
} // namespace
