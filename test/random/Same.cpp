//===- Same.cpp - Whether two modules are the same graph ------------------===//
//
// Decides whether two modules are the same graph by how their values are computed. It ignores only
// what graph text does not express.
//
//===----------------------------------------------------------------------===//

#include "Same.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static ElementsAttr withData(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData()) : value;
}

/// The attributes by which operations differ.
static DictionaryAttr comparedAttributes(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (isa<DataflowOp>(op))
    attributes.erase("names"); // of fetches, for messages
  if (auto entry = dyn_cast<EntryOp>(op))
    attributes.erase(entry.getSolvedAttrName()); // names that the text does not need
  return attributes.getDictionary(op->getContext());
}

/// The one element of a constant, or of a constant that is broadcast.
static Attribute splatOf(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast->getOperand(0);
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
}

static bool isEmptyConstant(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0 && splatOf(value);
}

static bool isZero(Value value) {
  Attribute element = splatOf(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(element))
    return real.getValue().isPosZero();
  auto integer = dyn_cast_or_null<IntegerAttr>(element);
  return integer && integer.getValue().isZero();
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

static bool writes(Operation *op, StringRef symbol = {}) {
  WalkResult result = op->walk([&](Operation *nested) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    auto interface = dyn_cast<MemoryEffectOpInterface>(nested);
    if (interface && !nested->getNumRegions())
      interface.getEffects(effects);
    bool found = llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
      auto place = effect.getSymbolRef();
      return isa<MemoryEffects::Write>(effect.getEffect()) &&
             (symbol.empty() || (place && place.getLeafReference() == symbol));
    });
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// The operation with effects that determines the value that `read` returns, or the block of a loop
/// at whose beginning the variable has it; null for the beginning of the entry.
static llvm::PointerUnion<Operation *, Block *> sourceOf(ReadOp read) {
  StringRef variable = read.getVariable();
  for (Operation *at = read; !isa<EntryOp>(at); at = at->getParentOp()) {
    Operation *around = at->getParentOp();
    if (isa<DataflowOp, NodeOp>(around))
      continue;
    for (Operation *before = at->getPrevNode(); before; before = before->getPrevNode())
      if (writes(before, variable))
        return before;
    if (isa<WhileOp>(around) && writes(around, variable))
      return at->getBlock();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {

class Comparison {
public:
  Comparison(ModuleOp one, ModuleOp other) : one(one), other(other) {}

  std::string run();

private:
  template <typename Op> std::string compareDeclarations(StringRef what);
  std::string compareEntries(EntryOp a, EntryOp b);
  bool areSame(Value a, Value b);
  bool areSame(Operation *a, Operation *b);
  bool areSame(Block &a, Block &b);
  bool haveSameEffects(Block &a, Block &b);
  bool haveSameEffectsInAnyOrder(Block &a, Block &b);
  bool readSame(ReadOp a, ReadOp b);
  bool tryOperations(Operation *a, Operation *b);
  std::string fail(Operation *a);

  ModuleOp one, other;
  /// Pairs of operations that are equal, or assumed to be equal by the current comparison.
  llvm::DenseSet<std::pair<Operation *, Operation *>> pairs;
  SmallVector<std::pair<Operation *, Operation *>> trail;
  llvm::DenseMap<Block *, Block *> blocks;
  std::pair<Operation *, Operation *> firstDifference;
};

} // namespace

std::string Comparison::fail(Operation *a) {
  std::string text = "another graph: ";
  llvm::raw_string_ostream os(text);
  auto print = [&](Operation *op) {
    op->print(os, OpPrintingFlags().skipRegions().useLocalScope());
  };
  print(firstDifference.first ? firstDifference.first : a);
  if (firstDifference.second)
    print((os << "\nis not: ", firstDifference.second));
  return text;
}

/// Compares two operations; if they differ, pairs that were assumed to be equal on the way are
/// removed.
bool Comparison::tryOperations(Operation *a, Operation *b) {
  size_t known = trail.size();
  bool isSame = areSame(a, b);
  while (!isSame && trail.size() > known)
    pairs.erase(trail.pop_back_val());
  return isSame;
}

bool Comparison::areSame(Value a, Value b) {
  if (a.getType() != b.getType())
    return false;
  auto argument = dyn_cast<BlockArgument>(a), otherArgument = dyn_cast<BlockArgument>(b);
  if (argument || otherArgument)
    return argument && otherArgument && argument.getArgNumber() == otherArgument.getArgNumber() &&
           blocks.lookup(argument.getOwner()) == otherArgument.getOwner();
  if (isEmptyConstant(a) && isEmptyConstant(b))
    return true;
  // A long constant of one element is written as a broadcast.
  if (Attribute element = splatOf(a); element && element == splatOf(b))
    return true;
  return cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         areSame(a.getDefiningOp(), b.getDefiningOp());
}

bool Comparison::readSame(ReadOp a, ReadOp b) {
  auto source = sourceOf(a), otherSource = sourceOf(b);
  if (auto *block = dyn_cast_if_present<Block *>(source))
    return blocks.lookup(block) == dyn_cast_if_present<Block *>(otherSource);
  auto *writer = dyn_cast_if_present<Operation *>(source);
  auto *otherWriter = dyn_cast_if_present<Operation *>(otherSource);
  if (!writer || !otherWriter)
    return source.isNull() && otherSource.isNull();
  return pairs.contains({writer, otherWriter});
}

bool Comparison::areSame(Operation *a, Operation *b) {
  if (pairs.contains({a, b}))
    return true;
  bool isAlike = a->getName() == b->getName() && a->getNumOperands() == b->getNumOperands() &&
                 a->getResultTypes() == b->getResultTypes() &&
                 comparedAttributes(a) == comparedAttributes(b);
  if (auto read = isAlike ? dyn_cast<ReadOp>(a) : ReadOp())
    isAlike = readSame(read, cast<ReadOp>(b));
  // Cycles lead through operations that are being compared.
  if (isAlike && pairs.insert({a, b}).second)
    trail.push_back({a, b});
  auto sameValues = [&](auto both) { return areSame(std::get<0>(both), std::get<1>(both)); };
  auto sameRegions = [&](auto both) {
    return areSame(std::get<0>(both).front(), std::get<1>(both).front());
  };
  bool isSame = isAlike &&
                llvm::all_of(llvm::zip_equal(a->getOperands(), b->getOperands()), sameValues) &&
                llvm::all_of(llvm::zip_equal(a->getRegions(), b->getRegions()), sameRegions);
  if (!isSame && !firstDifference.first)
    firstDifference = {a, b};
  return isSame;
}

bool Comparison::areSame(Block &a, Block &b) {
  if (a.getArgumentTypes() != b.getArgumentTypes())
    return false;
  blocks[&a] = &b;
  bool isGraph = isa<DataflowOp>(a.getParentOp());
  if (!(isGraph ? haveSameEffectsInAnyOrder(a, b) : haveSameEffects(a, b)))
    return false;
  ValueRange ends = a.getTerminator()->getOperands(), otherEnds = b.getTerminator()->getOperands();
  return ends.size() == otherEnds.size() &&
         llvm::all_of(llvm::zip_equal(ends, otherEnds),
                      [&](auto both) { return areSame(std::get<0>(both), std::get<1>(both)); });
}

static SmallVector<Operation *> effectsOf(Block &block) {
  SmallVector<Operation *> found;
  for (Operation &op : block)
    if (writes(&op))
      found.push_back(&op);
  return found;
}

bool Comparison::haveSameEffects(Block &a, Block &b) {
  SmallVector<Operation *> effects = effectsOf(a), others = effectsOf(b);
  for (auto [effect, counterpart] : llvm::zip(effects, others))
    if (!areSame(effect, counterpart))
      return false;
  if (effects.size() > others.size() && !firstDifference.first)
    firstDifference = {effects[others.size()], nullptr};
  return effects.size() == others.size();
}

bool Comparison::haveSameEffectsInAnyOrder(Block &a, Block &b) {
  SmallVector<Operation *> others = effectsOf(b);
  for (Operation *effect : effectsOf(a)) {
    auto *found = llvm::find_if(
        others, [&](Operation *candidate) { return tryOperations(effect, candidate); });
    if (found == others.end())
      return false;
    others.erase(found);
  }
  return others.empty();
}

template <typename Op> std::string Comparison::compareDeclarations(StringRef what) {
  auto ops = llvm::to_vector(one.getOps<Op>()), others = llvm::to_vector(other.getOps<Op>());
  if (ops.size() != others.size())
    return "another number of " + what.str();
  for (auto [a, b] : llvm::zip_equal(ops, others))
    if (a->getAttrDictionary() != b->getAttrDictionary())
      return fail(a);
  return "";
}

std::string Comparison::compareEntries(EntryOp a, EntryOp b) {
  firstDifference = {};
  if (a.getInitializer())
    b.setSymName(a.getSymName()); // one of any name
  if (comparedAttributes(a) != comparedAttributes(b))
    return fail(a);
  return areSame(a.getBody().front(), b.getBody().front()) ? "" : fail(a);
}

static EntryOp initializerOf(ModuleOp module) {
  for (auto entry : module.getOps<EntryOp>())
    if (entry.getInitializer())
      return entry;
  return {};
}

/// Returns true for zeros, the value of a variable without an initial value.
static void eraseZeros(ModuleOp module, ModuleOp other) {
  EntryOp entry = initializerOf(module), otherEntry = initializerOf(other);
  llvm::DenseSet<StringAttr> assigned;
  if (otherEntry)
    otherEntry.walk([&](AssignOp op) { assigned.insert(op.getVariableAttr().getAttr()); });
  if (!entry)
    return;
  for (AssignOp op : llvm::make_early_inc_range(entry.getBody().getOps<AssignOp>()))
    if (!assigned.contains(op.getVariableAttr().getAttr()) && op->use_empty() &&
        isZero(op.getValue()))
      op.erase();
  if (!otherEntry && effectsOf(entry.getBody().front()).empty())
    entry.erase();
}

/// Gives unnamed feeds and fetches the default names of the language.
static void addNames(EntryOp entry) {
  Builder builder(entry.getContext());
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (!entry.getArgAttr(i, "dfg.name"))
      entry.setArgAttr(i, "dfg.name", builder.getStringAttr("x" + Twine(i)));
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (!entry.getResultAttr(i, "dfg.name"))
      entry.setResultAttr(i, "dfg.name", builder.getStringAttr("result" + Twine(i)));
}

/// The entry of initial values, which may be anywhere, and the other entries.
static SmallVector<EntryOp> entriesOf(ModuleOp module) {
  SmallVector<EntryOp> entries;
  if (EntryOp entry = initializerOf(module))
    entries.push_back(entry);
  for (auto entry : module.getOps<EntryOp>())
    if (!entry.getInitializer())
      entries.push_back(entry);
  return entries;
}

std::string Comparison::run() {
  if (std::string text = compareDeclarations<VariableOp>("variables"); !text.empty())
    return text;
  if (std::string text = compareDeclarations<QueueOp>("queues"); !text.empty())
    return text;
  SmallVector<EntryOp> entries = entriesOf(one), others = entriesOf(other);
  if (entries.size() != others.size())
    return "another number of entries";
  for (auto [a, b] : llvm::zip_equal(entries, others))
    if (std::string text = compareEntries(a, b); !text.empty())
      return text;
  if (one.getSymName() && one.getSymName() != other.getSymName())
    return "another name";
  return "";
}

/// Removes what the language does not create: sizes that are numbers, casts of a tensor to its own
/// type, control edges next to others of the same token, and nodes without control edges.
static void simplify(ModuleOp module) {
  for (auto entry : module.getOps<EntryOp>())
    addNames(entry);
  module.walk([](SizeOp op) {
    std::optional<int64_t> number = op.getValue().getExprs().front().constant();
    if (!number)
      return;
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(op.getType());
    Attribute element = builder.getIntegerAttr(type.getElementType(), *number);
    Value constant =
        ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, element));
    op.replaceAllUsesWith(constant);
    op.erase();
  });
  module.walk([](CastOp op) {
    if (op->getOperand(0).getType() != op.getType())
      return;
    op.replaceAllUsesWith(op->getOperand(0));
    op.erase();
  });
  module.walk([](NodeOp op) {
    llvm::SetVector<Value> after(op.getAfter().begin(), op.getAfter().end());
    op.getAfterMutable().assign(after.getArrayRef());
    if (!op.getAfter().empty() || !op.getDone().use_empty() || op.getAlways())
      return;
    Operation *yield = op.getBody().front().getTerminator();
    for (auto [result, value] : llvm::zip_equal(op.getResults(), yield->getOperands()))
      result.replaceAllUsesWith(value);
    yield->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), op.getBody().front().getOperations());
    op.erase();
  });
}

/// The module as it is read from its text: attributes have their defaults, constants their
/// elements.
static OwningOpRef<ModuleOp> copy(ModuleOp original) {
  OwningOpRef<ModuleOp> module = original.clone();
  module->walk([](ConstantOp op) { op.setValueAttr(withData(op.getValue())); });
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return parseSourceString<ModuleOp>(text, original.getContext());
}

std::string findDifference(ModuleOp one, ModuleOp other) {
  OwningOpRef<ModuleOp> left = copy(one), right = copy(other);
  if (!left || !right)
    return "a module that cannot be parsed";
  simplify(*left);
  simplify(*right);
  eraseZeros(*left, *right);
  eraseZeros(*right, *left);
  return Comparison(*left, *right).run();
}

} // namespace tfc::random
