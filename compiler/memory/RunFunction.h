//===- RunFunction.h - Building the function that runs an entry ------------===//
//
// One class over several files: HostFunction.cpp (facts, checks, pointers),
// HostLaunches.cpp, HostCopies.cpp, HostControl.cpp (branches, loops, scalars in
// registers), HostLists.cpp (lists and tapes), HostQueues.cpp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/memory/HostFunction.h"
#include "compiler/memory/Lists.h"
#include "compiler/memory/Places.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/SizeOps.h"
#include "runtime/Model.h"

namespace tfc::memory {

/// Pointers of `tfc_call_frame`, by their position.
enum class Field { Arena = 1, Feeds, Fetches, Variables, Symbols, Chunks, Found };
static_assert(offsetof(tfc_call_frame, arena) == 8 && offsetof(tfc_call_frame, symbols) == 40 &&
              offsetof(tfc_call_frame, chunks) == 48 && offsetof(tfc_call_frame, found) == 56);

class RunFunction {
public:
  RunFunction(HostModule &host, dfg::EntryOp entry, const EntryInfo &info, unsigned number,
              const Arena &arena, HostCounts &counts);

  llvm::LogicalResult build();

private:
  // Facts and checks.
  llvm::LogicalResult checkFact(llvm::StringRef fact);
  void checkLimits();
  void checkLimit(const dfg::SizeLimit &limit, tfc_status status, llvm::StringRef text);
  std::pair<mlir::Value, mlir::Value> compare(mlir::LLVM::ICmpPredicate predicate,
                                              const dfg::DimExpr &lhs, const dfg::DimExpr &rhs);
  void failUnless(mlir::Value condition, tfc_status status, const llvm::Twine &text,
                  llvm::ArrayRef<mlir::Value> values);
  /// Fails with a message that ends with the values of the first names in `used`.
  void failWithSizesUnless(mlir::Value condition, tfc_status status, llvm::StringRef text,
                           llvm::ArrayRef<dfg::DimExpr> used);
  void returnUnlessOk(mlir::Value status);
  void check(dfg::CheckOp op);

  // Steps.
  llvm::LogicalResult run(mlir::Block &block);
  llvm::LogicalResult run(mlir::Operation *step);
  llvm::LogicalResult launch(dfg::LaunchOp op);
  llvm::LogicalResult checkKernel(dfg::LaunchOp op, mlir::LLVM::LLVMFuncOp kernel);
  llvm::SmallVector<mlir::Value> argumentsOf(dfg::LaunchOp op);
  void runTasks(mlir::LLVM::LLVMFuncOp kernel, llvm::ArrayRef<mlir::Value> arguments,
                const dfg::DimExpr &extent, int64_t grain);

  // Branches and loops.
  llvm::LogicalResult branch(dfg::IfOp op);
  llvm::LogicalResult runBranch(dfg::IfOp op, mlir::Block &region, mlir::Block *join);
  llvm::LogicalResult loop(dfg::WhileOp op);
  void startLoop(dfg::WhileOp op, mlir::Block *header);
  void enterLoop(dfg::WhileOp op, mlir::Block *header);
  void goOn(dfg::WhileOp op, mlir::Block *header);
  void leaveLoop(dfg::WhileOp op);
  void copyYielded(mlir::Value value, unsigned index, mlir::Value to);
  mlir::Block *addBlock() {
    mlir::OpBuilder::InsertionGuard guard(b);
    return b.createBlock(&function.getBody(), function.getBody().end());
  }

  // Scalars in registers.
  void compute(mlir::Operation *op);
  mlir::Value scalarOf(mlir::Value value);
  mlir::Value findScalar(mlir::Value value);
  mlir::Value load(mlir::OpBuilder &at, mlir::Value value);
  void setScalar(mlir::Value value, mlir::Value scalar);
  void store(mlir::Value scalar, mlir::Value to);
  mlir::Value positionOf(mlir::Value scalar);
  void bind(dfg::BindSizeOp op);

  // Lists and tapes.
  mlir::Value chunkField(unsigned chunk, bool isSize);
  mlir::Value chunkData(unsigned chunk);
  void reserve(unsigned chunk, mlir::Value bytes);
  void runIf(mlir::Value condition, llvm::function_ref<void()> then);
  mlir::Value compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value lhs, mlir::Value rhs);
  mlir::Value bytesOfElements(mlir::Value count, mlir::Type element);
  mlir::Value lengthOf(mlir::Value list);
  mlir::Value dataOf(mlir::Value list);
  void copyList(mlir::Value list, unsigned to);
  void copyBytes(unsigned from, unsigned to, mlir::Value bytes);
  void copyYieldedLists(dfg::WhileOp op);
  void create(dfg::ListCreateOp op);
  void unstack(dfg::ListUnstackOp op);
  void read(dfg::ListReadOp op);
  void write(dfg::ListWriteOp op);
  void writeElement(mlir::Value to, mlir::Value element);
  void stack(dfg::ListStackOp op);
  void measure(dfg::ListSizeOp op);
  void startTapes();
  mlir::Value tapeUnit(dfg::TapeOp tape);
  mlir::Value tapeStep(dfg::TapeOp tape);
  void push(dfg::PushOp op);
  void show(dfg::PushOp op, mlir::IntegerAttr number);
  void pop(dfg::PopOp op);

  // Queues.
  mlir::Value addressesOf(mlir::ValueRange values);
  bool readsVariables() const;
  mlir::LLVM::CallOp callQueue(llvm::StringRef name, mlir::Type result,
                               mlir::FlatSymbolRefAttr queue, llvm::ArrayRef<mlir::Value> more);
  void moveElements(llvm::StringRef name, mlir::FlatSymbolRefAttr queue, mlir::ValueRange values,
                    const dfg::DimExpr &count, mlir::Value taken = {});
  void enqueue(dfg::EnqueueOp op);
  void enqueue(dfg::EnqueueManyOp op);
  void dequeue(dfg::DequeueOp op);
  void dequeue(dfg::DequeueManyOp op);
  void dequeue(dfg::DequeueUpToOp op);
  void measure(dfg::QueueSizeOp op);
  void close(dfg::QueueCloseOp op);

  // Copies.
  void copyFetches(llvm::ArrayRef<mlir::Value> values);
  void copyToVariables();
  void copy(mlir::Value to, mlir::Value from, mlir::Value source);

  // Addresses. What does not depend on the place is computed once, at the start.
  mlir::Value pointerTo(mlir::Value root);
  mlir::Value findPointer(mlir::Value root);
  mlir::Value resultPointer(mlir::Operation *around, unsigned index);
  mlir::Value arenaPointer(Arena::Slot slot);
  mlir::Value field(Field which);
  mlir::Value element(Field which, unsigned index);
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value constant32(int64_t value) {
    return mlir::LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  mlir::Value stackArray(unsigned count);
  std::optional<int64_t> largest(const dfg::DimExpr &size) const;

  HostModule &host;
  dfg::EntryOp entry;
  mlir::Block &block;
  const EntryInfo &info;
  const Arena &arena;
  HostCounts &counts;
  mlir::OpBuilder b;
  /// Behind what has been computed at the start.
  mlir::OpBuilder top;
  mlir::Location loc;
  mlir::Type pointer;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Value frame;
  std::optional<SizeBuilder> sizes;
  std::map<std::pair<Field, int>, mlir::Value> fields; // -1: the field itself
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;   // by root
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;    // in registers
  /// Where the region that runs writes the results of the operation around it.
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, mlir::Value> targets;
  ListPlan lists;
  llvm::DenseMap<mlir::Value, mlir::Value> lengths;           // of lists
  llvm::DenseMap<mlir::Operation *, mlir::Value> tapeLengths; // where they are
  std::map<std::pair<unsigned, bool>, mlir::Value> chunkFields;
  std::vector<mlir::Value> regionBases;
  mlir::LLVM::AllocaOp slots;
  unsigned slotCount = 0;
};

} // namespace tfc::memory
