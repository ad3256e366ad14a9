/// Turns syntax trees into a dfg module: expands functions, parts and the static stage.
#pragma once

#include "dialects/dfg/Numbers.h"
#include "frontend/GraphBuilder.h"
#include "frontend/TensorFile.h"
#include "frontend/text/Budget.h"
#include "frontend/text/Diagnostics.h"
#include "frontend/text/Scope.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>
#include <map>
#include <set>

namespace tfc::text {

/// The name that a value gets from the `let` around its expression.
struct LetName {
  std::string path;
  /// The path under which older checkpoints know it; empty if it is the same.
  std::string formerly;
  OrderKey order;
  Instance *parent = nullptr;
  /// A 'let' on the way is '@frozen'.
  bool isFrozen = false;
};

class Elaborator {
public:
  Elaborator(GraphBuilder &builder, SourceManager &sources, DiagnosticEngine &diagnostics,
             const ImportOptions &options = {});

  /// Reads `file` and what it uses; all errors have been reported when it returns.
  void run(FileId file);

  //===--- For other frontends (LibraryCalls.cpp) -------------------------===//

  std::optional<Function> findShipped(llvm::StringRef file, llvm::StringRef name);
  /// Expands a call with these values of parameters in the entry that is being built.
  Entity callWith(const Function &function,
                  llvm::ArrayRef<std::pair<llvm::StringRef, Entity>> values);
  static bool isTensorParam(const ast::Param &param);

private:
  /// An argument of a call with what it is, once that is known.
  struct Argument {
    ast::Name label;
    const ast::Expr *expr = nullptr;
    SourceRange range;
    Entity value;
  };
  using Arguments = llvm::SmallVector<Argument, 4>;
  enum class Flow { Next, Returned };
  /// An error that an operation's inference reported.
  struct CapturedError {
    std::string text;
    std::vector<std::string> notes;
  };

  /// What a loop that is being elaborated runs over and carries.
  struct Loop;
  /// A loop around the current operation: what draws of random numbers need to know of it.
  struct LoopContext {
    dfg::WhileOp op;
    /// The argument that counts iterations; negative as long as there is none.
    int counter = -1;
    bool inCondition = false;
    /// What draws in the condition and in the body take as their counters.
    mlir::Value draws[2];
    /// First values and next ones of what the loop carries besides what the author wrote.
    llvm::SmallVector<mlir::Value> added, addedNext;
  };

  //===--- Errors (ElaborateErrors.cpp) -----------------------------------===//

  /// Reports an error with the calls around it, once per place and slug.
  Diagnostic &error(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  Entity fail(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  void addCallNotes(Diagnostic &diagnostic);
  std::string describeDims(const Frame &frame);
  /// "'w' is declared here as f32[4]", for a name.
  void addDeclarationNote(Diagnostic &diagnostic, const ast::Expr *expr, const Entity &value);
  void suggest(Diagnostic &diagnostic, llvm::StringRef name,
               llvm::ArrayRef<llvm::StringRef> candidates);
  /// Lists all candidates where none is alike.
  void suggestAmong(Diagnostic &diagnostic, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates);
  std::string nameOperands(std::string note, llvm::ArrayRef<Argument> operands);
  mlir::Location locate(SourceRange range);
  /// Runs `build` and turns its errors into ones at `at`, with carets under `operands` too.
  /// `operatorText` replaces the operation's name in them.
  template <typename Build>
  bool capture(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
               llvm::StringRef operatorText, Build build);
  /// Where the attribute stands that a message about its number quotes; else `at`.
  SourceRange placeOfNumber(SourceRange at, llvm::StringRef slug, llvm::StringRef message) const;
  void reportCaptured(SourceRange at, llvm::ArrayRef<Argument> operands, llvm::StringRef op,
                      llvm::StringRef operatorText, llvm::ArrayRef<CapturedError> errors);

  //===--- Limits (ElaborateBudget.cpp) -----------------------------------===//

  /// Spends steps of the budget. False where it is exceeded: an error has been reported then, and
  /// what is left stays silent.
  bool spend(uint64_t steps, SourceRange at);
  void reportExceeded(SourceRange at);
  /// Spends what a value costs; poison where it is too large.
  Entity limited(Entity value, SourceRange at);
  bool limitProduct(const dfg::DimExpr &lhs, const dfg::DimExpr &rhs, SourceRange at);

  //===--- What to write instead (ElaborateHints.cpp) ---------------------===//

  void hintOperation(Diagnostic &diagnostic, llvm::StringRef op, llvm::ArrayRef<Argument> operands);
  void hintMember(Diagnostic &diagnostic, const ast::MemberExpr &expr);
  /// What several results are called, where one tensor is expected.
  void hintResults(Diagnostic &diagnostic, const Group &results, SourceRange at);
  /// How a name of a block that has ended gets out of it; false if it is none.
  bool hintEnded(Diagnostic &diagnostic, llvm::StringRef name);
  /// What a function of other libraries is called here; false if it is unknown.
  bool hintForeign(Diagnostic &diagnostic, llvm::StringRef name);
  /// The shipped file that declares a name.
  void hintLibrary(Diagnostic &diagnostic, llvm::StringRef name);

  //===--- Sizes that are not equal (ElaborateProofs.cpp) -----------------===//

  /// Says where "cannot prove that A equals B" gets its sizes from, and what can be done.
  void explainUnequal(Diagnostic &diagnostic, llvm::StringRef text,
                      llvm::ArrayRef<Argument> operands);
  void noteIndependent(Diagnostic &diagnostic, llvm::ArrayRef<std::string> names);
  std::string sizeInFrame(const dfg::DimExpr &size);
  std::string checkedType(const Argument &operand, const dfg::DimExpr &from,
                          const dfg::DimExpr &to);

  //===--- Files and names (ElaborateModules.cpp) -------------------------===//

  void allowFolderOf(FileId main);
  std::optional<std::string> findFile(llvm::StringRef path, FileId from, SourceRange at);
  void reportCycle(FileId file, SourceRange usedAt);
  Module *loadModule(FileId file, SourceRange usedAt, bool isShipped = false);
  Module *loadShipped(llvm::StringRef name, SourceRange usedAt);
  Module *loadUsed(const ast::UseDecl &use, const Module &from);
  void declare(llvm::StringMap<Declaration> &table, const ast::Name &name, Declaration what);
  void declareItems(Module &module);
  void checkParamTypes(const ast::Stmt &item);
  void declareUse(Module &module, const ast::UseDecl &use, unsigned position);
  std::optional<Entity> lookup(llvm::StringRef name, SourceRange at);
  /// A declared name of a file.
  std::optional<Entity> valueInModule(Module &module, llvm::StringRef name, SourceRange at);
  std::optional<Entity> builtinByName(llvm::StringRef name);
  Entity memberOfModule(Module &module, const ast::Name &name);
  Entity unknownName(llvm::StringRef name, SourceRange at);
  std::vector<llvm::StringRef> visibleNames();
  /// Computes a `let` when it is first needed.
  /// Evaluates the `let`s that `binding` names, and those that these name, without recursion, if
  /// evaluating them where they are named would nest deeply. `find` gives those that have not been
  /// evaluated yet.
  void forceNamed(const ast::Binding &binding,
                  llvm::function_ref<const ast::Binding *(llvm::StringRef)> find,
                  llvm::function_ref<void(const ast::Binding &)> evaluate);
  Entity force(LazyValue &lazy, const ast::Binding &binding, std::shared_ptr<Frame> bindingFrame,
               LetName name, const ast::Stmt &stmt);
  /// What the file, the part or the call declares by this name, but no operation.
  /// With `inBlocks`, also what a `dataflow` block around binds.
  std::optional<Entity> lookupDeclared(llvm::StringRef name, SourceRange at, bool inBlocks = true);

  //===--- Expressions (ElaborateExpressions.cpp) -------------------------===//

  Entity eval(const ast::Expr *expr);
  Entity evalUnlimited(const ast::Expr *expr);
  Entity evalName(const ast::NameExpr &expr);
  Entity evalString(const ast::StringExpr &expr);
  Entity evalUnary(const ast::UnaryExpr &expr);
  Entity evalBinary(const ast::BinaryExpr &expr);
  Entity evalLogic(const ast::BinaryExpr &expr);
  Entity evalMember(const ast::MemberExpr &expr);
  Entity evalComprehension(const ast::ComprehensionExpr &expr);
  Entity evalIndex(const ast::IndexExpr &expr);
  Entity evalTypeIndex(const ast::IndexExpr &expr, mlir::Type element);
  Entity indexGroup(const ast::IndexExpr &expr, const Group &group);
  struct AxisSlice;
  bool sliceElement(const ast::IndexItem &item, int64_t axis, mlir::Type type, AxisSlice &slice);
  bool sliceRange(const ast::IndexItem &item, AxisSlice &slice);
  bool slicesOf(const ast::IndexExpr &expr, mlir::Type type,
                llvm::SmallVectorImpl<AxisSlice> &slices);
  mlir::Value emitSlice(const ast::IndexExpr &expr, llvm::ArrayRef<AxisSlice> slices,
                        mlir::Value tensor);
  Entity gatherIndices(const ast::IndexExpr &expr, llvm::ArrayRef<AxisSlice> slices,
                       mlir::Value sliced);
  mlir::Value runTimeIndex(const Entity &value, const ast::Expr *expr);
  std::optional<int64_t> evalStaticInt(const ast::Expr *expr);
  Entity indexTensor(const ast::IndexExpr &expr, mlir::Value tensor);
  Entity runTimeBinary(const ast::BinaryExpr &expr, const Entity &lhs, const Entity &rhs);
  /// Calls `body` for each element of what `each` runs over, with its names bound.
  bool forEach(const ast::Each &each, llvm::function_ref<bool(const Entity &)> body);
  std::optional<std::vector<Entity>> sequence(const ast::Each &each);

  //===--- The static stage (ElaborateStatic.cpp) -------------------------===//

  /// The operator on static values; nothing if it needs run-time values.
  std::optional<Entity> staticBinary(ast::BinaryOp op, const Entity &lhs, const Entity &rhs,
                                     SourceRange at);
  std::optional<Entity> intBinary(ast::BinaryOp op, int64_t lhs, int64_t rhs, SourceRange at);
  /// Functions of numbers that operations also offer for tensors: sqrt, min, ...
  std::optional<Entity> staticMath(llvm::StringRef name, llvm::ArrayRef<Argument> args,
                                   SourceRange at);
  Entity callBuiltin(llvm::StringRef name, Arguments &args, const ast::CallExpr &call);
  std::optional<Entity> askType(llvm::StringRef name, const Argument &arg);
  Entity widen(const Argument &arg);
  Entity replaceValues(llvm::ArrayRef<Argument> args, SourceRange at);
  Entity callCastByName(Arguments &args, const ast::CallExpr &call);
  Entity callConstant(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callEnsure(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callLoad(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity zipGroups(llvm::ArrayRef<Argument> args, SourceRange at);
  Entity addAll(llvm::ArrayRef<Argument> args, SourceRange at);
  std::optional<bool> evalCondition(const ast::Expr *expr, llvm::StringRef what);
  std::optional<bool> compareSizes(ast::BinaryOp op, const dfg::DimExpr &lhs,
                                   const dfg::DimExpr &rhs);
  dfg::DimExpr::Interval boundsOf(llvm::StringRef symbol) const;

  //===--- Types and sizes (ElaborateDims.cpp) ----------------------------===//

  std::optional<dfg::DimExpr> evalSize(const ast::Expr *expr);
  std::optional<dfg::DimExpr> asSize(const Entity &value, const ast::Expr *expr);
  /// Reports a run-time value that has the name of a size.
  void failHiddenSize(llvm::StringRef name, SourceRange at, const Entity &value);
  mlir::Type elementType(ast::DType dtype, SourceRange at);
  std::optional<TensorType> evalType(const ast::Type &type);
  std::optional<dfg::Shape> evalShape(llvm::ArrayRef<ast::IndexItem> items);
  /// What a name between the brackets of a type means; nothing while it is not bound.
  std::optional<Entity> sizeName(llvm::StringRef name, SourceRange at);
  void bindSize(llvm::StringRef name, const Entity &value, SourceRange at);
  /// Binds the names in `type` so that it equals `actual`. Compound sizes are left to the second
  /// phase, when all plain names are bound.
  enum class UnifyPhase { Names, Compound };
  bool unify(const ast::Type &type, const TensorType &actual, UnifyPhase phase,
             const Argument &argument, const std::string &what);
  bool unifySize(const ast::Expr *expr, const dfg::DimExpr &actual, UnifyPhase phase,
                 const Argument &argument, llvm::function_ref<bool(const std::string &)> mismatch);
  bool bindOrCompare(llvm::StringRef name, const Entity &value, SourceRange nameAt,
                     const Argument &argument,
                     llvm::function_ref<bool(const std::string &)> mismatch);
  bool solveSize(const ast::Expr *expr, llvm::StringRef unknown, const dfg::DimExpr &actual,
                 llvm::function_ref<bool(const std::string &)> mismatch);
  void collectUnbound(const ast::Expr *expr, llvm::SmallVectorImpl<llvm::StringRef> &names);
  std::string typeText(const ast::Type &type);

  //===--- Sizes that the data decide (ElaborateSizes.cpp) ----------------===//

  /// A size that an operation of the current entry binds.
  struct RunTimeSize {
    std::string name;
    dfg::DimExpr bound;
    /// In the entry: the call that led there.
    SourceRange at;
    mlir::Operation *op;
  };
  const RunTimeSize *findRunTimeSize(const dfg::DimExpr &size) const;
  bool isRunTimeSize(const dfg::DimExpr &size) const;
  std::string uniqueSizeName(llvm::StringRef name) const;
  Entity callBounded(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  void renameSize(std::string from, const std::string &to);
  void nameNewSizes(const ast::Type &type);
  std::pair<dfg::DimExpr, dfg::DimExpr> limitsOf(const dfg::DimExpr &size) const;
  bool boundSize(const ast::BinaryExpr &expr, const dfg::DimExpr &size,
                 llvm::function_ref<bool(const std::string &)> mismatch);
  void checkFact(ast::BinaryOp op, const dfg::DimExpr &lhs, const dfg::DimExpr &rhs,
                 SourceRange at);
  bool leavesBlock(mlir::Type type, size_t outside, llvm::StringRef keyword, SourceRange at);
  void noteRunTimeSizes(Diagnostic &diagnostic, llvm::ArrayRef<std::string> names);

  //===--- Tensors (ElaborateTensors.cpp) ---------------------------------===//

  /// The run-time value; a number becomes a constant of `preferred`, or i32 or f32.
  mlir::Value toTensor(const Entity &value, mlir::Type preferred, SourceRange at);
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<dfg::DimExpr> shape, SourceRange at);
  mlir::Value evalTensor(const ast::Expr *expr, mlir::Type preferred = {});
  mlir::Value readVariable(Variable &variable, SourceRange at);
  mlir::Value castTo(mlir::Value value, mlir::Type element, SourceRange at);
  mlir::Value assignVariable(Variable &variable, mlir::Value value, SourceRange at);
  mlir::Value emit(llvm::StringRef op, llvm::ArrayRef<Argument> operands, mlir::ValueRange values,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes, SourceRange at,
                   llvm::StringRef operatorText = {});
  /// Reports what the constants of a new operation make of it and nobody can mean
  /// (ElaborateLiterals.cpp).
  bool canBeMeant(mlir::Operation *op, SourceRange at, llvm::StringRef operatorText = {});
  Entity callAssign(llvm::StringRef name, Arguments &args, const ast::CallExpr &call);
  bool requireEntry(SourceRange at);
  /// Whether a value computed earlier can be used here.
  bool requireVisible(mlir::Value value, SourceRange at);

  //===--- Static numbers as tensors (ElaborateNumbers.cpp) ---------------===//

  struct TableElement;
  mlir::Value numberToTensor(const Entity &value, mlir::Type preferred, SourceRange at);
  mlir::Value listToTensor(const Entity &value, mlir::Type preferred, SourceRange at,
                           dfg::Conversion conversion);
  bool flattenTable(const Entity &value, SourceRange at, size_t depth,
                    llvm::SmallVectorImpl<int64_t> &shape, std::vector<TableElement> &elements);
  /// The number as an element, or null after an error: at `inner`, where the number stands in what
  /// is at `at`, if that is known.
  mlir::TypedAttr toElement(const dfg::Number &number, mlir::Type element,
                            dfg::Conversion conversion, SourceRange at, SourceRange inner);
  /// Makes `value` the number of type `element` that it is exactly, or reports that there is none.
  bool toExact(Entity &value, mlir::Type element, SourceRange at);
  /// Reports a size that may be too large for an integer type.
  bool checkSizeFits(const dfg::DimExpr &size, mlir::Type element, SourceRange at);
  Entity callCast(mlir::Type element, Arguments &args, const ast::CallExpr &call);

  //===--- Calls (ElaborateCalls.cpp) -------------------------------------===//

  Entity evalCall(const ast::CallExpr &call);
  Entity callEntity(const Entity &callee, const ast::CallExpr &call);
  Entity callFunction(const Function &function, const ast::CallExpr &call);
  static bool lacksType(llvm::ArrayRef<ast::Param> params);
  Entity failUncallable(const Instance &instance, const ast::CallExpr &call);
  Entity failUnnamed(const Part &part, const ast::CallExpr &call);
  Entity runBody(Frame &callee);
  /// `op`: what reads the arguments that are variables.
  bool evaluateArguments(const ast::CallExpr &call, Arguments &args,
                         const dfg::OpSignature *op = nullptr);
  /// The argument of each parameter by position or name, not yet evaluated.
  bool matchArguments(llvm::ArrayRef<ast::Param> params, const std::string &what,
                      const ast::CallExpr &call, std::vector<Argument> &matched);
  static llvm::SmallVector<size_t> argumentOrder(llvm::ArrayRef<Argument> args);
  /// The names in a fact with their values, for messages.
  std::string namesIn(const ast::Expr &fact);
  bool checkWhere(llvm::ArrayRef<ast::Expr *> facts, const std::string &what);
  Entity checkResults(const ast::FnDecl &fn, const Entity &result, SourceRange at);
  Entity checkResult(const ast::Type &type, const Entity &value, SourceRange at,
                     const std::string &what);

  //===--- Parameters (ElaborateParams.cpp) -------------------------------===//

  bool bindParams(const Function &function, std::vector<Argument> &args, Frame &callee);
  bool bindTypeArgument(const ast::Param &param, Argument &argument, llvm::StringRef callee);
  bool bindStaticParam(const ast::Param &param, Argument &argument);
  bool bindNumber(const ast::FnDecl &fn, const ast::Param &param, const Argument &argument);
  bool bindTensorParam(const ast::FnDecl &fn, const ast::Param &param, Argument &argument);
  mlir::Type knownElement(const ast::Type &type);
  bool checkDeclared(const ast::Type &type, const Entity &value, SourceRange at);
  std::optional<Entity> convertStatic(const ast::Param &param, const Argument &argument);
  /// A type that means a static value wherever it stands.
  static bool isStaticType(const ast::Type &type);
  /// A static parameter that takes the type of a tensor.
  static bool isTypeArgument(const ast::Param &param);

  //===--- Operations by name (ElaborateOps.cpp) --------------------------===//

  Entity callOp(const dfg::OpSignature &op, Arguments &args, const ast::CallExpr &call);
  Entity callOpOnState(const dfg::OpSignature &op, Arguments &args, const ast::CallExpr &call);
  struct OpCall;
  void addDrawArguments(OpCall &opCall, SourceRange at);
  bool placeArguments(OpCall &opCall, Arguments &args, const ast::CallExpr &call);
  bool placePositional(OpCall &opCall, Argument &argument);
  bool placeNamed(OpCall &opCall, Argument &argument);
  mlir::Value toOperand(llvm::StringRef op, const dfg::OperandSignature &signature,
                        const Entity &value, mlir::Type preferred, SourceRange at);
  bool buildOperands(OpCall &opCall, llvm::SmallVectorImpl<mlir::Value> &operands,
                     llvm::SmallVectorImpl<int32_t> &segments);
  bool checkExact(llvm::StringRef op, llvm::StringRef name, const Argument &given,
                  mlir::Type element);
  mlir::Type elementOfNumbers(const OpCall &opCall, mlir::ValueRange operands);
  bool buildAttributes(OpCall &opCall, mlir::Type element,
                       llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);
  Entity opResult(const dfg::OpSignature &op, mlir::Operation *operation);

  //===--- Random numbers (ElaborateRandom.cpp) ---------------------------===//

  int64_t seedFromPath();
  mlir::Value drawNumber(SourceRange at);
  mlir::Value drawsInLoop(LoopContext &loop, mlir::Value around, SourceRange at);
  mlir::Value drawCounter(SourceRange at);

  //===--- Parts (ElaborateParts.cpp) -------------------------------------===//

  std::shared_ptr<Frame> newFrame(Module *module, Instance *self);
  Entity evalLet(const ast::Expr *expr, const LetName &name);
  Entity instantiate(const Part &part, const ast::CallExpr &call, const LetName &name);
  bool declareMembers(Instance &instance, llvm::ArrayRef<ast::Stmt *> members);
  void collectSizeNames(Instance &instance);
  std::optional<Entity> valueInInstance(Instance &instance, llvm::StringRef name, SourceRange at);
  Entity memberOfInstance(Instance &instance, const ast::Name &name);
  void forceAll(Module &module);
  void forceAll(Instance &instance);
  void forceAll(const Entity &value);

  //===--- Variables (ElaborateVariables.cpp) -----------------------------===//

  /// How a variable gets its first value.
  struct Initializer {
    Variable *variable;
    const ast::Expr *init;
    std::shared_ptr<Frame> frame;
  };
  std::string formerName(const ast::Stmt &stmt);
  static bool isFrozen(const ast::Stmt &stmt);
  bool checkAnnotations(const ast::Stmt &stmt, llvm::ArrayRef<llvm::StringRef> known);
  std::optional<TensorType> typeOfInitializer(const ast::VarDecl &decl);
  Variable *declareVariable(const ast::VarDecl &decl, const LetName &name,
                            std::shared_ptr<Frame> initFrame);
  Entity declareSlot(const ast::VarDecl &decl, Frame &declaring);
  void initialize(const Initializer &initializer);
  void elaborateInitializers();

  //===--- Run-time blocks (ElaborateBlocks.cpp) --------------------------===//

  /// Elaborates `body` as a run-time block at the end of `into`; `bind` binds its names.
  bool runBlock(RunTimeBlock &block, mlir::Block &into, llvm::function_ref<void()> bind,
                llvm::function_ref<bool()> body);
  void execYield(const ast::YieldStmt &stmt);
  /// Reports a name of an outer block that would be bound again; returns whether there is none.
  bool checkRebinding(const ast::Name &name);
  /// What is read inside of `op` and not assigned there is read before it.
  void finishRegions(mlir::Operation *op);
  /// Runs `build` with operations going before the outermost region around.
  void outsideOfRegions(llvm::function_ref<void()> build);
  mlir::Value evalPredicate(const ast::Expr *expr, llvm::StringRef keyword);
  /// `value` if it is one bool, as `taker` needs it.
  mlir::Value toPredicate(mlir::Value value, llvm::StringRef taker, SourceRange at);

  //===--- Branches (ElaborateBranches.cpp) -------------------------------===//

  Entity evalIf(const ast::IfExpr &expr, llvm::ArrayRef<mlir::Type> hints);
  bool runBranch(RunTimeBlock &block, mlir::Block &into, const ast::IfExpr &expr, bool isElse,
                 llvm::ArrayRef<mlir::Type> hints);
  bool joinBranches(RunTimeBlock &onTrue, RunTimeBlock &onFalse, dfg::IfOp op,
                    llvm::ArrayRef<mlir::Type> hints, const ast::IfExpr &expr,
                    std::vector<mlir::Value> &thenValues, std::vector<mlir::Value> &elseValues);

  //===--- Loops (ElaborateLoops.cpp) -------------------------------------===//

  Entity evalWhile(const ast::WhileExpr &expr);
  Entity evalForOrScan(llvm::StringRef keyword, SourceRange at, const ast::Each &each,
                       llvm::ArrayRef<ast::Binding> carried, const ast::Block &body);
  bool evalRange(Loop &loop, const ast::Each &each);
  bool evalBounds(Loop &loop, const ast::Each &each);
  bool evalSources(Loop &loop, const ast::Each &each);
  bool addSource(Loop &loop, const Entity &value, SourceRange at);
  bool evalCarried(Loop &loop);
  bool buildCondition(Loop &loop, const ast::Expr *condition);
  bool buildBody(Loop &loop, const ast::Block &body);
  void bindCarried(const Loop &loop, mlir::Block &block);
  void bindElements(Loop &loop);
  bool convertYield(Loop &loop, RunTimeBlock &block, const ast::Block &body);
  void reportCarried(const ast::Binding &binding, mlir::Type start, mlir::Value next,
                     SourceRange nextAt);
  bool addStacks(Loop &loop, RunTimeBlock &block, size_t sizesOutside);
  void checkEnd(dfg::WhileOp loop, const ast::Expr *condition);
  Entity finishLoop(Loop &loop, const ast::Expr *condition);
  Entity elaborateLoop(Loop &loop, const ast::Expr *condition, const ast::Block &body);
  /// Adds a carried value to a loop that is being elaborated; returns its place.
  unsigned addCarried(LoopContext &loop, mlir::Value init);

  //===--- The graph form (ElaborateDataflow.cpp, ElaborateEffects.cpp) ---===//

  Entity evalDataflow(const ast::DataflowExpr &expr);
  void declareBindings(DataflowScope &scope, const ast::Block &body);
  std::optional<Entity> lookupDataflow(llvm::StringRef name, SourceRange at);
  void reportCycle(DataflowScope &scope, llvm::StringRef name, SourceRange at);
  void bindInDataflow(DataflowScope &scope, const ast::BindStmt &stmt);
  dfg::NodeOp makeNode(DataflowScope &scope, mlir::Operation *op,
                       llvm::ArrayRef<mlir::Value> after);
  void makeTrigger(DataflowScope &scope, DataflowScope::Binding &binding);
  Entity callAfter(const ast::CallExpr &call);
  bool isBackEdge(const ast::Expr *expr, unsigned depth);
  Entity callMerge(const ast::CallExpr &call);
  bool connectBackEdges(DataflowScope &scope);
  void checkEffectOrder(dfg::DataflowOp op);

  //===--- Queues (ElaborateQueues.cpp) -----------------------------------===//

  Entity declareQueue(const ast::QueueDecl &decl, const LetName &name,
                      std::shared_ptr<Frame> declaring);
  bool evalQueueKind(const ast::QueueDecl &decl, Queue &queue);
  void createQueues();
  llvm::SmallVector<mlir::Value> queueValues(const Queue &queue, llvm::ArrayRef<Argument> args,
                                             bool isMany, const ast::CallExpr &call);
  Entity callDequeue(llvm::StringRef name, const Queue &queue, llvm::ArrayRef<Argument> args,
                     const ast::CallExpr &call);
  Entity callClose(const Queue &queue, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  std::optional<Entity> callOnQueue(llvm::StringRef name, Arguments &args,
                                    const ast::CallExpr &call);

  //===--- Lists (ElaborateLists.cpp) -------------------------------------===//

  /// A run-time value, which may be a list.
  mlir::Value toValue(const Entity &value, mlir::Type preferred, SourceRange at);
  /// The list that a value is; null for another.
  static mlir::Value listOf(const Entity &value);
  static std::optional<ast::Type> elementOfListType(const ast::Type &type);
  bool unifyValue(const ast::Type &type, mlir::Type actual, UnifyPhase phase,
                  const Argument &argument, const std::string &what);
  Entity evalListType(const ast::IndexExpr &expr);
  mlir::Value createList(const TensorType &element, mlir::Value size, SourceRange at);
  Entity callListType(const ListType &type, Arguments &args, const ast::CallExpr &call);
  Entity indexList(const ast::IndexExpr &expr, mlir::Value list);
  std::optional<Entity> callOnList(llvm::StringRef name, Arguments &args,
                                   const ast::CallExpr &call);
  Entity stackList(Arguments &args, const ast::CallExpr &call, bool joins);
  Entity moveElements(mlir::Value list, const Argument &indices, mlir::Value from,
                      const ast::CallExpr &call);
  Entity splitIntoList(mlir::Value list, const Argument &tensor, const ast::CallExpr &call);
  mlir::Value evalPosition(const Argument &argument);
  mlir::Value readList(mlir::Value list, mlir::Value index, SourceRange at);
  mlir::Value writeList(mlir::Value list, mlir::Value index, mlir::Value value, SourceRange at);
  mlir::Value unstack(mlir::Value tensor, SourceRange at);
  mlir::Value stack(mlir::Value list, const dfg::DimExpr &size, SourceRange at);

  //===--- Statements (ElaborateStatements.cpp) ---------------------------===//

  Flow execBlock(const ast::Block &block);
  Flow exec(const ast::Stmt *stmt);
  void readNow(Entity &value, SourceRange at);
  void execBind(const ast::BindStmt &stmt);
  void bindTarget(const ast::Target &target, const Entity &value, SourceRange at);
  void execLet(const ast::LetDecl &stmt);
  Flow execStaticIf(const ast::StaticIfStmt &stmt);
  Flow execStaticFor(const ast::StaticForStmt &stmt);
  void execReturn(const ast::ReturnStmt &stmt);
  void bindLocal(const ast::Name &name, const Entity &value, const ast::Type *type = nullptr);
  void poisonBindings(const ast::Block *block);
  /// The type that a binding declares, if nothing in it is to be found out yet.
  std::optional<TensorType> declaredType(const ast::Type *type);
  void execAnnotated(const ast::Stmt &stmt, llvm::function_ref<void()> run);
  Entity laterWork(SourceRange at, llvm::StringRef what);

  //===--- Gradients (ElaborateGradients.cpp) -----------------------------===//

  Entity callVariables(Arguments &args, const ast::CallExpr &call);
  Entity callTrainable(Arguments &args, const ast::CallExpr &call);
  Entity callGradients(Arguments &args, const ast::CallExpr &call);
  bool collectVariables(const Entity &value, SourceRange at, std::vector<Variable *> &variables);
  std::vector<Variable *> variablesRead(mlir::Value loss);
  Entity sparseGradient(mlir::Value indices, mlir::Value rows, mlir::Type type, bool coalesces,
                        SourceRange at);
  mlir::Value gradientSource(const Entity &value, mlir::Value loss, SourceRange at);

  //===--- Entries (ElaborateEntries.cpp) ---------------------------------===//

  void elaborateEntry(Module &module, const ast::FnDecl &entry);
  bool bindFeeds(const ast::FnDecl &entry, EntryHeader &header);
  bool bindFeedSizes(const ast::Type &type, EntryHeader &header);
  void declareSymbols(const ast::Expr *expr, EntryHeader &header);
  std::optional<TensorType> feedType(const ast::Type &type, EntryHeader &header);
  bool checkSolvable(const ast::FnDecl &entry, const EntryHeader &header);
  std::optional<Entity> factValue(const ast::Expr *fact);
  void recordFact(ast::BinaryOp op, dfg::DimExpr lhs, dfg::DimExpr rhs, SourceRange at);
  void substituteEquality(const ast::Expr *fact);
  void applyFileFacts(Module &module);
  bool isAboutResults(const ast::Expr *fact, const ast::FnDecl &entry);
  void finishEntry(const ast::FnDecl &entry, const EntryHeader &header, const Entity &result);

  //===--- Functions that nothing calls (ElaborateUncalled.cpp) -----------===//

  /// What a function that nothing calls is checked with.
  struct Assumption;
  void checkUncalled();
  void warnUnchecked(const ast::FnDecl &fn, const ast::PartDecl *part);
  void checkUncalled(const ast::FnDecl &fn, const ast::PartDecl *part);
  std::optional<std::vector<Diagnostic>>
  checkAssuming(const ast::FnDecl &fn, const ast::PartDecl *part, const Assumption &assumption);
  bool elaborateAssuming(const ast::FnDecl &fn, const ast::PartDecl *part,
                         const Assumption &assumption);
  Instance *assumeInstance(const ast::PartDecl &part, const Assumption &assumption);
  bool assumeStatic(const ast::Param &param, const Assumption &assumption);
  std::optional<TensorType> assumeType(const ast::Type &type, llvm::ArrayRef<ast::Expr *> facts,
                                       const Assumption &assumption);
  bool assumeElement(const ast::Type &type, llvm::ArrayRef<ast::Expr *> facts,
                     const Assumption &assumption);
  void assumeSize(const ast::Expr *size, const Assumption &assumption);
  /// A value of a static parameter whose kind has plausible values.
  std::optional<Entity> plausibleStatic(const ast::Param &param, bool flag);

  mlir::MLIRContext *context;
  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  GraphBuilder &builder;
  ImportOptions options;
  TensorFiles tensorFiles;
  Budget budget;

  std::vector<std::unique_ptr<Module>> modules;
  std::map<FileId, Module *> modulesByFile;
  std::vector<std::pair<FileId, SourceRange>> loading;
  Module *mainModule = nullptr;
  Module *prelude = nullptr;

  std::deque<Variable> variables;
  llvm::StringMap<Variable *> variablesByPath;
  /// Those that `@was` gives a name, by it.
  llvm::StringMap<Variable *> variablesByFormerName;
  std::vector<Initializer> initializers;
  std::deque<Queue> queues;
  std::deque<Instance> instances;
  std::vector<std::shared_ptr<Frame>> keptFrames;

  Frame *frame = nullptr;
  /// How many `let`s are being evaluated, each for the next.
  unsigned letDepth = 0;
  /// Counts entries; 0 outside of all.
  unsigned entryNumber = 0;
  unsigned entriesSoFar = 0;
  EntryHeader *entryHeader = nullptr;
  std::string entryName;
  /// The variable that is being initialised, for the random key of its initialiser.
  Variable *initializing = nullptr;
  std::string bindingName;
  /// The values of variables that no write has changed since they were read.
  llvm::DenseMap<Variable *, mlir::Value> reads;
  std::set<std::tuple<FileId, uint32_t, uint32_t, std::string>> reported;
  Diagnostic discarded;
  /// The functions whose bodies some call has expanded.
  llvm::DenseSet<const ast::FnDecl *> expanded;
  /// An entry was dropped because of errors.
  bool hasFailedEntries = false;
  /// How often a node name has drawn in this entry, for seeds.
  llvm::StringMap<unsigned> draws;
  /// The number of this call, once an operation of the entry draws.
  mlir::Value callNumber;
  /// The loops around, outermost first.
  llvm::SmallVector<LoopContext *> loops;
  /// What `@recompute` says to the loops of the current statement, and whether there was one.
  std::string recompute;
  bool hasRecomputed = false;
  /// Where the attributes of the operation that is being created stand, by name.
  llvm::SmallVector<std::pair<llvm::StringRef, SourceRange>, 0> attributePlaces;
  /// Lower bounds of dimensions of the current entry, from its facts.
  std::vector<std::pair<std::string, int64_t>> lowerBounds;
  /// Those of the current entry in program order, and how many of them were there before the
  /// statement or function body that runs.
  llvm::SmallVector<RunTimeSize, 0> runTimeSizes;
  size_t newSizes = 0;
  /// The type that the context wants of the next call, if that gives none.
  std::optional<TensorType> expected;
};

} // namespace tfc::text
