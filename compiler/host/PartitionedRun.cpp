// Builds the function that runs an entry on several devices, and describes its partitions for the
// runtime.

#include "compiler/host/PartitionedRun.h"
#include "compiler/host/Addresses.h"
#include "compiler/host/Checks.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/Partitions.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

/// Returns how a partition uses variables, as the attribute says it.
static int64_t accessOf(EntryOp partition) {
  bool usesQueues =
      anyWithin(partition, llvm::IsaPred<EnqueueOp, EnqueueManyOp, DequeueOp, DequeueManyOp,
                                         DequeueUpToOp, QueueSizeOp, QueueCloseOp>);
  int64_t queues = usesQueues ? 4 : 0;
  if (anyWithin(partition, llvm::IsaPred<AssignOp>))
    return queues + 2;
  return queues + anyWithin(partition, llvm::IsaPred<ReadOp>);
}

static rt::PartitioningAttr describe(ModuleOp module, ArrayRef<EntryOp> partitions) {
  EntryOp entry = partitions.front();
  SmallVector<DeviceAttr> devices = devicesOf(module);
  SmallVector<int64_t> numbers, accesses;
  for (EntryOp partition : partitions) {
    accesses.push_back(accessOf(partition));
    DeviceAttr device = partition.getDeviceAttr();
    numbers.push_back(device ? llvm::find(devices, device) - devices.begin() : 0);
  }
  bool commits = anyWithin(entry, llvm::IsaPred<CommitOp>);
  return rt::PartitioningAttr::get(module.getContext(), numbers, accesses, entry.getSlotsAttr(),
                                   commits);
}

/// Returns `tfc_value_info::on_gpu` of the feeds and of the fetches. Scalars travel in messages.
static SmallVector<int64_t> findOnGpus(ArrayRef<EntryOp> partitions) {
  EntryOp host = partitions.front();
  auto isRemoteAt = [&](int64_t partition) { return isRemote(partitions[partition]); };
  auto slotOf = [&](uint32_t number) { return cast<SlotAttr>((*host.getSlots())[number]); };
  auto passesToGpu = [&](Operation *user) {
    auto send = dyn_cast<SendOp>(user);
    return send && send.getBufferCount() == 0 && isRemoteAt(slotOf(send.getSlot()).getReceiver());
  };
  // The feeds that a process copies from memory of the host.
  llvm::SmallDenseSet<unsigned> own;
  for (EntryOp partition : partitions)
    partition.walk([&](OwnFeedOp op) { own.insert(op.getNumber()); });
  SmallVector<int64_t> numbers;
  for (BlockArgument feed : host.getBody().getArguments())
    numbers.push_back(!isRegisterType(feed.getType()) && !own.contains(feed.getArgNumber()) &&
                      llvm::all_of(feed.getUsers(), passesToGpu));
  for (Value fetch : host.getBody().front().getTerminator()->getOperands()) {
    auto receive = fetch.getDefiningOp<ReceiveOp>();
    bool passesFromGpu = receive && fetch.hasOneUse() && !isRegisterType(fetch.getType()) &&
                         isRemoteAt(slotOf(receive.getSlot()).getSender());
    numbers.push_back(passesFromGpu ? receive.getSlot() + 1 : 0);
  }
  return numbers;
}

void tfc::host::buildPartitionedRun(HostModule &module, ArrayRef<EntryOp> partitions,
                                    const EntryInfo &info, unsigned number, HostCounts &counts) {
  Context context(module, partitions.front(), info, number, "run", counts);
  Addresses addresses(context);
  Value symbols = addresses.field(rt::Field::Symbols);
  SizeBuilder sizes(context.start, context.loc, symbols, context.symbolNames());
  addresses.setSizes(sizes);
  Checks checks(context, sizes, symbols);
  for (const Fact &fact : info.where)
    checks.checkFact(fact);
  checks.checkLimits();
  rt::RunPartitionsOp::create(context.b, context.loc, context.frame);
  context.function->setAttr(rt::kPartitioningAttr, describe(module.getModule(), partitions));
  context.function->setAttr(rt::kOnGpuAttr, DenseI64ArrayAttr::get(module.getModule().getContext(),
                                                                   findOnGpus(partitions)));
}
