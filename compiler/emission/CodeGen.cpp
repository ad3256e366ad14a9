// Splits a module into groups, translates each to LLVM IR, optimises it and generates machine code.
// All use of LLVM's code generators is in this file.
#include "compiler/emission/CodeGen.h"
#include "compiler/emission/Legalize.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Names.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::emission;

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

static llvm::CodeGenOptLevel codeGenLevel(unsigned level) {
  return *llvm::CodeGenOpt::getLevel(std::min(level, 3u));
}

/// Limits the accesses to memory that LLVM's schedulers compare pairwise in one block. With LLVM's
/// limit, blocks of a few hundred loads and stores, such as those of chains with many results, take
/// most of the time of a compilation. LLVM has no other interface to the limit than this option.
static bool limitScheduling() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto option = options.find("dag-maps-huge-region");
  return option != options.end() &&
         !option->second->addOccurrence(0, "dag-maps-huge-region", "200");
}

std::unique_ptr<llvm::TargetMachine>
tfc::emission::makeTargetMachine(const EmissionOptions &options, std::string &error) {
  [[maybe_unused]] static const bool isLimited = limitScheduling();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  // For inline assembly in modules read from files.
  llvm::InitializeAllAsmParsers();
  llvm::Triple triple(options.target.getTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions targetOptions;
  targetOptions.FunctionSections = true;
  targetOptions.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, options.target.getProcessor(), options.target.getFeatures(), targetOptions,
      llvm::Reloc::PIC_, std::nullopt, codeGenLevel(options.optLevel)));
}

CodeUnit tfc::emission::makeUnit(StringRef name, const llvm::TargetMachine &target) {
  CodeUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = std::make_unique<llvm::Module>(name, *unit.context);
  unit.module->setDataLayout(target.createDataLayout());
  unit.module->setTargetTriple(target.getTargetTriple());
  return unit;
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Operations per group: enough to make the fixed cost of a module negligible.
static constexpr size_t kGroupSize = 1500;

namespace {

using LLVM::GlobalOp;
using LLVM::LLVMFuncOp;
using Group = std::vector<Operation *>;

/// Moves the symbols of a module into separate modules, with declarations of the symbols that they
/// use.
class Splitter {
public:
  explicit Splitter(ModuleOp module) : module(module), symbols(module) {}

  std::vector<OwningOpRef<ModuleOp>> split(bool whole) {
    for (Operation &op : *module.getBody())
      expose(&op);
    std::vector<Group> groups = formGroups(whole);
    // Declarations are cloned from the definitions, so create all of them before moving anything.
    std::vector<OwningOpRef<ModuleOp>> result;
    for (Group &group : groups) {
      result.push_back(ModuleOp::create(module.getLoc()));
      declareUses(group, *result.back());
    }
    for (auto [group, target] : llvm::zip(groups, result))
      for (Operation *op : group)
        op->moveBefore(target->getBody(), target->getBody()->end());
    return result;
  }

private:
  /// Returns true for a constant that each group gets a copy of, so that LLVM can see its value.
  static bool isPrivateConstant(Operation *op) {
    auto global = dyn_cast<GlobalOp>(op);
    return global && global.getConstant() && !isDeclaration(op) &&
           (global.getLinkage() == LLVM::Linkage::Internal ||
            global.getLinkage() == LLVM::Linkage::Private);
  }

  static bool isDeclaration(Operation *op) {
    if (auto function = dyn_cast<LLVMFuncOp>(op))
      return function.isExternal();
    auto global = dyn_cast<GlobalOp>(op);
    return global && !global.getValueOrNull() && global.getInitializerRegion().empty();
  }

  /// Makes a definition visible to the other groups, but not outside the model.
  static void expose(Operation *op) {
    if (isPrivateConstant(op) || isDeclaration(op))
      return;
    if (auto function = dyn_cast<LLVMFuncOp>(op)) {
      function.setLinkage(LLVM::Linkage::External);
      function.setVisibility_(LLVM::Visibility::Hidden);
    } else if (auto global = dyn_cast<GlobalOp>(op)) {
      global.setLinkage(LLVM::Linkage::External);
      global.setVisibility_(LLVM::Visibility::Hidden);
    }
  }

  /// Forms groups of bounded size from kernels with their tasks, in order; the last group has
  /// everything else.
  std::vector<Group> formGroups(bool whole) {
    std::vector<Group> groups;
    Group host;
    size_t size = 0;
    llvm::DenseSet<Operation *> taken;
    auto add = [&](Operation *op) {
      taken.insert(op);
      groups.back().push_back(op);
      op->walk([&](Operation *) { ++size; });
    };
    for (auto kernel : module.getOps<LLVMFuncOp>()) {
      if (whole || !kernel::abiOf(kernel) || kernel.isExternal())
        continue;
      if (groups.empty() || size > kGroupSize) {
        groups.emplace_back();
        size = 0;
      }
      add(kernel);
      if (Operation *task = symbols.lookup(rt::taskName(kernel.getName())))
        add(task);
    }
    for (Operation &op : *module.getBody())
      if (isa<LLVMFuncOp, GlobalOp>(op) && !taken.contains(&op) &&
          (whole || (!isPrivateConstant(&op) && !isDeclaration(&op))))
        host.push_back(&op);
    groups.push_back(std::move(host));
    return groups;
  }

  void declareUses(const Group &group, ModuleOp target) {
    llvm::DenseSet<Operation *> present(group.begin(), group.end());
    std::vector<Operation *> pending(group.begin(), group.end());
    while (!pending.empty()) {
      Operation *user = pending.back();
      pending.pop_back();
      std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(user);
      if (!uses)
        continue;
      for (SymbolTable::SymbolUse use : *uses) {
        Operation *used = symbols.lookup(use.getSymbolRef().getRootReference());
        if (!used || !present.insert(used).second)
          continue;
        target.getBody()->push_back(declare(used));
        if (isPrivateConstant(used))
          pending.push_back(used);
      }
    }
  }

  static Operation *declare(Operation *op) {
    if (isPrivateConstant(op))
      return op->clone();
    Operation *copy = op->cloneWithoutRegions();
    if (auto global = dyn_cast<GlobalOp>(copy))
      global.removeValueAttr();
    return copy;
  }

  ModuleOp module;
  SymbolTable symbols;
};

} // namespace

std::vector<OwningOpRef<ModuleOp>> tfc::emission::splitModule(ModuleOp module, bool whole) {
  return Splitter(module).split(whole);
}

//===----------------------------------------------------------------------===//
// Translation, optimisation, code
//===----------------------------------------------------------------------===//

static void renameSymbol(llvm::GlobalObject &object, StringRef prefix) {
  if (object.isDeclaration() && !object.hasHiddenVisibility())
    return;
  object.setName(prefix + "." + object.getName());
}

FailureOr<CodeUnit> tfc::emission::translate(ModuleOp module, const llvm::TargetMachine &target,
                                             StringRef prefix) {
  CodeUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  unit.module = translateModuleToLLVMIR(module, *unit.context, prefix);
  if (!unit.module)
    return failure();
  unit.module->setDataLayout(target.createDataLayout());
  unit.module->setTargetTriple(target.getTargetTriple());
  if (llvm::GlobalVariable *weights = unit.module->getNamedGlobal(rt::kWeightsName)) {
    weights->setVisibility(llvm::GlobalValue::HiddenVisibility);
    // Weights may be too large for instruction-relative addresses.
    if (target.getTargetTriple().isX86())
      weights->setCodeModel(llvm::CodeModel::Large);
  }
  for (llvm::Function &function : *unit.module) {
    if (function.isIntrinsic())
      continue;
    renameSymbol(function, prefix);
    function.setDoesNotThrow();
    // The runtime sets this mode of the processor for the duration of a call.
    function.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
  }
  for (llvm::GlobalVariable &global : unit.module->globals())
    renameSymbol(global, prefix);
  return unit;
}

/// The only lane that a constant mask enables; std::nullopt if there are more or none.
static std::optional<unsigned> onlyLane(const llvm::Value *mask) {
  auto constant = dyn_cast<llvm::Constant>(mask);
  auto type = dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> only;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const llvm::Constant *element = constant->getAggregateElement(lane);
    if (!element || !isa<llvm::ConstantInt>(element))
      return std::nullopt;
    if (element->isNullValue())
      continue;
    if (only)
      return std::nullopt;
    only = lane;
  }
  return only;
}

/// Replaces masked stores of one lane by stores of that element.
///
/// The x86 backend of LLVM 22 does this as well, but for a truncated vector it stores the wide
/// element and overwrites the following bytes.
static void storeSingleLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
        auto *store = dyn_cast<llvm::IntrinsicInst>(&instruction);
        if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
          continue;
        llvm::Value *vector = store->getArgOperand(0), *pointer = store->getArgOperand(1);
        std::optional<unsigned> lane = onlyLane(store->getArgOperand(2));
        if (!lane)
          continue;
        llvm::IRBuilder<> builder(store);
        llvm::Value *element = builder.CreateExtractElement(vector, *lane);
        llvm::Value *place = builder.CreateConstGEP1_64(element->getType(), pointer, *lane);
        llvm::Align elementAlign(
            std::max<uint64_t>(1, element->getType()->getScalarSizeInBits() / 8));
        builder.CreateAlignedStore(element, place,
                                   std::min(elementAlign, store->getParamAlign(1).valueOrOne()));
        store->eraseFromParent();
      }
}

/// Marks the beginning of each stack buffer's lifetime. LLVM 22 merges vectors that are stored to a
/// buffer and loaded from it as one, and creates uses before definitions if they were stored from
/// the last to the first; it does not touch buffers with other uses.
static void beginLifetimes(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : llvm::make_early_inc_range(block)) {
        auto *buffer = dyn_cast<llvm::AllocaInst>(&instruction);
        if (buffer && buffer->isStaticAlloca())
          llvm::IRBuilder<>(buffer->getNextNode()).CreateLifetimeStart(buffer);
      }
}

void tfc::emission::optimize(llvm::Module &module, llvm::TargetMachine &target, unsigned level) {
  // The emitters of kernels have unrolled what gains from it, and remainders have few iterations.
  // LLVM would unroll both again, which is a sixth of the time of a compilation and a third of the
  // code, without faster kernels. Another pass unrolls loops of a few constant iterations; it runs.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](StringRef pass, const llvm::Any &) { return pass != "LoopUnrollPass"; });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target, {}, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  using Level = llvm::OptimizationLevel;
  static const Level kLevels[] = {Level::O0, Level::O1, Level::O2, Level::O3};
  Level chosen = kLevels[std::min(level, 3u)];
  llvm::ModulePassManager passes = chosen == Level::O0
                                       ? builder.buildO0DefaultPipeline(chosen)
                                       : builder.buildPerModuleDefaultPipeline(chosen);
  legalize(module, target);
  beginLifetimes(module);
  passes.run(module, modules);
  legalize(module, target);
  storeSingleLanes(module);
}

bool tfc::emission::generateCode(llvm::Module &module, llvm::TargetMachine &target,
                                 llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &out) {
  llvm::raw_svector_ostream stream(out);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  return true;
}
