/// What the collaborators of the elaborator share: the module that is built, what has been
/// declared, and the state of the entry and the statement that are being elaborated.
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

/// An argument of a call with what it is, once that is known.
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
  OrderKey order;
  Instance *parent = nullptr;
  /// A 'let' on the way is '@frozen'.
  bool isFrozen = false;
};

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

/// A size that an operation of the current entry binds.
struct RunTimeSize {
  std::string name;
  dfg::DimExpr bound;
  /// In the entry: the call that led there.
  SourceRange at;
  mlir::Operation *op;
};

/// How a variable gets its first value.
struct Initializer {
  Variable *variable;
  const ast::Expr *init;
  std::shared_ptr<Frame> frame;
};

/// What has been declared and instantiated so far, for all entries.
struct Program {
  Module *mainModule = nullptr;
  Module *prelude = nullptr;
  /// The names of the functions that the language itself provides.
  std::vector<llvm::StringRef> builtins;

  std::deque<Variable> variables;
  llvm::StringMap<Variable *> variablesByPath;
  /// Those that `@was` gives a name, by it.
  llvm::StringMap<Variable *> variablesByFormerName;
  std::vector<Initializer> initializers;
  std::deque<Queue> queues;
  std::deque<Instance> instances;
  std::vector<std::shared_ptr<Frame>> keptFrames;
  /// The functions whose bodies some call has expanded.
  llvm::DenseSet<const ast::FnDecl *> expanded;
  /// An entry was dropped because of errors.
  bool hasFailedEntries = false;
};

/// The entry that is being built.
struct EntryState {
  /// Counts entries; 0 outside of all.
  unsigned number = 0;
  EntryHeader *header = nullptr;
  std::string name;
  /// The variable that is being initialised, for the random key of its initialiser.
  Variable *initializing = nullptr;
  /// The values of variables that no write has changed since they were read.
  llvm::DenseMap<Variable *, mlir::Value> reads;
  /// How often a node name has drawn in this entry, for seeds.
  llvm::StringMap<unsigned> draws;
  /// The number of this call, once an operation of the entry draws.
  mlir::Value callNumber;
  /// The loops around, outermost first.
  llvm::SmallVector<LoopContext *> loops;
  /// Lower bounds of dimensions, from the facts of the entry.
  std::vector<std::pair<std::string, int64_t>> lowerBounds;
  /// The sizes that the data decide, in program order, and how many of them were there before the
  /// statement or function body that runs.
  llvm::SmallVector<RunTimeSize, 0> runTimeSizes;
  size_t newSizes = 0;
};

struct Context {
  Context(GraphBuilder &builder, SourceManager &sources, DiagnosticEngine &diagnostics,
          const ImportOptions &options)
      : mlir(builder.getContext()), builder(builder), sources(sources), diagnostics(diagnostics),
        options(options), budget(options.limits) {}

  /// An activation of the file or part level, kept to the end.
  std::shared_ptr<Frame> newFrame(Module *module, Instance *self);

  mlir::MLIRContext *mlir;
  GraphBuilder &builder;
  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  ImportOptions options;
  Budget budget;

  Program program;
  EntryState entry;
  unsigned entriesSoFar = 0;

  Frame *frame = nullptr;
  /// The name that the statement binds.
  std::string bindingName;
  /// The type that the context wants of the next call, if that gives none.
  std::optional<TensorType> expected;
  /// What `@recompute` says to the loops of the current statement, and whether there was one.
  std::string recompute;
  bool hasRecomputed = false;
  /// Where the attributes of the operation that is being created stand, by name.
  llvm::SmallVector<std::pair<llvm::StringRef, SourceRange>, 0> attributePlaces;
};

/// The range of an expression, or of nothing.
inline SourceRange rangeOf(const ast::Expr *expr) { return expr ? expr->range : SourceRange(); }

/// What a dimension that a call binds is: of the call, or of the instance.
Entity valueOfDim(const Frame &frame, llvm::StringRef name);

/// Calls `visit` for each name in an expression.
void forEachName(const ast::Expr *expr, llvm::function_ref<void(const ast::NameExpr &)> visit);

/// `path` with its last name replaced by the one that it had before.
std::string renameLast(const std::string &path, llvm::StringRef name, llvm::StringRef former);

} // namespace tfc::text
