//===- PartitionEntries.cpp - A function for each device of an entry ------===//
//
// Divides the entries of a placed module.
//
//===----------------------------------------------------------------------===//

#include "compiler/partition/PartitionBuilder.h"
#include "compiler/partition/Passes.h"
#include "dialects/dfg/Cluster.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Partitions.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/raw_sha1_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::partition;

namespace tfc {
#define GEN_PASS_DEF_PARTITIONENTRIES
#include "compiler/partition/Passes.h.inc"

namespace {

/// Divides one entry.
class EntryDivider {
public:
  EntryDivider(EntryOp entry, SymbolTable &symbols, ArrayRef<DeviceAttr> devices)
      : entry(entry), body(entry.getBody().front()), symbols(symbols), devices(devices),
        free(entry), sizes(entry), sets(entry, free, sizes, symbols, devices), commits(entry, sets),
        division{free, sets, sizes, commits, SmallVector<unsigned>(devices.size())} {}

  /// Returns true if the entry is on several devices.
  bool isDivided() const { return sets.getUsed().count() > 1; }

  /// Returns the partitions.
  SmallVector<EntryOp> divide();

  size_t getMessageCount() const { return messages.size(); }

private:
  void numberChecks();
  EntryOp createPartition(unsigned number, DeviceAttr device);

  EntryOp entry;
  Block &body;
  SymbolTable &symbols;
  ArrayRef<DeviceAttr> devices;
  FreeValues free;
  RunTimeSizes sizes;
  DeviceSets sets;
  Commits commits;
  Division division;
  Messages messages;
};

} // namespace

/// Numbers loops and checks in the order of the entry, which decides whose message a call returns.
void EntryDivider::numberChecks() {
  int32_t last = 0;
  DenseMap<Operation *, int32_t> loops;
  entry.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<WhileOp>(op))
      loops[op] = ++last;
    auto check = dyn_cast<CheckOp>(op);
    if (!check)
      return;
    SmallVector<int32_t> numbers{++last};
    for (auto loop = op->getParentOfType<WhileOp>(); loop; loop = loop->getParentOfType<WhileOp>())
      numbers.push_back(loops.lookup(loop));
    std::reverse(numbers.begin(), numbers.end());
    check.setNumbers(numbers);
  });
}

EntryOp EntryDivider::createPartition(unsigned number, DeviceAttr device) {
  OpBuilder b(entry->getContext());
  std::string name = (entry.getSymName() + "." + Twine(number)).str();
  auto partition = EntryOp::create(b, entry.getLoc(), name, b.getFunctionType({}, {}));
  symbols.insert(partition, std::next(entry->getIterator()));
  partition.setPartitionOfAttr(FlatSymbolRefAttr::get(entry.getSymNameAttr()));
  partition.setDeviceAttr(device);
  if (ArrayAttr names = entry.getSymbolsAttr())
    partition.setSymbolsAttr(names);
  if (DictionaryAttr bounds = entry.getBoundsAttr())
    partition.setBoundsAttr(bounds);
  return partition;
}

SmallVector<EntryOp> EntryDivider::divide() {
  const llvm::SmallBitVector &used = sets.getUsed();
  if (commits.isNeeded())
    numberChecks();
  for (auto [number, device] : llvm::enumerate(used.set_bits()))
    division.partitions[device] = number;

  // The entry itself becomes the partition of the first device, when all others are built.
  OwningOpRef<Operation *> first = entry->cloneWithoutRegions();
  Region &firstBody = first->getRegion(0);
  SmallVector<Location> locations(body.getNumArguments(), entry.getLoc());
  OpBuilder(entry->getContext()).createBlock(&firstBody, {}, body.getArgumentTypes(), locations);

  SmallVector<EntryOp> partitions{entry};
  SmallVector<Attribute> names;
  std::vector<std::unique_ptr<PartitionBuilder>> builders;
  for (unsigned device : used.set_bits()) {
    bool isFirst = device == 0;
    if (!isFirst) {
      EntryOp partition = createPartition(division.partitions[device], devices[device]);
      names.push_back(FlatSymbolRefAttr::get(partition.getSymNameAttr()));
      partitions.push_back(partition);
    }
    builders.push_back(std::make_unique<PartitionBuilder>(division, device, messages));
    builders.back()->build(body, isFirst ? firstBody.front() : partitions.back().getBody().front());
  }
  for (auto [number, builder] : llvm::enumerate(builders))
    messages.addSends(number,
                      number == 0 ? firstBody.front() : partitions[number].getBody().front(),
                      builder->getValues());
  body.dropAllReferences();
  entry.getBody().takeBody(firstBody);
  entry.setPartitionsAttr(ArrayAttr::get(entry->getContext(), names));
  entry.setSlotsAttr(messages.getSlots(entry->getContext()));
  return partitions;
}

/// Lets the partition copy what it receives and assigns to variables, or cannot read in place.
static void copyAssigned(EntryOp partition) {
  for (auto assign : partition.getBody().getOps<AssignOp>())
    if (auto receive = rootOf(assign.getValue()).getDefiningOp<ReceiveOp>())
      receive.setCopied(true);
  // A device cannot read in the memory of another one.
  if (isRemote(partition))
    partition.walk([](ReceiveOp receive) { receive.setCopied(true); });
}

/// Removes the counters that a partition does not read.
static LogicalResult dropUnusedCounters(EntryOp partition) {
  RewritePatternSet patterns(partition->getContext());
  WhileOp::getCanonicalizationPatterns(patterns, partition->getContext());
  GreedyRewriteConfig config;
  config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(partition, std::move(patterns), config);
}

/// Returns a number that depends on all operations and constants, but not on files and processors.
static int64_t fingerprintOf(ModuleOp module) {
  llvm::raw_sha1_ostream os;
  OpPrintingFlags flags;
  module->print(os, flags.elideLargeResourceString(0).printGenericOpForm().useLocalScope());
  module->walk([&](ConstantOp constant) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr)
      os << llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(blob->getData().data()),
                                       blob->getData().size()));
  });
  std::array<uint8_t, 20> sum = os.sha1();
  int64_t number;
  memcpy(&number, sum.data(), sizeof(number));
  return number;
}

namespace {

class PartitionEntries final : public impl::PartitionEntriesBase<PartitionEntries> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<DeviceAttr> devices = devicesOf(module);
    SymbolTable symbols(module);
    for (auto entry : llvm::to_vector(module.getOps<EntryOp>())) {
      EntryDivider divider(entry, symbols, devices);
      if (!divider.isDivided())
        continue;
      SmallVector<EntryOp> partitions = divider.divide();
      partitionCount += partitions.size();
      messageCount += divider.getMessageCount();
      for (EntryOp partition : partitions) {
        copyAssigned(partition);
        if (failed(dropUnusedCounters(partition)))
          return signalPassFailure();
      }
    }
    if (module->hasAttr(kClusterAttr))
      module->setAttr(kFingerprintAttr,
                      Builder(&getContext()).getI64IntegerAttr(fingerprintOf(module)));
    for (auto entry : module.getOps<EntryOp>())
      entry.getBody().walk([](Operation *op) {
        op->removeAttr(kDeviceAttr);
        op->removeAttr(kHomesAttr);
      });
  }
};

} // namespace
} // namespace tfc
