// Computes the addresses of values from the memory plan, before the first step if they are
// invariant during the call.

#include "compiler/host/Addresses.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

Attribute tfc::host::memoryOf(Value value, StringRef attribute) {
  auto result = dyn_cast<OpResult>(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getArgNumber() >= loop.getNumResults())
      return {};
    result = cast<OpResult>(loop.getResult(argument.getArgNumber()));
  }
  auto memory = result.getOwner()->getAttrOfType<ArrayAttr>(attribute);
  if (!memory || isa<UnitAttr>(memory[result.getResultNumber()]))
    return {};
  return memory[result.getResultNumber()];
}

Addresses::Addresses(Context &context)
    : context(context), regions(context.entry->getAttrOfType<rt::ArenaAttr>(rt::kArenaAttr)) {}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

Value Addresses::field(rt::Field which) {
  Value &result = fields[{which, -1}];
  if (!result)
    result = rt::FieldOp::create(context.start, context.loc, context.frame, which);
  return result;
}

Value Addresses::element(rt::Field table, unsigned number) {
  Value &result = fields[{table, int(number)}];
  if (!result) {
    Value base = field(table);
    result = rt::ElementOp::create(context.start, context.loc, context.pointer, base, number);
  }
  return result;
}

bool Addresses::usesVariables() const {
  return llvm::any_of(fields, [](auto &known) {
    auto [which, number] = known.first;
    return which == rt::Field::Variables && number >= 0;
  });
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

Value Addresses::unitOf(unsigned region) {
  DimExpr unit = regions.getUnits().getExprs()[region];
  Value size = sizes->build(unit);
  return unit.constant() ? size : sizes->max(size, sizes->constant(0));
}

Value Addresses::arena(rt::SlotAttr slot) {
  if (regionOffsets.empty())
    regionOffsets.push_back(sizes->constant(0));
  while (regionOffsets.size() <= slot.getRegion()) {
    unsigned previous = regionOffsets.size() - 1;
    Value bytes = sizes->multiply(sizes->constant(regions.getCounts()[previous]), unitOf(previous));
    regionOffsets.push_back(sizes->add(regionOffsets.back(), bytes));
  }
  Value within = sizes->constant(slot.getOffset());
  if (slot.getRegion() > 0)
    within = sizes->multiply(within, unitOf(slot.getRegion()));
  Value bytes = sizes->add(regionOffsets[slot.getRegion()], within);
  Value base = field(rt::Field::Arena);
  return LLVM::GEPOp::create(context.start, context.loc, context.pointer, context.b.getI8Type(),
                             base, ArrayRef<LLVM::GEPArg>{bytes});
}

/// Reports that the plan has no memory for a value that needs it.
Value Addresses::fail(Value root) {
  Operation *op = root.getDefiningOp();
  context.error(op ? op : root.getParentBlock()->getParentOp())
      << "expects memory for a value of " << root.getType()
      << ", which 'tfc-allocate-arena' assigns";
  return LLVM::ZeroOp::create(context.start, context.loc, context.pointer);
}

Value Addresses::inArena(Value root) {
  auto slot = dyn_cast_or_null<rt::SlotAttr>(memoryOf(root));
  return slot ? arena(slot) : fail(root);
}

Value Addresses::alternate(OpResult result) {
  auto slot = dyn_cast_or_null<rt::SlotAttr>(memoryOf(result, rt::kAlternateAttr));
  return slot ? arena(slot) : fail(result);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Addresses::of(Value root) {
  if (Value address = known.lookup(root))
    return address;
  Value address = find(root);
  known[root] = address;
  return address;
}

Value Addresses::find(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    bool isFeed = isa<EntryOp>(argument.getOwner()->getParentOp());
    // Other arguments are scalars that a loop carries.
    return isFeed ? element(rt::Field::Feeds, argument.getArgNumber()) : inArena(root);
  }
  if (auto read = root.getDefiningOp<ReadOp>())
    return variable(read.getVariableAttr());
  if (auto constant = root.getDefiningOp<ConstantOp>())
    return findConstant(constant);
  return root.getDefiningOp<LaunchOp>() ? findPlaced(cast<OpResult>(root)) : inArena(root);
}

/// Devices with memory of their own have copies of constants.
Value Addresses::findConstant(ConstantOp op) {
  if (!context.isRemote)
    return context.module.weight(context.start, context.loc, op.getValue());
  unsigned number = context.module.copiedConstant(op.getValue(), context.entry.getDeviceAttr());
  return rt::DeviceConstantOp::create(context.start, context.loc, context.pointer, context.frame,
                                      number);
}

/// Returns the memory of a launch's result.
Value Addresses::findPlaced(OpResult result) {
  MemoryAttr memory = memoryOf(cast<LaunchOp>(result.getOwner()), result.getResultNumber());
  switch (memory.getKind()) {
  case MemoryKind::Variable:
    return variable(memory.getVariable());
  case MemoryKind::Fetch:
    return element(rt::Field::Fetches, memory.getIndex());
  case MemoryKind::Result: {
    Value address = target(result.getOwner()->getParentOp(), memory.getIndex());
    return address ? address : fail(result);
  }
  case MemoryKind::Arena:
  case MemoryKind::Operand:
    break;
  }
  return inArena(result);
}

void Addresses::eraseTargets(Operation *op) {
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    targets.erase({op, i});
}
