/// The state shared by the collaborators of the elaborator: the module being built, the
/// declarations, and the current entry and statement.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/text/elaborate/Budget.h"
#include "frontend/text/elaborate/Scope.h"
#include "frontend/text/syntax/Diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <deque>

namespace tfc::text {

/// An argument of a call, with its value once it has been evaluated.
struct Argument {
  ast::Name label;
  const ast::Expr *expr = nullptr;
  SourceRange range;
  Entity value;
};
using Arguments = llvm::SmallVector<Argument, 4>;

/// The name that a value gets from the `let` around its expression.
struct LetName {
  std::string path;
  /// The path under which older checkpoints know it; empty if it is the same.
  std::string formerly;
  /// The path without the indices of groups of shards; empty if there are none around.
  std::string whole;
  OrderKey order;
  Instance *parent = nullptr;
  /// The 'let' itself is '@shards'.
  bool hasShards = false;
  /// An enclosing 'let' is '@frozen'.
  bool isFrozen = false;
  /// That of the enclosing instances, and of the 'let' itself once it is evaluated.
  Placement placement;
};

/// An enclosing loop of the current operation, for random draws.
struct LoopContext {
  dfg::WhileOp op;
  /// The argument that counts iterations; negative if there is none yet.
  int counter = -1;
  bool inCondition = false;
  /// The counters of draws in the condition and in the body.
  mlir::Value draws[2];
  /// Initial and next values of carried values in addition to the author's.
  llvm::SmallVector<mlir::Value> added, addedNext;
};

/// A size that an operation of the current entry binds.
struct RunTimeSize {
  std::string name;
  dfg::DimExpr bound;
  /// In the entry: the call that led to the binding.
  SourceRange at;
  mlir::Operation *op;
};

/// The data-dependent sizes of an entry in program order, which have different names.
class RunTimeSizes {
public:
  size_t size() const { return list.size(); }
  bool empty() const { return list.empty(); }
  const RunTimeSize &operator[](size_t number) const { return list[number]; }
  auto begin() const { return list.begin(); }
  auto end() const { return list.end(); }
  /// Returns null if no size has the name.
  const RunTimeSize *find(llvm::StringRef name) const {
    auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : &list[found->second];
  }
  size_t numberOf(const RunTimeSize &size) const { return &size - list.begin(); }

  void add(RunTimeSize size) {
    numbers.try_emplace(size.name, list.size());
    list.push_back(std::move(size));
  }
  void setBound(size_t number, dfg::DimExpr bound) { list[number].bound = std::move(bound); }
  void rename(size_t number, llvm::StringRef name) {
    numbers.erase(list[number].name);
    numbers.try_emplace(name, number);
    list[number].name = name.str();
  }
  void clear() {
    list.clear();
    numbers.clear();
  }

private:
  llvm::SmallVector<RunTimeSize, 0> list;
  llvm::StringMap<size_t> numbers;
};

/// A comparison of sizes that holds in each call of the entry, and where the author states it.
struct StatedFact {
  dfg::Fact fact;
  SourceRange at;
};

/// How a variable gets its first value.
struct Initializer {
  Variable *variable;
  const ast::Expr *init;
  std::shared_ptr<Activation> activation;
};

/// All declarations and instances so far, for all entries.
struct Program {
  Module *mainModule = nullptr;
  Module *prelude = nullptr;
  /// The names of the functions that the language itself provides.
  std::vector<llvm::StringRef> builtins;

  std::deque<Variable> variables;
  llvm::StringMap<Variable *> variablesByPath;
  /// Variables by the names in their `@was`.
  llvm::StringMap<Variable *> variablesByFormerName;
  std::vector<Initializer> initializers;
  std::deque<Queue> queues;
  std::deque<Dataset> datasets;
  std::deque<Instance> instances;
  std::vector<std::shared_ptr<Activation>> keptActivations;
  /// The functions whose bodies some call has expanded.
  llvm::DenseSet<const ast::FnDecl *> expanded;
  /// An entry was dropped because of errors.
  bool hasFailedEntries = false;
};

/// The entry being built.
struct EntryState {
  /// Counts entries; 0 outside of all.
  unsigned number = 0;
  EntryHeader *header = nullptr;
  std::string name;
  /// The variable that is being initialised, for the random key of its initialiser.
  Variable *initializing = nullptr;
  /// The values of variables that have not been written since they were read.
  llvm::DenseMap<Variable *, mlir::Value> reads;
  /// How often a node name has drawn in this entry, for seeds.
  llvm::StringMap<unsigned> draws;
  /// The number of this call, once an operation of the entry draws.
  mlir::Value callNumber;
  /// The loops around, outermost first.
  llvm::SmallVector<LoopContext *> loops;
  /// Lower bounds of dimensions, from the facts of the entry.
  SizeBounds lowerBounds;
  /// The facts that calls check when they start: those that the entry states, then those of the
  /// functions that it calls.
  std::vector<StatedFact> facts;
  size_t ownFacts = 0;
  /// Where facts determine or limit names.
  llvm::StringMap<llvm::SmallVector<SourceRange, 2>> reasons;
  RunTimeSizes runTimeSizes;
  /// The number of data-dependent sizes bound before the current statement or function body.
  size_t newSizes = 0;
  /// It needs a size of an instance that no call has bound so far.
  bool needsSize = false;
};

struct Context {
  Context(GraphBuilder &builder, SourceManager &sources, DiagnosticEngine &diagnostics,
          const ImportOptions &options)
      : mlir(builder.getContext()), builder(builder), sources(sources), diagnostics(diagnostics),
        options(options), budget(options.limits) {}

  /// Creates an activation of the file or part level, which is kept to the end.
  std::shared_ptr<Activation> newActivation(Module *module, Instance *self);

  mlir::MLIRContext *mlir;
  GraphBuilder &builder;
  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  ImportOptions options;
  Budget budget;

  Program program;
  EntryState entry;
  unsigned entriesSoFar = 0;

  Activation *activation = nullptr;
  /// The name that the statement binds.
  std::string bindingName;
  /// The type that the context expects of the next call, if the call does not specify one.
  std::optional<TensorType> expected;
  /// Where the operations that are built shall be.
  Placement placement;
  /// The argument of `@recompute` for the loops of the current statement, and whether there was
  /// such a loop.
  std::optional<dfg::Recompute> recompute;
  bool hasRecomputed = false;
  /// The source ranges of the attributes of the operation being created, by name.
  llvm::SmallVector<std::pair<llvm::StringRef, SourceRange>, 0> attributePlaces;
};

/// The range of an expression, or an invalid range if it is null.
inline SourceRange rangeOf(const ast::Expr *expr) { return expr ? expr->range : SourceRange(); }

/// The value of a dimension that a call binds: that of the call, or of the instance.
Entity valueOfDim(const Activation &activation, llvm::StringRef name);

/// Calls `visit` for each name in an expression.
void forEachName(const ast::Expr *expr, llvm::function_ref<void(const ast::NameExpr &)> visit);

/// `path` with its last name replaced by the former one.
std::string renameLast(const std::string &path, llvm::StringRef name, llvm::StringRef former);

} // namespace tfc::text
