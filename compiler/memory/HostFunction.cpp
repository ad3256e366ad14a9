//===- HostFunction.cpp - The function that runs an entry -----------------===//

#include "compiler/memory/HostFunction.h"
#include "compiler/memory/Places.h"
#include "runtime/Model.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

namespace {
/// Pointers of `tfc_frame`, by their position.
enum class Field { Arena = 1, Feeds, Fetches, Variables, Symbols };
static_assert(offsetof(tfc_frame, arena) == 8 && offsetof(tfc_frame, symbols) == 40);

class RunFunction {
public:
  RunFunction(HostModule &host, EntryOp entry, const EntryInfo &info, unsigned number,
              const Arena &arena, HostCounts &counts);

  LogicalResult build();

private:
  LogicalResult checkFact(StringRef fact);
  void failUnless(Value condition, tfc_status status, const Twine &text, ArrayRef<Value> values);
  LogicalResult launch(LaunchOp op);
  LogicalResult checkKernel(LaunchOp op, LLVM::LLVMFuncOp kernel);
  SmallVector<Value> argumentsOf(LaunchOp op);
  void runTasks(LLVM::LLVMFuncOp kernel, ArrayRef<Value> arguments, const DimExpr &extent,
                int64_t grain);
  void check(CheckOp op);
  void copyFetches(ArrayRef<Value> values);
  void copyToVariables();
  void copy(Value to, Value from, Value source);

  Value pointerTo(Value root);
  Value findPointer(Value root);
  Value arenaPointer(Arena::Slot slot);
  Value field(Field which);
  Value element(Field which, unsigned index);
  Value offset(Value pointer, Value bytes);
  Value constant32(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  Value stackArray(unsigned count);
  std::optional<int64_t> largest(const DimExpr &size) const;

  HostModule &host;
  EntryOp entry;
  Block &block;
  const EntryInfo &info;
  const Arena &arena;
  HostCounts &counts;
  OpBuilder b;
  Location loc;
  Type pointer;
  LLVM::LLVMFuncOp function;
  Value frame;
  std::optional<SizeBuilder> sizes;
  std::map<std::pair<Field, int>, Value> fields; // -1: the field itself
  DenseMap<Value, Value> pointers;               // by root
  std::vector<Value> regionBases;
  LLVM::AllocaOp slots;
  unsigned slotCount = 0;
};
} // namespace

RunFunction::RunFunction(HostModule &host, EntryOp entry, const EntryInfo &info, unsigned number,
                         const Arena &arena, HostCounts &counts)
    : host(host), entry(entry), block(entry.getBody().front()), info(info), arena(arena),
      counts(counts), b(entry.getContext()), loc(entry.getLoc()),
      pointer(LLVM::LLVMPointerType::get(entry.getContext())) {
  function = host.addFunction("tfc_entry_" + Twine(number) + "_run", b.getI32Type(), pointer, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  frame = body->getArgument(0);
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  sizes.emplace(b, loc, field(Field::Symbols), names);
}

LogicalResult RunFunction::build() {
  for (StringRef fact : info.where)
    if (failed(checkFact(fact)))
      return failure();
  // What a fetch gives of the state before the call is copied before the state changes.
  SmallVector<Value> given(block.getArguments());
  for (Operation &op : block)
    if (!isStep(&op))
      llvm::append_range(given, op.getResults());
  copyFetches(given);
  for (Operation &op : block) {
    if (auto launchOp = dyn_cast<LaunchOp>(op)) {
      if (failed(launch(launchOp)))
        return failure();
      copyFetches(llvm::to_vector_of<Value>(op.getResults()));
    } else if (auto checkOp = dyn_cast<CheckOp>(op)) {
      check(checkOp);
    }
  }
  copyToVariables();
  LLVM::ReturnOp::create(b, loc, constant32(TFC_OK));
  if (slots)
    slots.setElemType(LLVM::LLVMArrayType::get(b.getI64Type(), slotCount));
  return success();
}

//===----------------------------------------------------------------------===//
// Failing
//===----------------------------------------------------------------------===//

/// A text as a format of tfc_rt_fail.
static std::string escape(StringRef text) {
  std::string result;
  for (char c : text)
    result.append(c == '%' ? 2 : 1, c);
  return result;
}

void RunFunction::failUnless(Value condition, tfc_status status, const Twine &text,
                             ArrayRef<Value> values) {
  Block *onFailure = b.createBlock(&function.getBody(), function.getBody().end());
  Block *next = b.createBlock(&function.getBody(), function.getBody().end());
  b.setInsertionPointToEnd(onFailure->getPrevNode());
  LLVM::CondBrOp::create(b, loc, condition, next, {}, onFailure, {},
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
  b.setInsertionPointToEnd(onFailure);
  Type i32 = b.getI32Type();
  auto fail = host.runtime("tfc_rt_fail", i32, {pointer, i32, pointer, pointer, i32});
  Value list = LLVM::ZeroOp::create(b, loc, pointer);
  if (!values.empty()) {
    Value one = constant32(1);
    list =
        LLVM::AllocaOp::create(b, loc, pointer, LLVM::LLVMArrayType::get(b.getI64Type(), 4), one);
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
    Value condition =
        LLVM::ICmpOp::create(b, loc, predicate, sizes->build(*lhs), sizes->build(*rhs));
    SmallVector<std::string> names;
    lhs->collectSymbols(names);
    rhs->collectSymbols(names);
    names.truncate(std::min<size_t>(names.size(), 4));
    std::string text = escape(fact) + " does not hold";
    SmallVector<Value> values;
    for (StringRef name : names) {
      text += ((values.empty() ? ": " : ", ") + name + " is %lld").str();
      values.push_back(sizes->build(DimExpr::symbol(name)));
    }
    failUnless(condition, TFC_INVALID_ARGUMENT, text, values);
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
  Value byte = LLVM::LoadOp::create(b, loc, b.getI8Type(), pointerTo(rootOf(op.getCondition())));
  Value zero = LLVM::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  Value condition = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, byte, zero);
  failUnless(condition, statusOf(op.getStatus()), escape(op.getMessage()), {});
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

Value RunFunction::field(Field which) {
  Value &result = fields[{which, -1}];
  if (!result) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, pointer, frame,
                                      ArrayRef<LLVM::GEPArg>{int32_t(which)});
    result = LLVM::LoadOp::create(b, loc, pointer, place);
  }
  return result;
}

Value RunFunction::element(Field which, unsigned index) {
  Value &result = fields[{which, int(index)}];
  if (!result) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, pointer, field(which),
                                      ArrayRef<LLVM::GEPArg>{int32_t(index)});
    result = LLVM::LoadOp::create(b, loc, pointer, place);
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
  return offset(field(Field::Arena), sizes->add(regionBases[slot.region], within));
}

Value RunFunction::pointerTo(Value root) {
  if (Value known = pointers.lookup(root))
    return known;
  Value result = findPointer(root);
  pointers[root] = result;
  return result;
}

Value RunFunction::findPointer(Value root) {
  if (auto feed = dyn_cast<BlockArgument>(root))
    return element(Field::Feeds, feed.getArgNumber());
  if (auto read = root.getDefiningOp<ReadOp>())
    return element(Field::Variables, host.variableNumber(read.getVariableAttr()));
  if (auto constant = root.getDefiningOp<ConstantOp>())
    return host.weight(b, loc, constant.getValue());
  auto result = cast<OpResult>(root);
  Place place = placeOf(cast<LaunchOp>(result.getOwner()), result.getResultNumber());
  switch (place.kind) {
  case Place::Kind::Variable:
    return element(Field::Variables, host.variableNumber(place.variable));
  case Place::Kind::Fetch:
    return element(Field::Fetches, place.index);
  case Place::Kind::Arena:
  case Place::Kind::Operand:
    break;
  }
  return arenaPointer(arena.slotOf(root));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

LogicalResult RunFunction::checkKernel(LaunchOp op, LLVM::LLVMFuncOp kernel) {
  if (!kernel || !kernel->hasAttr("tfc.extent"))
    return op.emitOpError("expects ") << op.getKernelAttr() << " to be a generated kernel";
  size_t count = op.getSizes().getSizes().size() + op.getInputs().size() + 3;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    count += !isWrittenOverOperand(op, i);
  if (kernel.getNumArguments() != count)
    return op.emitOpError("expects ") << op.getKernelAttr() << " to take " << count
                                      << " arguments, but it takes " << kernel.getNumArguments();
  return success();
}

/// Sizes, operands, results and scratch.
SmallVector<Value> RunFunction::argumentsOf(LaunchOp op) {
  SmallVector<Value> arguments;
  for (const DimExpr &size : op.getSizes().getExprs())
    arguments.push_back(sizes->build(size));
  for (Value input : op.getInputs())
    arguments.push_back(pointerTo(rootOf(input)));
  for (auto [i, output] : llvm::enumerate(op.getOutputs()))
    if (!isWrittenOverOperand(op, i))
      arguments.push_back(pointerTo(output));
    else
      ++counts.inPlace;
  std::optional<Arena::Slot> scratch = arena.scratchOf(op);
  arguments.push_back(scratch ? arenaPointer(*scratch)
                              : LLVM::ZeroOp::create(b, loc, pointer).getResult());
  return arguments;
}

std::optional<int64_t> RunFunction::largest(const DimExpr &size) const {
  return size
      .interval([&](StringRef name) -> DimExpr::Interval {
        for (const SymbolInfo &symbol : info.symbols)
          if (symbol.name == name && symbol.upper >= 0)
            return {symbol.lower, symbol.upper};
        return {0, std::nullopt};
      })
      .second;
}

LogicalResult RunFunction::launch(LaunchOp op) {
  auto kernel = host.getSymbols().lookup<LLVM::LLVMFuncOp>(op.getKernel());
  if (failed(checkKernel(op, kernel)))
    return failure();
  ++counts.launches;
  DimExpr extent = launchSize(op, kernel, "tfc.extent");
  std::optional<int64_t> units = largest(extent);
  if (units && *units <= 0)
    return success();
  auto grainAttr = kernel->getAttrOfType<IntegerAttr>("tfc.grain");
  int64_t grain = grainAttr ? std::max<int64_t>(grainAttr.getInt(), 1) : 1;
  SmallVector<Value> arguments = argumentsOf(op);
  if (!units || *units > grain) {
    runTasks(kernel, arguments, extent, grain);
    return success();
  }
  arguments.push_back(sizes->constant(0));
  arguments.push_back(sizes->build(extent));
  LLVM::CallOp::create(b, loc, kernel, arguments);
  return success();
}

/// Room on the stack for `count` values of 8 bytes, the same for all launches.
Value RunFunction::stackArray(unsigned count) {
  slotCount = std::max(slotCount, count);
  if (!slots) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    Value one = constant32(1);
    slots = LLVM::AllocaOp::create(b, loc, pointer, LLVM::LLVMArrayType::get(b.getI64Type(), count),
                                   one);
  }
  return slots;
}

/// Lets the runtime's threads run the kernel. One chunk runs on the caller's.
void RunFunction::runTasks(LLVM::LLVMFuncOp kernel, ArrayRef<Value> arguments,
                           const DimExpr &extent, int64_t grain) {
  Value context = stackArray(arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), context,
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    LLVM::StoreOp::create(b, loc, argument, place);
  }
  Type i64 = b.getI64Type();
  auto run = host.runtime("tfc_rt_parallel_for", LLVM::LLVMVoidType::get(b.getContext()),
                          {pointer, pointer, pointer, i64, i64});
  Value task = LLVM::AddressOfOp::create(b, loc, pointer, (kernel.getName() + ".task").str());
  Value all[] = {frame, task, context, sizes->build(extent), sizes->constant(grain)};
  LLVM::CallOp::create(b, loc, run, all);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The byte that a constant repeats, if it is one.
static std::optional<int8_t> repeatedByte(Value root) {
  auto constant = root.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!value || !value.isSplat() || value.getElementType().isInteger(1))
    return std::nullopt;
  ArrayRef<char> bytes = value.getRawData();
  if (bytes.empty() || !llvm::all_equal(bytes))
    return std::nullopt;
  return bytes.front();
}

/// Copies the elements of `source`, which are at `from` or, where that is null, at its place.
void RunFunction::copy(Value to, Value from, Value source) {
  ++counts.copies;
  Value bytes = sizes->build(bytesOf(source.getType()));
  if (std::optional<int8_t> byte = repeatedByte(source)) {
    Value filler = LLVM::ConstantOp::create(b, loc, b.getI8IntegerAttr(*byte));
    LLVM::MemsetOp::create(b, loc, to, filler, bytes, /*isVolatile=*/false);
    return;
  }
  LLVM::MemcpyOp::create(b, loc, to, from ? from : pointerTo(source), bytes,
                         /*isVolatile=*/false);
}

/// Copies the fetches that are among `values` and not made in the fetches' own memory.
void RunFunction::copyFetches(ArrayRef<Value> values) {
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    Value root = rootOf(value);
    if (!llvm::is_contained(values, root))
      continue;
    if (auto launchOp = root.getDefiningOp<LaunchOp>()) {
      Place place = placeOf(launchOp, cast<OpResult>(root).getResultNumber());
      if (place.kind == Place::Kind::Fetch && place.index == int64_t(i))
        continue;
    }
    copy(element(Field::Fetches, i), nullptr, root);
  }
}

void RunFunction::copyToVariables() {
  DenseMap<Value, Value> saved;
  for (ReadOp read : savedBeforeCopies(block)) {
    Value room = arenaPointer(arena.savedOf(read.getValue()));
    copy(room, nullptr, read.getValue());
    saved[read.getValue()] = room;
  }
  for (AssignOp assign : copiedAtEnd(block)) {
    Value root = rootOf(assign.getValue());
    Value to = element(Field::Variables, host.variableNumber(assign.getVariableAttr()));
    copy(to, saved.lookup(root), root);
  }
}

LogicalResult tfc::memory::buildRunFunction(HostModule &host, EntryOp entry, const EntryInfo &info,
                                            unsigned number, const Arena &arena,
                                            HostCounts &counts) {
  return RunFunction(host, entry, info, number, arena, counts).build();
}
