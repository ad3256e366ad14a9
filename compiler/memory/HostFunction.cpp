//===- HostFunction.cpp - The function that runs an entry -----------------===//

#include "compiler/memory/RunFunction.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

RunFunction::RunFunction(HostModule &host, EntryOp entry, const EntryInfo &info, unsigned number,
                         const Arena &arena, HostCounts &counts)
    : host(host), entry(entry), block(entry.getBody().front()), info(info), arena(arena),
      counts(counts), b(entry.getContext()), top(entry.getContext()), loc(entry.getLoc()),
      pointer(LLVM::LLVMPointerType::get(entry.getContext())), lists(entry) {
  function = host.addFunction("tfc_entry_" + Twine(number) + "_run", b.getI32Type(), pointer, loc);
  Block *start = function.addEntryBlock(b), *body = addBlock();
  b.setInsertionPointToEnd(start);
  top.setInsertionPoint(LLVM::BrOp::create(b, loc, ValueRange(), body));
  b.setInsertionPointToEnd(body);
  frame = start->getArgument(0);
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  sizes.emplace(top, loc, field(Field::Symbols), names);
}

LogicalResult RunFunction::build() {
  for (StringRef fact : info.where)
    if (failed(checkFact(fact)))
      return failure();
  checkLimits();
  // What a fetch gives of the state before the call is copied before the state changes.
  SmallVector<Value> given(block.getArguments());
  for (Operation &op : block)
    if (!isStep(&op))
      llvm::append_range(given, op.getResults());
  copyFetches(given);
  startTapes();
  host.requireChunks(lists.getChunkCount());
  if (failed(run(block)))
    return failure();
  copyToVariables();
  LLVM::ReturnOp::create(b, loc, constant32(TFC_OK));
  if (slots)
    slots.setElemType(LLVM::LLVMArrayType::get(b.getI64Type(), slotCount));
  return success();
}

LogicalResult RunFunction::run(Block &steps) {
  for (Operation &op : steps) {
    if (!isStep(&op))
      continue;
    if (failed(run(&op)))
      return failure();
    if (&steps == &block)
      copyFetches(llvm::to_vector_of<Value>(op.getResults()));
  }
  return success();
}

LogicalResult RunFunction::run(Operation *step) {
  if (auto op = dyn_cast<LaunchOp>(step))
    return launch(op);
  if (auto op = dyn_cast<IfOp>(step))
    return branch(op);
  if (auto op = dyn_cast<WhileOp>(step))
    return loop(op);
  if (auto op = dyn_cast<CheckOp>(step)) {
    check(op);
    return success();
  }
  if (isInRegister(step)) {
    compute(step);
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(step)
      .Case([&](ListCreateOp op) { return create(op), success(); })
      .Case([&](ListUnstackOp op) { return unstack(op), success(); })
      .Case([&](ListReadOp op) { return read(op), success(); })
      .Case([&](ListWriteOp op) { return write(op), success(); })
      .Case([&](ListStackOp op) { return stack(op), success(); })
      .Case([&](ListSizeOp op) { return measure(op), success(); })
      .Case([&](PushOp op) { return push(op), success(); })
      .Case([&](PopOp op) { return pop(op), success(); })
      .Case<EnqueueOp, EnqueueManyOp>([&](auto op) { return enqueue(op), success(); })
      .Case<DequeueOp, DequeueManyOp, DequeueUpToOp>(
          [&](auto op) { return dequeue(op), success(); })
      .Case([&](QueueSizeOp op) { return measure(op), success(); })
      .Case([&](BindSizeOp op) { return bind(op), success(); })
      .Case([&](QueueCloseOp op) { return close(op), success(); })
      .Default([](Operation *op) { return op->emitOpError("cannot be run by the host function"); });
}

//===----------------------------------------------------------------------===//
// Failing
//===----------------------------------------------------------------------===//

/// Values that the message of a failing call shows.
static constexpr size_t kMostFailValues = 4;

/// A text as a format of tfc_rt_fail.
static std::string escape(StringRef text) {
  std::string result;
  for (char c : text)
    result.append(c == '%' ? 2 : 1, c);
  return result;
}

void RunFunction::failUnless(Value condition, tfc_status status, const Twine &text,
                             ArrayRef<Value> values) {
  Block *onFailure = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(b, loc, condition, next, {}, onFailure, {},
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
  b.setInsertionPointToEnd(onFailure);
  Type i32 = b.getI32Type();
  auto fail = host.runtime("tfc_rt_fail", i32, {pointer, i32, pointer, pointer, i32});
  Value list = LLVM::ZeroOp::create(b, loc, pointer);
  if (!values.empty()) {
    Value one = constant32(1);
    list = LLVM::AllocaOp::create(b, loc, pointer,
                                  LLVM::LLVMArrayType::get(b.getI64Type(), kMostFailValues), one);
    for (auto [i, value] : llvm::enumerate(values)) {
      Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), list,
                                        ArrayRef<LLVM::GEPArg>{int32_t(i)});
      LLVM::StoreOp::create(b, loc, value, place);
    }
  }
  Value arguments[] = {frame, constant32(status), host.text(b, loc, text.str()), list,
                       constant32(values.size())};
  Value result = LLVM::CallOp::create(b, loc, fail, arguments).getResult();
  LLVM::ReturnOp::create(b, loc, result);
  b.setInsertionPointToEnd(next);
}

void RunFunction::failWithSizesUnless(Value condition, tfc_status status, StringRef text,
                                      ArrayRef<DimExpr> used) {
  SmallVector<std::string> names;
  for (const DimExpr &size : used)
    size.collectSymbols(names);
  names.truncate(std::min(names.size(), kMostFailValues));
  std::string message = escape(text);
  SmallVector<Value> values;
  for (StringRef name : names) {
    message += (values.empty() ? ": " : ", ") + escape(name) + " is %lld";
    values.push_back(sizes->build(DimExpr::symbol(name)));
  }
  failUnless(condition, status, message, values);
}

/// Whether a comparison holds, and whether it overflows on the way; the latter is null where it
/// cannot.
std::pair<Value, Value> RunFunction::compare(LLVM::ICmpPredicate predicate, const DimExpr &lhs,
                                             const DimExpr &rhs) {
  auto largest = [&](StringRef name) -> uint64_t {
    return info.boundsOf(name).second.value_or(INT64_MAX);
  };
  if (largestMagnitude(lhs, largest) <= INT64_MAX && largestMagnitude(rhs, largest) <= INT64_MAX)
    return {LLVM::ICmpOp::create(b, loc, predicate, sizes->build(lhs), sizes->build(rhs)), {}};
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  SizeBuilder exact(b, loc, field(Field::Symbols), names);
  exact.watchOverflow();
  Value holds = LLVM::ICmpOp::create(b, loc, predicate, exact.build(lhs), exact.build(rhs));
  return {holds, exact.overflowed()};
}

/// Checks a comparison of two sizes, in the language's text.
LogicalResult RunFunction::checkFact(StringRef fact) {
  static const std::pair<StringRef, LLVM::ICmpPredicate> kComparisons[] = {
      {">=", LLVM::ICmpPredicate::sge}, {"<=", LLVM::ICmpPredicate::sle},
      {"==", LLVM::ICmpPredicate::eq},  {"!=", LLVM::ICmpPredicate::ne},
      {">", LLVM::ICmpPredicate::sgt},  {"<", LLVM::ICmpPredicate::slt}};
  for (auto [spelling, predicate] : kComparisons) {
    size_t position = fact.find(spelling);
    if (position == StringRef::npos)
      continue;
    std::optional<DimExpr> lhs = DimExpr::parse(fact.take_front(position));
    std::optional<DimExpr> rhs = DimExpr::parse(fact.drop_front(position + spelling.size()));
    if (!lhs || !rhs)
      break;
    auto [condition, overflowed] = compare(predicate, *lhs, *rhs);
    if (overflowed) {
      Value one = LLVM::ConstantOp::create(b, loc, b.getBoolAttr(true));
      failWithSizesUnless(LLVM::XOrOp::create(b, loc, overflowed, one), TFC_INVALID_ARGUMENT,
                          fact.str() + " cannot be computed in 64 bits", {*lhs, *rhs});
    }
    failWithSizesUnless(condition, TFC_INVALID_ARGUMENT, fact.str() + " does not hold",
                        {*lhs, *rhs});
    return success();
  }
  return entry.emitError() << "expected a comparison of sizes in 'where', but got '" << fact << "'";
}

static tfc_status statusOf(Failure failure) {
  switch (failure) {
  case Failure::OutOfRange:
    return TFC_OUT_OF_RANGE;
  case Failure::InvalidArgument:
    return TFC_INVALID_ARGUMENT;
  case Failure::FailedPrecondition:
    return TFC_FAILED_PRECONDITION;
  }
  llvm_unreachable("a status without a number");
}

void RunFunction::check(CheckOp op) {
  ++counts.checks;
  failUnless(scalarOf(op.getCondition()), statusOf(op.getStatus()), escape(op.getMessage()), {});
}

/// Ends the call with a status of the runtime unless it is 0.
void RunFunction::returnUnlessOk(Value status) {
  Value isOk = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, status, constant32(TFC_OK));
  Block *onFailure = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(b, loc, isOk, next, {}, onFailure, {},
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
  b.setInsertionPointToEnd(onFailure);
  LLVM::ReturnOp::create(b, loc, status);
  b.setInsertionPointToEnd(next);
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

Value RunFunction::field(Field which) {
  Value &result = fields[{which, -1}];
  if (!result) {
    Value place = LLVM::GEPOp::create(top, loc, pointer, pointer, frame,
                                      ArrayRef<LLVM::GEPArg>{int32_t(which)});
    result = LLVM::LoadOp::create(top, loc, pointer, place);
  }
  return result;
}

Value RunFunction::element(Field which, unsigned index) {
  Value &result = fields[{which, int(index)}];
  if (!result) {
    Value place = LLVM::GEPOp::create(top, loc, pointer, pointer, field(which),
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    result = LLVM::LoadOp::create(top, loc, pointer, place);
  }
  return result;
}

Value RunFunction::offset(Value base, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

Value RunFunction::arenaPointer(Arena::Slot slot) {
  if (regionBases.empty())
    regionBases.push_back(sizes->constant(0));
  auto unitOf = [&](unsigned region) {
    const DimExpr &unit = arena.getRegions()[region].unit;
    return unit.constant() ? sizes->build(unit)
                           : sizes->max(sizes->build(unit), sizes->constant(0));
  };
  while (regionBases.size() <= slot.region) {
    unsigned previous = regionBases.size() - 1;
    Value bytes =
        sizes->multiply(sizes->constant(arena.getRegions()[previous].units), unitOf(previous));
    regionBases.push_back(sizes->add(regionBases.back(), bytes));
  }
  Value within = slot.region == 0
                     ? sizes->constant(slot.offset)
                     : sizes->multiply(sizes->constant(slot.offset), unitOf(slot.region));
  Value bytes = sizes->add(regionBases[slot.region], within);
  return LLVM::GEPOp::create(top, loc, pointer, top.getI8Type(), field(Field::Arena),
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value RunFunction::pointerTo(Value root) {
  if (Value known = pointers.lookup(root))
    return known;
  Value result = findPointer(root);
  pointers[root] = result;
  return result;
}

Value RunFunction::findPointer(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    if (argument.getOwner() == &block)
      return element(Field::Feeds, argument.getArgNumber());
    return arenaPointer(arena.slotOf(root)); // a carried scalar
  }
  if (auto read = root.getDefiningOp<ReadOp>())
    return element(Field::Variables, host.variableNumber(read.getVariableAttr()));
  if (!isa<LaunchOp>(root.getDefiningOp()) && !isa<ConstantOp>(root.getDefiningOp()))
    return arenaPointer(arena.slotOf(root));
  if (auto constant = root.getDefiningOp<ConstantOp>())
    return host.weight(top, loc, constant.getValue());
  auto result = cast<OpResult>(root);
  Place place = placeOf(cast<LaunchOp>(result.getOwner()), result.getResultNumber());
  switch (place.kind) {
  case Place::Kind::Variable:
    return element(Field::Variables, host.variableNumber(place.variable));
  case Place::Kind::Fetch:
    return element(Field::Fetches, place.index);
  case Place::Kind::Result:
    return targets.lookup({result.getOwner()->getParentOp(), unsigned(place.index)});
  case Place::Kind::Arena:
  case Place::Kind::Operand:
    break;
  }
  return arenaPointer(arena.slotOf(root));
}

LogicalResult tfc::memory::buildRunFunction(HostModule &host, EntryOp entry, const EntryInfo &info,
                                            unsigned number, const Arena &arena,
                                            HostCounts &counts) {
  return RunFunction(host, entry, info, number, arena, counts).build();
}
