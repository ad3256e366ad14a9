/// The syntax tree of a graph file. All nodes live in the arena of their File and are never freed
/// one by one; strings point into the arena or the file's text. Optional children are null; other
/// children never are (an expression that could not be parsed is an ErrorExpr).
#pragma once

#include "frontend/text/syntax/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"

namespace tfc::text::ast {

struct Block;
struct Each;
struct Expr;
struct Type;

/// A name as written, without backquotes. Empty text and an invalid range: no name.
struct Name {
  llvm::StringRef text;
  SourceRange range;

  explicit operator bool() const { return range.isValid(); }
  bool isDiscard() const { return text == "_"; }
};

/// The types that keywords name: the dtypes of tensors, and strings.
enum class DType {
#define TFC_DTYPE(CODE, ...) CODE,
#include "runtime/Dtypes.inc"
  String
};

llvm::StringRef spelling(DType type);

/// The largest nesting of expressions, blocks and types; the parser reports deeper ones.
inline constexpr unsigned kMaxNesting = 256;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

enum class ExprKind {
  Error,
  Name,
  DType,
  ListType,
  Int,
  Float,
  String,
  Bool,
  Unary,
  Binary,
  Call,
  Index,
  Member,
  List,
  Comprehension,
  If,
  While,
  For,
  Scan,
  Dataflow,
};

struct Expr {
  ExprKind kind;
  /// In parentheses in the source; `range` then includes them.
  bool parenthesized = false;
  /// The number of levels below, including those in blocks; at most kMaxNesting, so recursion is
  /// safe.
  uint16_t height = 0;
  SourceRange range;
  /// Without the parentheses.
  SourceRange bareRange;

protected:
  explicit Expr(ExprKind kind) : kind(kind) {}
};

/// Gives a node the constructor and `classof` of its kind.
template <ExprKind Kind> struct ExprOf : Expr {
  ExprOf() : Expr(Kind) {}
  static bool classof(const Expr *expr) { return expr->kind == Kind; }
};

/// Replaces an expression that could not be parsed; its error has been reported.
struct ErrorExpr : ExprOf<ExprKind::Error> {};

struct NameExpr : ExprOf<ExprKind::Name> {
  llvm::StringRef name;
};

/// An element type as a value, as in `zeros(f32[n])`, or as the callee of a cast.
struct DTypeExpr : ExprOf<ExprKind::DType> {
  DType dtype = DType::F32;
};

/// The word `list`, which becomes a type in an Index.
struct ListTypeExpr : ExprOf<ExprKind::ListType> {};

/// At most 2^63, so that the smallest i64 can be written as a negation.
struct IntExpr : ExprOf<ExprKind::Int> {
  uint64_t value = 0;
};

/// Also `inf` and `nan`.
struct FloatExpr : ExprOf<ExprKind::Float> {
  double value = 0;
};

/// Literal text with escapes resolved, or an expression in braces.
struct StringPart {
  llvm::StringRef text;
  Expr *value = nullptr;
};

struct StringExpr : ExprOf<ExprKind::String> {
  llvm::ArrayRef<StringPart> parts;

  /// The text if nothing is interpolated, else std::nullopt.
  std::optional<llvm::StringRef> literal() const {
    if (parts.empty())
      return llvm::StringRef();
    if (parts.size() == 1 && !parts.front().value)
      return parts.front().text;
    return std::nullopt;
  }
};

struct BoolExpr : ExprOf<ExprKind::Bool> {
  bool value = false;
};

enum class UnaryOp { Neg, Not };

struct UnaryExpr : ExprOf<ExprKind::Unary> {
  UnaryOp op = UnaryOp::Neg;
  SourceRange opRange;
  Expr *operand = nullptr;
};

enum class BinaryOp { Or, And, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Div, FloorDiv, Mod, Pow };

llvm::StringRef spelling(BinaryOp op);

struct BinaryExpr : ExprOf<ExprKind::Binary> {
  BinaryOp op = BinaryOp::Add;
  SourceRange opRange;
  Expr *lhs = nullptr;
  Expr *rhs = nullptr;
};

/// `value` or `label: value`.
struct Arg {
  Name label;
  Expr *value = nullptr;
  SourceRange range;
};

struct CallExpr : ExprOf<ExprKind::Call> {
  Expr *callee = nullptr;
  llvm::ArrayRef<Arg> args;
};

enum class IndexItemKind {
  /// `expr`
  Element,
  /// `start:stop:step`, each optional
  Slice,
  /// `..` or `..s`
  Rest,
};

/// One item between brackets: of a subscript or of the shape in a type.
struct IndexItem {
  IndexItemKind kind = IndexItemKind::Element;
  SourceRange range;
  /// The element, the start of a slice, or the `s` of `..s`; null where optional and absent.
  Expr *value = nullptr;
  Expr *stop = nullptr;
  Expr *step = nullptr;
};

struct IndexExpr : ExprOf<ExprKind::Index> {
  Expr *base = nullptr;
  llvm::ArrayRef<IndexItem> items;
};

struct MemberExpr : ExprOf<ExprKind::Member> {
  Expr *base = nullptr;
  Name member;
};

/// `[a, b]`
struct ListExpr : ExprOf<ExprKind::List> {
  llvm::ArrayRef<Expr *> elements;
};

/// `[element for names in range]`
struct ComprehensionExpr : ExprOf<ExprKind::Comprehension> {
  Expr *element = nullptr;
  Each *each = nullptr;
};

/// `a, b in sequence` or `i in first..last` (then `last` is not null).
struct Each {
  llvm::ArrayRef<Name> names;
  Expr *sequence = nullptr;
  Expr *last = nullptr;
  SourceRange range;
};

/// `name: type = value` of `let` and `with`.
struct Binding {
  Name name;
  Type *type = nullptr;
  Expr *value = nullptr;
  SourceRange range;
};

/// The run-time `if`; `else if` is an elseBlock that holds only that IfExpr, with `elseIf` set.
struct IfExpr : ExprOf<ExprKind::If> {
  Expr *condition = nullptr;
  Block *thenBlock = nullptr;
  Block *elseBlock = nullptr;
  bool elseIf = false;
};

struct WhileExpr : ExprOf<ExprKind::While> {
  Expr *condition = nullptr;
  llvm::ArrayRef<Binding> carried;
  Block *body = nullptr;
};

struct ForExpr : ExprOf<ExprKind::For> {
  Each *each = nullptr;
  llvm::ArrayRef<Binding> carried;
  Block *body = nullptr;
};

struct ScanExpr : ExprOf<ExprKind::Scan> {
  Each *each = nullptr;
  llvm::ArrayRef<Binding> carried;
  Block *body = nullptr;
};

struct DataflowExpr : ExprOf<ExprKind::Dataflow> {
  Block *body = nullptr;
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

enum class TypeKind {
  /// `f32[n, 4]`
  DType,
  /// `T[..s]`, and `int float group function ...` of static parameters
  Named,
  /// `list[f32[n]]`: `items` holds one element, an expression that is a type
  List,
  /// `dim`
  Dim,
};

struct Type {
  TypeKind kind = TypeKind::DType;
  DType dtype = DType::F32;
  /// Of Named types.
  llvm::StringRef name;
  /// Of the word before the brackets.
  SourceRange baseRange;
  SourceRange range;
  /// False for a type without brackets: a scalar.
  bool hasBrackets = false;
  /// True after a syntax error: nothing was written.
  bool isMissing = false;
  llvm::ArrayRef<IndexItem> items;
};

//===----------------------------------------------------------------------===//
// Statements and declarations
//===----------------------------------------------------------------------===//

/// `@name` or `@name(args)`
struct Annotation {
  Name name;
  bool hasParens = false;
  llvm::ArrayRef<Arg> args;
  SourceRange range;
};

/// `static name: var type = default`
struct Param {
  bool isStatic = false;
  bool isVar = false;
  Name name;
  Type *type = nullptr;
  Expr *defaultValue = nullptr;
  SourceRange range;
};

enum class StmtKind {
  Use,
  Var,
  Let,
  Dim,
  Queue,
  Dataset,
  Part,
  Fn,
  StaticIf,
  StaticFor,
  Return,
  Yield,
  Bind,
  Expr,
  Block,
};

/// Anything on lines of its own: items of a file, members of a part, statements.
struct Stmt {
  StmtKind kind;
  /// Without the annotations.
  SourceRange range;
  llvm::ArrayRef<Annotation> annotations;
  /// The text of the `##` lines right above, joined by newlines.
  llvm::StringRef doc;

protected:
  explicit Stmt(StmtKind kind) : kind(kind) {}
};

template <StmtKind Kind> struct StmtOf : Stmt {
  StmtOf() : Stmt(Kind) {}
  static bool classof(const Stmt *stmt) { return stmt->kind == Kind; }
};

/// `use module: names`, `use "path" as alias`
struct UseDecl : StmtOf<StmtKind::Use> {
  Name module;
  /// The literal path if the file is named by a string; then `module` is empty.
  StringExpr *path = nullptr;
  Name alias;
  llvm::ArrayRef<Name> names;
};

struct VarDecl : StmtOf<StmtKind::Var> {
  Name name;
  Type *type = nullptr;
  Expr *init = nullptr;
};

struct LetDecl : StmtOf<StmtKind::Let> {
  llvm::ArrayRef<Binding> bindings;
};

struct DimDecl : StmtOf<StmtKind::Dim> {
  llvm::ArrayRef<Expr *> facts;
};

struct QueueDecl : StmtOf<StmtKind::Queue> {
  Name name;
  llvm::ArrayRef<Param> fields;
  Expr *init = nullptr;
};

struct DatasetDecl : StmtOf<StmtKind::Dataset> {
  Name name;
  llvm::ArrayRef<Param> fields;
  Expr *init = nullptr;
};

struct PartDecl : StmtOf<StmtKind::Part> {
  Name name;
  llvm::ArrayRef<Param> params;
  llvm::ArrayRef<Expr *> where;
  /// Var, Let, Queue, Dataset, Fn, StaticIf and StaticFor.
  llvm::ArrayRef<Stmt *> members;
  SourceRange bodyRange;
};

/// `fn` and `entry`
struct FnDecl : StmtOf<StmtKind::Fn> {
  bool isEntry = false;
  Name name;
  llvm::ArrayRef<Param> params;
  /// At most one of `resultType` and `results` is set: `-> type` or `-> (name: type, ...)`.
  Type *resultType = nullptr;
  llvm::ArrayRef<Param> results;
  llvm::ArrayRef<Expr *> where;
  Block *body = nullptr;
  /// There is a syntax error before the body, so that parameters or results may be missing.
  bool isBroken = false;
};

struct Block {
  llvm::ArrayRef<Stmt *> statements;
  /// With the braces.
  SourceRange range;
};

/// `static if`; `else static` is an elseBlock that holds only that statement, with `elseStatic`
/// set.
struct StaticIfStmt : StmtOf<StmtKind::StaticIf> {
  Expr *condition = nullptr;
  Block *thenBlock = nullptr;
  Block *elseBlock = nullptr;
  bool elseStatic = false;
};

struct StaticForStmt : StmtOf<StmtKind::StaticFor> {
  Each *each = nullptr;
  Block *body = nullptr;
};

struct ReturnStmt : StmtOf<StmtKind::Return> {
  llvm::ArrayRef<Expr *> values;
};

/// `yield values; stacked`
struct YieldStmt : StmtOf<StmtKind::Yield> {
  llvm::ArrayRef<Expr *> values;
  llvm::ArrayRef<Expr *> stacked;
};

/// A name that a BindStmt binds (`_` discards), with an optional type.
struct Target {
  Name name;
  Type *type = nullptr;
};

/// `a, b: type = exprs`
struct BindStmt : StmtOf<StmtKind::Bind> {
  llvm::ArrayRef<Target> targets;
  llvm::ArrayRef<Expr *> values;
};

/// A call, or a run-time region, for its effects.
struct ExprStmt : StmtOf<StmtKind::Expr> {
  Expr *expr = nullptr;
};

/// A block inside a block: for `@device(..) { .. }`; it is not a scope.
struct BlockStmt : StmtOf<StmtKind::Block> {
  Block *block = nullptr;
};

/// A comment, for the formatter: from its `#` to the end of the line.
struct Comment {
  SourceRange range;
  /// Only blanks precede it on its line.
  bool ownLine = false;
};

struct File {
  FileId id = kNoFile;
  /// The name in `graph name edition n`; no name if the file has no header.
  Name name;
  std::optional<uint64_t> edition;
  /// The `##` lines directly above the header.
  llvm::StringRef doc;
  SourceRange headerRange;
  llvm::ArrayRef<Stmt *> items;
  llvm::ArrayRef<Comment> comments;
  /// Every type in the file, including nested ones.
  std::vector<Type *> types;

  llvm::BumpPtrAllocator arena;
};

} // namespace tfc::text::ast
