//===- FormKernels.cpp - Outlining groups into kernels --------------------===//
//
// Runs after simplify, so that kernels contain no dead or repeated work, and
// before lowering, which works on whole kernels.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/Grouping.h"
#include "compiler/fusion/HostValues.h"
#include "compiler/fusion/KernelSymbols.h"
#include "compiler/fusion/MessageOrder.h"
#include "compiler/fusion/Passes.h"
#include "compiler/fusion/RepeatInputs.h"
#include "compiler/fusion/SharedHeads.h"
#include "compiler/fusion/StoredViews.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/HostForm.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::fusion;

namespace tfc {
#define GEN_PASS_DEF_FORMKERNELS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

namespace {

/// Kernels are equal if they are equivalent except for their names.
struct KernelInfo : DenseMapInfo<KernelOp> {
  static DictionaryAttr attributesOf(KernelOp kernel) {
    NamedAttrList attributes(kernel->getAttrDictionary());
    attributes.erase(kernel.getSymNameAttrName());
    return attributes.getDictionary(kernel.getContext());
  }

  static unsigned getHashValue(KernelOp kernel) {
    llvm::hash_code hash = hash_value(attributesOf(kernel));
    kernel.getBody().walk([&](Operation *op) {
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::ignoreHashValue,
                                                  OperationEquivalence::IgnoreLocations));
    });
    return hash;
  }

  static bool isEqual(KernelOp lhs, KernelOp rhs) {
    if (lhs == rhs || lhs == getEmptyKey() || lhs == getTombstoneKey() || rhs == getEmptyKey() ||
        rhs == getTombstoneKey())
      return lhs == rhs;
    return attributesOf(lhs) == attributesOf(rhs) &&
           OperationEquivalence::isRegionEquivalentTo(&lhs.getBody(), &rhs.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  }
};

using KernelSet = DenseSet<KernelOp, KernelInfo>;

/// Outlines the groups of one entry. Launches are inserted before the host operations that need
/// them, in the order of a depth-first search.
class Outliner {
public:
  Outliner(Block &block, const Grouping &grouping, SymbolTable &symbols, KernelSet &kernels)
      : block(block), grouping(grouping), messages(block, grouping), symbols(symbols),
        kernels(kernels) {}

  void run();

private:
  /// An operation of the host or a group, and what has to run before it.
  struct Step {
    Operation *op; // null for a group
    int group;
    bool isMoved = false; // before its place in the block
    SmallVector<Operation *> before = {};
    size_t next = 0;
  };

  void collectOutputs();
  void place(Operation *op);
  void enter(Operation *op);
  void addBefore(Step &step, ValueRange inputs);
  void moveRepeatedInputs(Operation *op);
  void finish(const Step &step);
  void outline(int id);
  void cloneInto(OpBuilder &b, Operation *op, IRMapping &mapping);
  void collectInputs(Operation *op, int id, llvm::SetVector<Value> &inputs);
  KernelOp deduplicate(KernelOp kernel);
  std::string nameFor(const Group &group);

  Block &block;
  const Grouping &grouping;
  MessageOrder messages;
  SymbolTable &symbols;
  KernelSet &kernels;
  DenseMap<int, llvm::SetVector<Value>> outputs;
  IRMapping launched; // old value -> result of a launch
  DenseMap<int, llvm::SetVector<Value>> inputs;
  llvm::SmallDenseSet<Operation *> placed;
  llvm::SmallDenseSet<int> outlined;
  std::vector<Step> steps;        // that are being placed, each for the one before it
  SmallVector<Operation *> order; // the operations of the host among them
};
} // namespace

/// Collects the values of a group that are read outside of it, by other kernels or the host.
void Outliner::collectOutputs() {
  for (Operation &op : block) {
    int reader = grouping.groupOf(&op);
    if (reader < 0 && !Grouping::staysInHost(&op))
      continue;
    llvm::SetVector<Value> inputs;
    collectInputs(&op, reader, inputs);
    for (Value input : inputs)
      if (Operation *producer = input.getDefiningOp(); producer && grouping.groupOf(producer) >= 0)
        outputs[grouping.groupOf(producer)].insert(input);
  }
}

/// Collects the values that `op` reads from outside group `id`, looking through operations that are
/// repeated in it.
void Outliner::collectInputs(Operation *op, int id, llvm::SetVector<Value> &inputs) {
  grouping.forEachSource(op, [&](Value read) {
    Operation *producer = read.getDefiningOp();
    if (!producer || id < 0 || grouping.groupOf(producer) != id)
      inputs.insert(read);
  });
}

void Outliner::run() {
  collectOutputs();
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (Grouping::staysInHost(op))
      place(op);
  // Erases host operations without uses.
  for (Operation *op : llvm::reverse(ops))
    if (!Grouping::staysInHost(op) && op->use_empty())
      op->erase();
}

/// Makes all operands of `op` available by inserting launches before it.
void Outliner::place(Operation *op) {
  enter(op);
  while (!steps.empty()) {
    Step &step = steps.back();
    if (step.next < step.before.size()) {
      enter(step.before[step.next++]);
      continue;
    }
    finish(step);
    steps.pop_back();
  }
}

/// Starts to place `op`, or the group that computes it.
void Outliner::enter(Operation *op) {
  int id = grouping.groupOf(op);
  if (id >= 0 ? !outlined.insert(id).second : !placed.insert(op).second)
    return;
  llvm::SetVector<Value> read;
  if (id >= 0) {
    Step &step = steps.emplace_back(Step{nullptr, id});
    for (Operation *member : grouping.getGroups()[id].ops) {
      grouping.forEachPrevious(member, [&](Operation *other) { step.before.push_back(other); });
      collectInputs(member, id, read);
    }
    addBefore(step, read.getArrayRef());
    inputs[id] = std::move(read);
    return;
  }
  // A merged kernel may be launched for an operation before this one.
  bool isMoved = !order.empty() && order.back()->isBeforeInBlock(op);
  if (isMoved)
    op->moveBefore(order.back());
  collectInputs(op, -1, read);
  order.push_back(op);
  Step &step = steps.emplace_back(Step{op, -1, isMoved});
  messages.forEachBefore(op, [&](Operation *other) { step.before.push_back(other); });
  grouping.forEachPrevious(op, [&](Operation *other) { step.before.push_back(other); });
  addBefore(step, read.getArrayRef());
}

void Outliner::addBefore(Step &step, ValueRange inputs) {
  for (Value input : inputs)
    if (Operation *producer = input.getDefiningOp(); producer && producer->getBlock() == &block)
      step.before.push_back(producer);
}

/// Moves operations that kernels repeat before the operation that reads them.
void Outliner::moveRepeatedInputs(Operation *op) {
  SmallVector<Operation *> readers{op};
  while (!readers.empty()) {
    Operation *reader = readers.pop_back_val();
    forEachRead(reader, [&](Value read) {
      Operation *producer = read.getDefiningOp();
      if (!producer || producer->getBlock() != &block || producer->isBeforeInBlock(reader))
        return;
      producer->moveBefore(reader);
      readers.push_back(producer);
    });
  }
}

void Outliner::finish(const Step &step) {
  if (!step.op)
    return outline(step.group);
  order.pop_back();
  if (step.isMoved)
    moveRepeatedInputs(step.op);
  for (OpOperand &operand : step.op->getOpOperands())
    operand.set(launched.lookupOrDefault(operand.get()));
}

/// Copies `op` after the operations before it that are repeated in its kernel.
void Outliner::cloneInto(OpBuilder &b, Operation *op, IRMapping &mapping) {
  SmallVector<std::pair<Operation *, unsigned>> work{{op, 0}};
  while (!work.empty()) {
    auto &[reader, next] = work.back();
    if (next < reader->getNumOperands()) {
      Value operand = reader->getOperand(next++);
      if (!mapping.contains(operand))
        work.push_back({operand.getDefiningOp(), 0});
      continue;
    }
    b.clone(*reader, mapping);
    work.pop_back();
  }
}

/// Names kernels by their roots first, which is what readers of the IR or of a profile look for.
std::string Outliner::nameFor(const Group &group) {
  Operation *root = group.ops.back();
  for (Operation *op : llvm::reverse(group.ops))
    if (op->hasTrait<ContractionRole>() || op->hasTrait<ReductionRole>())
      root = op;
  return root->getName().stripDialect().str();
}

/// Removes the attributes that keep operations apart.
static void removePlacement(Operation *op) {
  op->removeAttr(kDeviceAttr);
  op->removeAttr(kEpochAttr);
}

/// The entry that a block is in.
static EntryOp entryOf(Block &block) {
  auto entry = dyn_cast<EntryOp>(block.getParentOp());
  return entry ? entry : block.getParentOp()->getParentOfType<EntryOp>();
}

/// The kind of the device on which a block of an entry runs.
static std::string kindOf(Block &block) {
  DeviceAttr device = entryOf(block).getDeviceAttr();
  return device ? device.getDevice().kind : callersDevice().kind;
}

void Outliner::outline(int id) {
  const Group &group = grouping.getGroups()[id];
  llvm::SetVector<Value> inputs = std::move(this->inputs[id]);
  ArrayRef<Value> results = outputs[id].getArrayRef();
  OpBuilder b(block.getParentOp());
  SmallVector<Location> locations;
  for (Operation *op : group.ops)
    locations.push_back(op->getLoc());
  Location loc = b.getFusedLoc(locations);
  auto type = b.getFunctionType(llvm::to_vector(ValueRange(inputs.getArrayRef()).getTypes()),
                                llvm::to_vector(ValueRange(results).getTypes()));
  auto kernel = KernelOp::create(b, loc, nameFor(group), type);
  Block &body = kernel.getBody().front();
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), body.getArguments());
  b.setInsertionPointToStart(&body);
  for (Operation *op : group.ops)
    cloneInto(b, op, mapping);
  for (Operation &op : body)
    removePlacement(&op);
  // Code depends on the kind of a device, and devices of one kind share it.
  if (std::string kind = kindOf(block); kind != callersDevice().kind)
    kernel->setAttr(
        kDeviceAttr,
        DeviceAttr::get(b.getContext(), b.getStringAttr(DeviceName{"", {}, kind, {}}.str())));
  SmallVector<Value> returned;
  for (Value result : results)
    returned.push_back(mapping.lookup(result));
  tfc::dfg::ReturnOp::create(b, loc, returned);

  KernelSymbols names;
  names.renameIn(kernel);
  b.setInsertionPoint(order.empty() ? block.getTerminator() : order.back());
  kernel.setSymbolsAttr(names.getNames(b));
  kernel = deduplicate(kernel);

  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(launched.lookupOrDefault(input));
  auto launch =
      LaunchOp::create(b, loc, ValueRange(results).getTypes(), kernel.getSymName(), operands,
                       DimsAttr::get(b.getContext(), names.getSizes()), ArrayAttr());
  launched.map(results, launch.getOutputs());
  // Regions of host operations capture the values.
  auto isNested = [&](OpOperand &use) { return use.getOwner()->getBlock() != &block; };
  for (auto [i, output] : llvm::enumerate(launch.getOutputs()))
    Value(results[i]).replaceUsesWithIf(output, isNested);
}

/// Returns an equivalent existing kernel, or this one under a unique name.
KernelOp Outliner::deduplicate(KernelOp kernel) {
  auto [it, inserted] = kernels.insert(kernel);
  if (!inserted) {
    kernel.erase();
    return *it;
  }
  kernel.setSymName(("kernel_" + Twine(kernels.size() - 1) + "_" + kernel.getSymName()).str());
  kernel->remove();
  symbols.insert(kernel);
  return kernel;
}

/// Prints one line per kernel, its name and its operations, and how many operations and kernels the
/// searches that formed them visited.
static void report(ModuleOp module, int64_t visits) {
  for (auto kernel : module.getOps<KernelOp>()) {
    llvm::errs() << kernel.getSymName() << ':';
    for (Operation &op : kernel.getBody().front().without_terminator())
      llvm::errs() << ' ' << op.getName().stripDialect();
    llvm::errs() << '\n';
  }
  llvm::errs() << "forming kernels: " << visits << " visits\n";
}

/// Pushes every value that a kernel will compute, at the end of the block. The kernels have already
/// been chosen, so these reads do not change them.
static void addProbes(Block &block, const Grouping &grouping, ModuleOp module, int64_t &number) {
  SmallVector<Value> values;
  for (Operation &op : block)
    if (grouping.groupOf(&op) >= 0)
      llvm::append_range(values, op.getResults());
  OpBuilder b(block.getTerminator());
  for (Value value : values) {
    std::string name = "tfc.probe_" + std::to_string(number);
    OpBuilder declarations = OpBuilder::atBlockBegin(module.getBody());
    TapeOp::create(declarations, value.getLoc(), name, cast<RankedTensorType>(value.getType()),
                   DimsAttr());
    auto op = b.getStringAttr(value.getDefiningOp()->getName().stripDialect());
    PushOp::create(b, value.getLoc(), name, value, ProbeAttr::get(b.getContext(), number++, op));
  }
}

namespace {
struct FormKernelsPass : tfc::impl::FormKernelsBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    KernelSet kernels;
    visits = 0;
    for (auto entry : llvm::to_vector(getOperation().getOps<EntryOp>())) {
      if (fuse && kindOf(entry.getBody().front()) == "cpu")
        storeTransposedFactors(entry);
      prepareHostValues(entry);
      inputs.clear();
      attention.clear();
      bool isOnGpu = kindOf(entry.getBody().front()) == "gpu";
      AttentionLimits limits = isOnGpu ? AttentionLimits::ofGpu() : AttentionLimits::ofCpu();
      if (fuse && joinAttention)
        entry.walk([&](Block *block) {
          moveSharedHeads(*block);
          formAttention(*block, limits, attention);
        });
      if (fuse)
        entry.walk([&](Block *block) { repeatReductionInputs(*block, inputs); });
      RunTimeSizes sizes(entry);
      form(entry.getBody().front(), sizes, symbols, kernels);
      entry.walk([&](LaunchOp) { ++launchCount; });
      entry.walk(removePlacement);
    }
    if (probe != 0)
      DfgDialect::ProbeFunctionAttrHelper(&getContext())
          .setAttr(getOperation(), Builder(&getContext()).getI64IntegerAttr(probe));
    kernelCount += kernels.size();
    if (printReport)
      ::report(getOperation(), visits);
  }

private:
  int64_t probeCount = 0, visits = 0;
  DenseSet<Operation *> inputs; // operations copied for reductions
  AttentionKernels attention;

  /// Processes outer blocks first, so that the regions in them read results of launches.
  void form(Block &block, const RunTimeSizes &sizes, SymbolTable &symbols, KernelSet &kernels) {
    Grouping grouping(block, sizes, inputs, attention, fuse);
    visits += grouping.getVisits();
    if (probe != 0 && !entryOf(block).getInitializer())
      addProbes(block, grouping, getOperation(), probeCount);
    Outliner(block, grouping, symbols, kernels).run();
    for (Operation &op : llvm::make_early_inc_range(block))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          form(nested, sizes, symbols, kernels);
  }
};
} // namespace
