// Decides the order of a host function: facts and limits, the steps of the entry, then copies into
// variables. Fetches of the state before the call are copied before the state changes.

#include "compiler/host/RunFunction.h"
#include "dialects/dfg/Cluster.h"
#include "dialects/dfg/Partitions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

RunFunction::RunFunction(HostModule &module, EntryOp entry, const EntryInfo &info, unsigned number,
                         StringRef name, HostCounts &counts, bool trace)
    : body(entry.getBody().front()), context(module, entry, info, number, name, counts),
      addresses(context),
      sizes(context.start, context.loc, addresses.field(rt::Field::Symbols), context.symbolNames()),
      scalars(context, sizes, addresses),
      checks(context, sizes, addresses.field(rt::Field::Symbols)),
      copies(context, sizes, addresses), launches(context, sizes, addresses),
      chunks(context, addresses), lists(context, sizes, addresses, scalars, copies, chunks),
      tapes(context, sizes, addresses, scalars, copies, chunks), queues(context, sizes, addresses),
      inputs(context, sizes, addresses), messages(context, sizes, addresses, scalars, copies),
      tracing(context, sizes, trace),
      controlFlow(context, addresses, scalars, copies, lists, *this) {
  addresses.setSizes(sizes);
}

LogicalResult RunFunction::build() {
  // Those of an entry on several devices are checked before its partitions run.
  EntryOp entry = context.entry;
  if (!entry.isPartition() && !entry.getPartitions()) {
    for (const Fact &fact : context.info.where)
      checks.checkFact(fact);
    checks.checkLimits();
  }
  SmallVector<Value> given(body.getArguments());
  for (Operation &op : body)
    if (!isStep(&op))
      llvm::append_range(given, op.getResults());
  copies.copyFetches(given);
  tapes.start();
  lastUseOfState = findLastUseOfState();
  build(body);
  finish(body);
  if (!context.hasFailed)
    copies.copyToVariables();
  return failure(context.hasFailed);
}

void RunFunction::build(Block &block) {
  messages.begin(block);
  for (Operation &op : block) {
    if (context.hasFailed)
      return;
    if (!isStep(&op))
      continue;
    tracing.build(&op, [&] { build(&op); });
    if (&block == &body)
      copies.copyFetches(llvm::to_vector_of<Value>(op.getResults()));
    messages.releaseAfter(&op);
    if (&op == lastUseOfState)
      rt::ReleaseStateOp::create(context.b, context.loc, context.frame);
  }
}

/// Returns the last step of a partition that uses variables if it changes none and others follow,
/// which may wait long for other processes; otherwise null. A call that takes elements from a queue
/// reads again what has changed meanwhile, so it needs the state; and kernels of a GPU may still
/// run.
Operation *RunFunction::findLastUseOfState() {
  auto module = context.entry->getParentOfType<ModuleOp>();
  if (context.isRemote || Cluster::of(module).isEmpty())
    return nullptr;
  EntryOp whole = context.entry;
  SymbolTable symbols(module);
  if (FlatSymbolRefAttr of = whole.getPartitionOfAttr())
    whole = symbols.lookup<EntryOp>(of.getAttr());
  for (EntryOp partition : partitionsOf(whole, symbols))
    if (anyWithin(partition, llvm::IsaPred<DequeueOp, DequeueManyOp, DequeueUpToOp>))
      return nullptr;
  if (anyWithin(context.entry, llvm::IsaPred<AssignOp>))
    return nullptr;
  // Data to other processes have left before the state is released.
  auto usesState = [](Operation *op) {
    return !isa<ReadOp, AwaitReleaseOp>(op) && llvm::any_of(op->getOperands(), [](Value operand) {
      return rootOf(operand).getDefiningOp<ReadOp>() != nullptr;
    });
  };
  Operation *last = nullptr;
  for (Operation &op : body.without_terminator())
    if (isStep(&op) && anyWithin(&op, usesState))
      last = &op;
  auto mayWait = [](Operation *op) {
    return isa<ReceiveOp, SendOp, CommitOp, EnqueueOp, EnqueueManyOp>(op);
  };
  for (Operation *op = last ? last->getNextNode() : nullptr; op; op = op->getNextNode())
    if (anyWithin(op, mayWait))
      return last;
  return nullptr;
}

void RunFunction::finish(Block &block) { messages.releaseAfter(block.getTerminator()); }

void RunFunction::build(Operation *step) {
  if (isInRegister(step))
    return scalars.compute(step);
  llvm::TypeSwitch<Operation *>(step)
      .Case([&](LaunchOp op) { launches.launch(op); })
      .Case([&](IfOp op) { controlFlow.branch(op); })
      .Case([&](WhileOp op) { controlFlow.loop(op); })
      .Case([&](CheckOp op) { check(op); })
      .Case([&](BindSizeOp op) { scalars.bind(op); })
      .Default([&](Operation *op) { buildEffect(op); });
}

/// Reads of a device wait for it, so values that only a message needs are read if the check fails.
void RunFunction::check(CheckOp op) {
  OpBuilder &b = context.b;
  auto read = [&] {
    return llvm::map_to_vector(op.getValues(),
                               [&](Value value) { return scalars.position(value); });
  };
  Value condition = scalars.get(op.getCondition());
  if (!context.isRemote || op.getValues().empty())
    return checks.check(condition, read(), op);
  SmallVector<Type> types(op.getValues().size(), b.getI64Type());
  auto branch = scf::IfOp::create(b, context.loc, types, condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> none(types.size(), context.constant(0));
    scf::YieldOp::create(b, context.loc, none);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, context.loc, read());
  }
  checks.check(condition, SmallVector<Value>(branch.getResults()), op);
}

/// Builds operations on lists, tapes, queues and messages.
void RunFunction::buildEffect(Operation *step) {
  llvm::TypeSwitch<Operation *>(step)
      .Case([&](ListCreateOp op) { lists.create(op); })
      .Case([&](ListUnstackOp op) { lists.unstack(op); })
      .Case([&](ListReadOp op) { lists.read(op); })
      .Case([&](ListWriteOp op) { lists.write(op); })
      .Case([&](ListStackOp op) { lists.stack(op); })
      .Case([&](ListSizeOp op) { lists.measure(op); })
      .Case([&](PushOp op) { tapes.push(op); })
      .Case([&](PopOp op) { tapes.pop(op); })
      .Case<EnqueueOp, EnqueueManyOp>([&](auto op) { queues.enqueue(op); })
      .Case<DequeueOp, DequeueManyOp, DequeueUpToOp>([&](auto op) { queues.dequeue(op); })
      .Case([&](QueueSizeOp op) { queues.measure(op); })
      .Case([&](QueueCloseOp op) { queues.close(op); })
      .Case([&](ReadRowsOp op) { inputs.read(op); })
      .Case([&](DatasetSizeOp op) { inputs.measure(op); })
      .Case([&](OwnFeedOp op) { inputs.copy(op); })
      .Case([&](SendOp op) { messages.send(op); })
      .Case([&](ReceiveOp op) { messages.receive(op); })
      .Case([&](AwaitReleaseOp op) { messages.awaitRelease(op); })
      .Case([&](CommitOp) { messages.commit(); })
      .Default([&](Operation *op) { context.error(op) << "cannot be run by the host function"; });
}
