/// Where names are looked up: files, instances of parts, calls of functions.
#pragma once

#include "frontend/text/elaborate/Entity.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::text {

/// A `let` or another declaration whose value is computed when it is first needed.
struct LazyValue {
  enum class State { New, Running, Done };
  State state = State::New;
  Entity value;
  /// The entry in which a value with run-time tensors was computed.
  unsigned entry = 0;
};

/// A name that a file or a part declares.
struct Declaration {
  const ast::Stmt *stmt = nullptr;
  /// Of a `let`.
  const ast::Binding *binding = nullptr;
  SourceRange at;
  /// Of a `use`: the file, and the name in it where one was selected.
  Module *module = nullptr;
  llvm::StringRef selected;
  unsigned position = 0;
};

/// The type of a static number that becomes an element of the result; private to shipped files.
inline constexpr llvm::StringLiteral kNumberType = "_number";

/// A file of graph source.
struct Module {
  std::unique_ptr<ast::File> file;
  /// The graph's name; the stem of the file's name where there is no header.
  std::string name;
  /// Ships with tfc.
  bool isShipped = false;
  bool isMain = false;
  /// Parts of it could not be parsed, so that statements may be missing.
  bool hasSyntaxErrors = false;
  llvm::StringMap<Declaration> declarations;
  llvm::StringMap<LazyValue> values;
  /// The facts of its `dim`s.
  std::vector<const ast::Expr *> facts;
  /// Before the names of its state: empty, or the graph's name and a dot.
  std::string prefix;
  unsigned position = 0;
};

/// A size, element type or shape that a part takes from its calls.
struct BoundSize {
  Entity value;
  SourceRange at;
};

struct Activation;

/// Named state, as created by `let net = gpt(...)`.
struct Instance {
  Part part;
  /// The checkpoint path.
  std::string path;
  OrderKey order;
  Instance *parent = nullptr;
  /// The location of the call that created it.
  SourceRange at;
  llvm::StringMap<Entity> params;
  llvm::StringMap<Declaration> members;
  llvm::StringMap<LazyValue> values;
  /// Names that are bound once, by its calls.
  llvm::StringMap<BoundSize> sizes;
  /// The path under which older checkpoints know it; empty if it is the same.
  std::string formerly;
  /// The path without the indices of groups of shards; empty if there are none around.
  std::string whole;
  /// Its variables are not trained.
  bool isFrozen = false;
  /// Where its variables, its queues and the operations of its functions shall be.
  Placement placement;
  /// The activation in which its members are evaluated.
  std::shared_ptr<Activation> activation;
  unsigned memberCount = 0;
  /// All its variables have been evaluated.
  bool isForced = false;
};

/// The yielded values of a run-time block, while it is elaborated.
struct RunTimeBlock {
  /// `if`, `while`, ... for messages.
  llvm::StringRef keyword;
  /// The types of the carried values; empty for a branch.
  llvm::SmallVector<mlir::Type> carried;
  bool hasYielded = false;
  SourceRange yieldedAt;
  std::vector<Entity> values, stacked;
  llvm::SmallVector<SourceRange> valuesAt, stackedAt;
};

/// A name that a call of a function binds.
struct Local {
  Entity value;
  SourceRange at;
  /// As declared, for parameters and typed bindings.
  const ast::Type *type = nullptr;
  /// The run-time block that binds it; null outside of all.
  const RunTimeBlock *block = nullptr;
};

/// A `dataflow` block: its names are bound when they are first needed.
struct DataflowScope {
  enum class State { Pending, Running, Done };
  struct Binding {
    const ast::BindStmt *stmt = nullptr;
    State state = State::Pending;
    Entity value;
    SourceRange at;
  };
  /// An input of a merge that comes from the next iteration, to be connected at the end.
  struct BackEdge {
    mlir::Operation *merge;
    unsigned input;
    const ast::Expr *expr;
    SourceRange at;
  };
  RunTimeBlock *block = nullptr;
  mlir::Block *body = nullptr;
  llvm::StringMap<Binding> bindings;
  std::vector<BackEdge> backEdges;
  /// The bindings being executed, innermost last.
  std::vector<const ast::BindStmt *> running;
  llvm::SmallPtrSet<const ast::BindStmt *, 8> ran;
  /// Names that occur in an `after`.
  llvm::StringSet<> triggers;
  /// The tokens of the values in `triggers`.
  llvm::DenseMap<mlir::Value, mlir::Value> tokens;
  /// Names of the function outside of the block.
  llvm::StringMap<Local> locals;
  /// The number of enclosing loops.
  size_t loopDepth = 0;
  /// Where the operations of bindings without annotations shall be.
  Placement placement;
  DataflowScope *outer = nullptr;
};

/// One activation: of a function, or of the file or part level.
struct Activation {
  Module *module = nullptr;
  Instance *self = nullptr;
  const ast::FnDecl *fn = nullptr;
  Activation *caller = nullptr;
  SourceRange callSite;
  unsigned depth = 0;
  /// The calls that led here, innermost first: those from `site`, and the outer ones.
  struct Callers {
    SourceRange site;
    mlir::LocationAttr outer, all;
  } callers;

  llvm::StringMap<Local> locals;
  /// Names bound by run-time blocks that have ended, with the source range and the keyword of the
  /// block.
  llvm::StringMap<std::pair<SourceRange, llvm::StringRef>> ended;
  /// Dimensions in the order in which the call bound them.
  std::vector<std::string> dims;
  /// The variables over which the enclosing `static for`s run.
  llvm::SmallVector<Variable *> loopVariables;
  /// The type that the context expects, for calls without a type argument.
  std::optional<TensorType> expected;
  std::optional<Entity> result;
  /// The location of the `return`, and those of its values.
  SourceRange resultAt;
  llvm::SmallVector<SourceRange> resultsAt;
  /// The innermost run-time block.
  RunTimeBlock *block = nullptr;
  DataflowScope *dataflow = nullptr;

  Local *find(llvm::StringRef name) {
    auto it = locals.find(name);
    return it == locals.end() ? nullptr : &it->second;
  }
};

} // namespace tfc::text
