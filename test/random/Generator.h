//===- Generator.h - Random programs ---------------------------------------===//
//
// Statements are drawn from the table of operations and created through
// GraphBuilder, so what does not type is simply tried again, and an operation
// that is added to the dialect is used without a word here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Program.h"
#include "Random.h"
#include "dialects/dfg/OpTable.h"
#include "frontend/GraphBuilder.h"

namespace tfc::random {

class Generator {
public:
  Generator(mlir::MLIRContext &context, uint64_t seed, const Style &style);

  Program run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Attributes = llvm::SmallVector<mlir::NamedAttribute>;

  //===--- Entries (Generator.cpp) ----------------------------------------===//

  void choosePalette();
  void makeVariables();
  void makeEntry(unsigned number);
  void makeReader();
  void finishEntry();
  void planCalls();
  std::map<std::string, int64_t> drawSizes();

  //===--- Values ---------------------------------------------------------===//

  mlir::Type drawDtype();
  /// Each of them as often as any other.
  mlir::Type drawAnyDtype();
  dfg::DimExpr drawNamedSize();
  dfg::DimExpr drawSize();
  mlir::Value addFeed(mlir::RankedTensorType type, llvm::StringRef suffix = "");
  /// `extremes`: how likely it has extreme numbers.
  mlir::Value addConstant(mlir::RankedTensorType type, bool isPositive, double extremes);
  /// A constant of one number.
  mlir::Value addSplat(mlir::RankedTensorType type, bool isPositive);
  /// Removes feeds, the last ones, that nothing uses, down to `count`.
  void dropFeeds(size_t count);
  /// All values that a statement may use, those of the entry's feeds included.
  Values visible();
  /// One of them for which `accept` holds, recent ones more often.
  mlir::Value findValue(llvm::function_ref<bool(mlir::Value)> accept);
  /// A value of the type: a known one, a constant or a new feed.
  mlir::Value valueOf(mlir::RankedTensorType type, bool isPositive = false);
  void remember(mlir::ValueRange values);
  /// Whether some call makes the value larger than programs here should be.
  bool isTooLarge(mlir::Type type);

  //===--- Operations (GenerateOps.cpp) -----------------------------------===//

  bool makeOperation();
  /// Unless null, `first` is the first operand, and the result has its type.
  bool tryOperation(const dfg::OpSignature &op, mlir::Value first = {});
  const dfg::OpSignature &pickOp();
  const dfg::OpSignature &pickElementwiseOp();
  const dfg::OpSignature &pickListOp();
  /// What an operation makes of `value`, of the same type, or null.
  mlir::Value change(mlir::Value value);
  /// Adds to the operands that are there.
  bool pickOperands(const dfg::OpSignature &op, Values &operands);
  mlir::Value pickOperand(const dfg::OpSignature &op, unsigned number, mlir::ValueRange before);
  mlir::Value pickIndex(const dfg::OpSignature &op, mlir::ValueRange before);
  dfg::Shape varyShape(mlir::ValueRange before);
  Attributes pickAttributes(const dfg::OpSignature &op, mlir::ValueRange operands);
  mlir::Attribute pickAttribute(const dfg::AttrSignature &attr, mlir::ValueRange operands);
  mlir::Attribute pickDims(llvm::StringRef name, llvm::ArrayRef<dfg::DimExpr> shape);
  mlir::Attribute pickInts(llvm::StringRef name, int64_t rank);
  mlir::Attribute pickText(llvm::StringRef name, mlir::ValueRange operands);

  //===--- Families (GenerateFamilies.cpp) --------------------------------===//

  /// Removes what `make` left if it says that it failed.
  bool attempt(llvm::function_ref<bool()> make);
  /// The first result of an operation; null if it does not type, or is too large.
  mlir::Value make(llvm::StringRef op, mlir::ValueRange operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::NamedAttribute dimsAttr(llvm::StringRef name, llvm::ArrayRef<dfg::DimExpr> sizes);
  mlir::NamedAttribute intsAttr(llvm::StringRef name, llvm::ArrayRef<int64_t> numbers);
  bool tryOperands(const dfg::OpSignature &op, llvm::ArrayRef<mlir::Value> values);
  bool makeScalars();
  bool makeProduct();
  Attributes pickWindowOptions(size_t rank);
  mlir::Value pickImages(size_t rank, int64_t channels);
  mlir::Value pickKernel(mlir::Value images, llvm::ArrayRef<int64_t> taps, int64_t perGroup,
                         int64_t features);
  bool makeConvolution();
  bool makePool();
  bool makeList();
  std::optional<dfg::DimExpr> sizeOfList(mlir::Value list, bool &isExact);
  void readLists(size_t from);
  /// Whether the type has a size that the data decide.
  bool isBound(mlir::Type type) { return mentions(type, bound); }
  static bool mentions(mlir::Type type, llvm::ArrayRef<std::string> names);
  void bind(mlir::Value count, const dfg::DimExpr &most);
  bool makeSize();
  /// The same, leaving nothing behind where it fails.
  bool tryBinding();

  //===--- Other statements (GenerateRegions.cpp) -------------------------===//

  void makeStatement();
  void drawStatement();
  bool makeBranch();
  bool makeLoop();
  bool makeGradients();
  bool makeRead();
  bool makeExchange(int64_t one, int64_t other);
  bool makeAssign();
  /// Statements at the end of the current block, whose values go out of sight behind them.
  template <typename Body> void inBlock(mlir::Block &block, Body body);
  /// A value of `type` made in the current block, if there is one.
  mlir::Value yieldedValue(mlir::Type type, size_t blockStart);

  //===--- The graph form (GenerateDataflow.cpp) ---------------------------===//

  bool makeDataflow();
  void makeGraphStatements(int64_t count);
  void makeGraphStatement();
  void wrapInNode(mlir::Operation *op);
  Values makePlace(mlir::ValueRange values, int64_t count);
  mlir::Value graphOp(llvm::StringRef name, mlir::ValueRange operands,
                      llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  bool makeFork();
  void joinSides(mlir::Value value, llvm::ArrayRef<mlir::Value> others);
  bool makeLooseMerge();
  mlir::Value enter(mlir::Value value, llvm::StringRef frame, bool isConstant);
  mlir::Value makeGoOn(llvm::StringRef frame);
  bool makeFrame();
  void closeFrame(mlir::ValueRange merged, mlir::ValueRange onTrue,
                  llvm::ArrayRef<mlir::Value> made);

  /// How deep branches and loops stand in each other.
  unsigned mostDepth() const { return style.scale > 1 ? 3 : 2; }

  Random random;
  Style style;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  GraphBuilder builder;
  mlir::Location location;
  std::vector<CallPlan> calls;

  mlir::Type mainFloat, mainInteger;
  std::vector<int64_t> sizes; // that shapes are made of
  std::vector<std::string> symbols;
  int64_t mostElements;
  bool isRisky; // checks may fail
  std::vector<mlir::RankedTensorType> variables;
  std::vector<std::string> entryNames;

  dfg::EntryOp entry;
  std::vector<std::string> feedNames;
  Values pool; // of the blocks around the current place
  unsigned depth = 0;
  bool isInGraph = false;                  // in a `dataflow` block
  Values loose;                            // of the graph, which may be dead
  Values tokens;                           // of nodes that are live at the current place
  unsigned frames = 0;                     // of the graph, so far
  unsigned placeDepth = 0, frameDepth = 0; // around the current place
  mlir::Value counter;                     // of the frame around
  std::vector<std::string> bound;          // names of sizes that the data decide, in sight
  unsigned boundSizes = 0;                 // of the entry
  std::map<std::string, int64_t> largest;  // values of the symbols in calls
};

} // namespace tfc::random
