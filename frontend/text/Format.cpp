#include "frontend/text/Format.h"

#include "frontend/text/Layout.h"
#include "frontend/text/Lexer.h"
#include "frontend/text/Parser.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tfc::text {

using namespace ast;

static constexpr unsigned kMaxWidth = 100;
static constexpr unsigned kBlockIndent = 2;
static constexpr unsigned kContinuationIndent = 4;

namespace {

/// Walks the tree in source order and lays it out. Words, literals and braces are "anchors": a
/// comment stays behind the anchor that it followed, or before the element that it preceded.
class Formatter {
public:
  Formatter(const SourceManager &sources, const File &file);
  std::string run();

private:
  // Anchors and comments.
  StringRef source(SourceRange range) const { return sources.text(range); }
  void anchor(StringRef text, uint32_t begin, uint32_t end);
  void anchor(SourceRange range) { anchor(source(range), range.begin, range.end); }
  void keyword(StringRef word, uint32_t begin) { anchor(word, begin, begin + word.size()); }
  void name(const Name &name);
  uint32_t nextAnchor(uint32_t from) const;
  bool commentBetween(uint32_t begin, uint32_t end) const;
  void ownLineComments(uint32_t before);
  void keepBlankLine(uint32_t begin);

  // Lists: elements with a place to break between them.
  template <typename Element, typename Print>
  void separated(ArrayRef<Element> elements, uint32_t begin, Print print);
  template <typename Element, typename Print>
  void enclosed(StringRef open, StringRef close, ArrayRef<Element> elements, uint32_t begin,
                Print print);
  void exprs(ArrayRef<Expr *> exprs, uint32_t begin);
  void args(ArrayRef<Arg> args, uint32_t begin);
  void indices(ArrayRef<IndexItem> items, uint32_t begin);
  void bindings(ArrayRef<Binding> bindings, uint32_t begin);
  void params(ArrayRef<Param> params, uint32_t begin);

  // Parts of statements.
  void expr(const Expr *expr);
  void bareExpr(const Expr *expr);
  void binary(const BinaryExpr *expr);
  void index(const IndexItem &item);
  void type(const Type *type);
  void typeOf(const Type *type);
  void param(const Param &param);
  void binding(const Binding &binding);
  void each(const Each *each);
  void with(ArrayRef<Binding> carried);
  void where(ArrayRef<Expr *> facts);
  template <typename Loop> void loop(StringRef word, const Loop *loop);
  void ifExpr(const IfExpr *expr);

  // Statements.
  void body(ArrayRef<Stmt *> statements, SourceRange braces);
  void block(const Block *block) { body(block->statements, block->range); }
  void stmts(ArrayRef<Stmt *> statements, uint32_t end);
  void stmt(const Stmt *stmt);
  void bareStmt(const Stmt *stmt);
  void use(const UseDecl *use);
  void part(const PartDecl *part);
  void fn(const FnDecl *fn);
  void staticIf(const StaticIfStmt *stmt);

  const SourceManager &sources;
  const File &file;
  Layout layout{kMaxWidth};
  /// Where the anchors of the file begin.
  std::vector<uint32_t> anchors;
  ArrayRef<Comment> comments;
  /// Where the last printed line of a body ended in the source.
  uint32_t lastEnd = 0;
  std::string edition;
};

} // namespace

//===----------------------------------------------------------------------===//
// Anchors and comments
//===----------------------------------------------------------------------===//

static bool isAnchor(TokenKind kind) {
  return kind < TokenKind::LParen || kind == TokenKind::LBrace || kind == TokenKind::RBrace;
}

Formatter::Formatter(const SourceManager &sources, const File &file)
    : sources(sources), file(file), comments(file.comments) {
  StringRef text = sources.text(file.id);
  DiagnosticEngine ignored(sources);
  for (const Token &token : lex(sources, {file.id, 0, uint32_t(text.size())}, ignored).tokens)
    if (isAnchor(token.kind))
      anchors.push_back(token.begin);
}

uint32_t Formatter::nextAnchor(uint32_t from) const {
  auto it = lower_bound(anchors, from);
  return it == anchors.end() ? ~0u : *it;
}

void Formatter::anchor(StringRef text, uint32_t begin, uint32_t end) {
  auto suffixUpTo = [&](uint32_t limit, bool onlyTrailing) {
    while (!comments.empty() && comments.front().range.begin < limit &&
           !(onlyTrailing && comments.front().ownLine)) {
      layout.suffix(source(comments.front().range));
      lastEnd = comments.front().range.end;
      comments = comments.drop_front();
    }
  };
  // A comment on a line of its own where the canonical form has no line for it.
  suffixUpTo(begin, /*onlyTrailing=*/false);
  layout.text(text);
  lastEnd = std::max(lastEnd, end);
  suffixUpTo(nextAnchor(end), /*onlyTrailing=*/true);
}

void Formatter::name(const Name &name) {
  anchor(isPlainName(name.text) ? name.text : source(name.range), name.range.begin, name.range.end);
}

bool Formatter::commentBetween(uint32_t begin, uint32_t end) const {
  auto it = partition_point(file.comments, [&](const Comment &c) { return c.range.begin < begin; });
  return it != file.comments.end() && it->range.begin < end;
}

/// Prints the comments before an element or statement on lines of their own.
void Formatter::ownLineComments(uint32_t before) {
  while (!comments.empty() && comments.front().range.begin < before) {
    keepBlankLine(comments.front().range.begin);
    layout.text(source(comments.front().range));
    layout.newline();
    lastEnd = comments.front().range.end;
    comments = comments.drop_front();
  }
}

/// One blank line where the author had some between the last line and `begin`.
void Formatter::keepBlankLine(uint32_t begin) {
  StringRef gap = sources.text(file.id).slice(lastEnd, begin);
  if (lastEnd != 0 && gap.count('\n') > 1)
    layout.blankLine();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static SourceRange rangeOf(const Expr *expr) { return expr->range; }
static SourceRange rangeOf(const Arg &arg) { return arg.range; }
static SourceRange rangeOf(const Binding &binding) { return binding.range; }
static SourceRange rangeOf(const IndexItem &item) { return item.range; }
static SourceRange rangeOf(const Name &name) { return name.range; }
static SourceRange rangeOf(const Param &param) { return param.range; }

/// Elements with commas; `begin` is where the text before the first one ended.
template <typename Element, typename Print>
void Formatter::separated(ArrayRef<Element> elements, uint32_t begin, Print print) {
  layout.beginGroup();
  layout.indent(kContinuationIndent);
  for (const Element &element : elements) {
    SourceRange range = rangeOf(element);
    bool first = &element == elements.begin();
    if (!first)
      layout.text(",");
    if (commentBetween(begin, range.begin)) {
      layout.newline();
      lastEnd = 0;
      ownLineComments(range.begin);
    } else if (!first) {
      layout.mayBreak(" ");
    }
    print(element);
    begin = range.end;
  }
  layout.unindent();
  layout.endGroup();
}

template <typename Element, typename Print>
void Formatter::enclosed(StringRef open, StringRef close, ArrayRef<Element> elements,
                         uint32_t begin, Print print) {
  layout.text(open);
  separated(elements, begin, print);
  layout.text(close);
}

void Formatter::exprs(ArrayRef<Expr *> list, uint32_t begin) {
  separated(list, begin, [&](const Expr *each) { expr(each); });
}

void Formatter::args(ArrayRef<Arg> list, uint32_t begin) {
  enclosed("(", ")", list, begin, [&](const Arg &arg) {
    if (arg.label) {
      name(arg.label);
      layout.text(": ");
    }
    expr(arg.value);
  });
}

void Formatter::indices(ArrayRef<IndexItem> items, uint32_t begin) {
  enclosed("[", "]", items, begin, [&](const IndexItem &item) { index(item); });
}

void Formatter::bindings(ArrayRef<Binding> list, uint32_t begin) {
  separated(list, begin, [&](const Binding &each) { binding(each); });
}

void Formatter::params(ArrayRef<Param> list, uint32_t begin) {
  enclosed("(", ")", list, begin, [&](const Param &each) { param(each); });
}

//===----------------------------------------------------------------------===//
// Expressions and types
//===----------------------------------------------------------------------===//

void Formatter::expr(const Expr *node) {
  if (node->parenthesized)
    layout.text("(");
  bareExpr(node);
  if (node->parenthesized)
    layout.text(")");
}

void Formatter::bareExpr(const Expr *node) {
  TypeSwitch<const Expr *>(node)
      .Case([&](const NameExpr *e) { name({e->name, e->bareRange}); })
      .Case([&](const UnaryExpr *e) {
        if (e->op == UnaryOp::Not)
          keyword("not", e->opRange.begin);
        layout.text(e->op == UnaryOp::Not ? " " : "-");
        expr(e->operand);
      })
      .Case([&](const BinaryExpr *e) { binary(e); })
      .Case([&](const CallExpr *e) {
        expr(e->callee);
        args(e->args, e->callee->range.end);
      })
      .Case([&](const IndexExpr *e) {
        expr(e->base);
        indices(e->items, e->base->range.end);
      })
      .Case([&](const MemberExpr *e) {
        expr(e->base);
        layout.text(".");
        name(e->member);
      })
      .Case([&](const ListExpr *e) {
        enclosed("[", "]", e->elements, e->bareRange.begin, [&](const Expr *each) { expr(each); });
      })
      .Case([&](const ComprehensionExpr *e) {
        layout.text("[");
        layout.beginGroup();
        layout.indent(kContinuationIndent);
        expr(e->element);
        layout.mayBreak(" ");
        layout.text("for ");
        each(e->each);
        layout.unindent();
        layout.endGroup();
        layout.text("]");
      })
      .Case([&](const IfExpr *e) { ifExpr(e); })
      .Case([&](const WhileExpr *e) {
        keyword("while", e->bareRange.begin);
        layout.text(" ");
        expr(e->condition);
        with(e->carried);
        layout.text(" ");
        block(e->body);
      })
      .Case([&](const ForExpr *e) { loop("for", e); })
      .Case([&](const ScanExpr *e) { loop("scan", e); })
      .Case([&](const DataflowExpr *e) {
        keyword("dataflow", e->bareRange.begin);
        layout.text(" ");
        block(e->body);
      })
      .Default([&](const Expr *e) { anchor(e->bareRange); });
}

/// Operators of one level are one chain: `a + b - c` breaks behind any of its operators, or none.
void Formatter::binary(const BinaryExpr *node) {
  auto sameLevel = [](BinaryOp a, BinaryOp b) {
    auto level = [](BinaryOp op) { return op == BinaryOp::Sub ? BinaryOp::Add : op; };
    bool isTerm = a >= BinaryOp::Mul && a <= BinaryOp::Mod;
    return isTerm ? b >= BinaryOp::Mul && b <= BinaryOp::Mod : level(a) == level(b);
  };
  SmallVector<const BinaryExpr *> chain = {node};
  while (auto *inner = dyn_cast<BinaryExpr>(chain.back()->lhs)) {
    if (inner->parenthesized || !sameLevel(inner->op, node->op) || node->op == BinaryOp::Pow)
      break;
    chain.push_back(inner);
  }
  layout.beginGroup();
  layout.indent(kContinuationIndent);
  expr(chain.back()->lhs);
  for (const BinaryExpr *link : reverse(chain)) {
    layout.text(" ");
    layout.text(spelling(link->op));
    if (commentBetween(link->lhs->range.end, link->rhs->range.begin)) {
      layout.newline();
      lastEnd = 0;
      ownLineComments(link->rhs->range.begin);
    } else {
      layout.mayBreak(" ");
    }
    expr(link->rhs);
  }
  layout.unindent();
  layout.endGroup();
}

void Formatter::index(const IndexItem &item) {
  if (item.kind == IndexItemKind::Rest)
    layout.text("..");
  if (item.value)
    expr(item.value);
  if (item.kind != IndexItemKind::Slice)
    return;
  layout.text(":");
  if (item.stop)
    expr(item.stop);
  if (item.step) {
    layout.text(":");
    expr(item.step);
  }
}

void Formatter::type(const Type *type) {
  if (type->kind == TypeKind::Named)
    name({type->name, type->baseRange});
  else
    anchor(type->baseRange);
  if (type->hasBrackets)
    indices(type->items, type->baseRange.end);
}

void Formatter::typeOf(const Type *node) {
  if (!node)
    return;
  layout.text(": ");
  type(node);
}

void Formatter::param(const Param &param) {
  if (param.isStatic) {
    keyword("static", param.range.begin);
    layout.text(" ");
  }
  name(param.name);
  layout.text(param.isVar ? ": var " : ": ");
  type(param.type);
  if (param.defaultValue) {
    layout.text(" = ");
    expr(param.defaultValue);
  }
}

void Formatter::binding(const Binding &binding) {
  name(binding.name);
  typeOf(binding.type);
  layout.text(" = ");
  expr(binding.value);
}

void Formatter::each(const Each *each) {
  for (const Name &element : each->names) {
    if (&element != each->names.begin())
      layout.text(", ");
    name(element);
  }
  layout.text(" in ");
  expr(each->sequence);
  if (each->last) {
    layout.text("..");
    expr(each->last);
  }
}

void Formatter::with(ArrayRef<Binding> carried) {
  if (carried.empty())
    return;
  layout.beginGroup();
  layout.indent(kContinuationIndent);
  layout.mayBreak(" ");
  layout.text("with ");
  bindings(carried, carried.front().range.begin);
  layout.unindent();
  layout.endGroup();
}

template <typename Loop> void Formatter::loop(StringRef word, const Loop *loop) {
  keyword(word, loop->bareRange.begin);
  layout.text(" ");
  each(loop->each);
  with(loop->carried);
  layout.text(" ");
  block(loop->body);
}

void Formatter::ifExpr(const IfExpr *node) {
  keyword("if", node->bareRange.begin);
  layout.text(" ");
  expr(node->condition);
  layout.text(" ");
  block(node->thenBlock);
  if (!node->elseBlock)
    return;
  layout.text(" else ");
  if (node->elseIf)
    bareStmt(node->elseBlock->statements.front());
  else
    block(node->elseBlock);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Formatter::body(ArrayRef<Stmt *> statements, SourceRange braces) {
  uint32_t close = braces.end - 1;
  bool hasComments = commentBetween(braces.begin, braces.end);
  bool oneLine = statements.size() <= 1 && !hasComments && !source(braces).contains('\n');
  if (oneLine)
    layout.beginGroup(/*consistent=*/true);
  keyword("{", braces.begin);
  layout.beginBlock();
  layout.indentBlock(kBlockIndent);
  if (!oneLine) {
    layout.newline();
    lastEnd = 0;
    stmts(statements, close);
  } else if (!statements.empty()) {
    layout.mayBreak(" ");
    stmt(statements.front());
  }
  layout.unindent();
  if (oneLine && !statements.empty())
    layout.mayBreak(" ");
  keyword("}", close);
  layout.unindent();
  if (oneLine)
    layout.endGroup();
}

/// The lines of a block or file, with all comments before `end`.
void Formatter::stmts(ArrayRef<Stmt *> statements, uint32_t end) {
  for (const Stmt *each : statements) {
    uint32_t begin =
        each->annotations.empty() ? each->range.begin : each->annotations.front().range.begin;
    ownLineComments(begin);
    keepBlankLine(begin);
    stmt(each);
    layout.newline();
    lastEnd = std::max(lastEnd, each->range.end);
  }
  ownLineComments(end);
}

void Formatter::stmt(const Stmt *node) {
  uint32_t begin = node->range.begin;
  for (const Annotation &annotation : node->annotations) {
    ownLineComments(annotation.range.begin);
    keyword("@", annotation.range.begin);
    name(annotation.name);
    if (annotation.hasParens)
      args(annotation.args, annotation.name.range.end);
    const Annotation *next = &annotation + 1;
    uint32_t following = next == node->annotations.end() ? begin : next->range.begin;
    bool ownLine = sources.text(file.id).slice(annotation.range.end, following).contains('\n');
    if (ownLine)
      layout.newline();
    else
      layout.text(" ");
    lastEnd = 0;
  }
  if (!node->annotations.empty())
    ownLineComments(begin);
  layout.beginGroup();
  bareStmt(node);
  layout.endGroup();
}

void Formatter::bareStmt(const Stmt *node) {
  uint32_t begin = node->range.begin;
  TypeSwitch<const Stmt *>(node)
      .Case([&](const UseDecl *s) { use(s); })
      .Case([&](const VarDecl *s) {
        keyword("var", begin);
        layout.text(" ");
        name(s->name);
        typeOf(s->type);
        layout.text(" = ");
        expr(s->init);
      })
      .Case([&](const LetDecl *s) {
        keyword("let", begin);
        layout.text(" ");
        bindings(s->bindings, s->bindings.front().range.begin);
      })
      .Case([&](const DimDecl *s) {
        keyword("dim", begin);
        layout.text(" ");
        exprs(s->facts, s->facts.front()->range.begin);
      })
      .Case([&](const QueueDecl *s) {
        keyword("queue", begin);
        layout.text(" ");
        name(s->name);
        layout.text(": ");
        params(s->fields, s->name.range.end);
        layout.text(" = ");
        expr(s->init);
      })
      .Case([&](const PartDecl *s) { part(s); })
      .Case([&](const FnDecl *s) { fn(s); })
      .Case([&](const StaticIfStmt *s) { staticIf(s); })
      .Case([&](const StaticForStmt *s) {
        keyword("static", begin);
        layout.text(" for ");
        each(s->each);
        layout.text(" ");
        block(s->body);
      })
      .Case([&](const ReturnStmt *s) {
        keyword("return", begin);
        if (s->values.empty())
          return;
        layout.text(" ");
        exprs(s->values, s->values.front()->range.begin);
      })
      .Case([&](const YieldStmt *s) {
        keyword("yield", begin);
        if (!s->values.empty()) {
          layout.text(" ");
          exprs(s->values, s->values.front()->range.begin);
        }
        if (!s->stacked.empty()) {
          layout.text("; ");
          exprs(s->stacked, s->stacked.front()->range.begin);
        }
      })
      .Case([&](const BindStmt *s) {
        for (const Target &target : s->targets) {
          if (&target != s->targets.begin())
            layout.text(", ");
          name(target.name);
          typeOf(target.type);
        }
        layout.text(" = ");
        exprs(s->values, s->values.front()->range.begin);
      })
      .Case([&](const ExprStmt *s) { expr(s->expr); })
      .Case([&](const BlockStmt *s) { block(s->block); });
}

void Formatter::use(const UseDecl *use) {
  keyword("use", use->range.begin);
  layout.text(" ");
  if (use->path)
    expr(use->path);
  else
    name(use->module);
  if (use->alias) {
    layout.text(" as ");
    name(use->alias);
  }
  if (use->names.empty())
    return;
  layout.text(": ");
  separated(use->names, use->names.front().range.begin, [&](const Name &each) { name(each); });
}

void Formatter::where(ArrayRef<Expr *> facts) {
  if (facts.empty())
    return;
  layout.mayBreak(" ");
  layout.text("where ");
  exprs(facts, facts.front()->range.begin);
}

void Formatter::part(const PartDecl *part) {
  keyword("part", part->range.begin);
  layout.text(" ");
  layout.beginGroup();
  layout.indent(kContinuationIndent);
  name(part->name);
  params(part->params, part->name.range.end);
  where(part->where);
  layout.unindent();
  layout.text(" ");
  layout.endGroup();
  body(part->members, part->bodyRange);
}

void Formatter::fn(const FnDecl *fn) {
  keyword(fn->isEntry ? "entry" : "fn", fn->range.begin);
  layout.text(" ");
  layout.beginGroup();
  layout.indent(kContinuationIndent);
  name(fn->name);
  params(fn->params, fn->name.range.end);
  if (fn->resultType || !fn->results.empty()) {
    layout.mayBreak(" ");
    layout.text("-> ");
    if (fn->resultType)
      type(fn->resultType);
    else
      params(fn->results, fn->results.front().range.begin);
  }
  where(fn->where);
  layout.unindent();
  layout.endGroup();
  layout.text(" ");
  block(fn->body);
}

void Formatter::staticIf(const StaticIfStmt *node) {
  keyword("static", node->range.begin);
  layout.text(" if ");
  expr(node->condition);
  layout.text(" ");
  block(node->thenBlock);
  if (!node->elseBlock)
    return;
  layout.text(" else ");
  if (node->elseStatic)
    bareStmt(node->elseBlock->statements.front());
  else
    block(node->elseBlock);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string Formatter::run() {
  if (file.name) {
    ownLineComments(file.headerRange.begin);
    keepBlankLine(file.headerRange.begin);
    keyword("graph", file.headerRange.begin);
    layout.text(" ");
    name(file.name);
    if (file.edition) {
      layout.text(" edition ");
      edition = std::to_string(*file.edition);
      anchor(edition, file.headerRange.end, file.headerRange.end);
    }
    layout.newline();
    lastEnd = std::max(lastEnd, file.headerRange.end);
  }
  stmts(file.items, ~0u);
  return layout.render();
}

std::optional<std::string> formatSource(const SourceManager &sources, FileId id,
                                        DiagnosticEngine &diagnostics) {
  unsigned before = diagnostics.errorCount();
  std::unique_ptr<File> file = parseFile(sources, id, diagnostics);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  return Formatter(sources, *file).run();
}

std::optional<std::string> formatSource(StringRef text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  return formatSource(sources, sources.add("<text>", text), diagnostics);
}

FormatResult formatFile(StringRef path, bool checkOnly, raw_ostream &errors) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::string problem;
  std::optional<FileId> file = sources.load(path, problem);
  if (!file) {
    errors << path << ": error: " << problem << '\n';
    return FormatResult::Failed;
  }
  std::optional<std::string> formatted = formatSource(sources, *file, diagnostics);
  diagnostics.flush(errors);
  if (!formatted)
    return FormatResult::Failed;
  if (*formatted == sources.text(*file))
    return FormatResult::Unchanged;
  if (checkOnly)
    return FormatResult::Changed;
  // A temporary file that is renamed, so that the source is never half written.
  Error failed = writeToOutput(path, [&](raw_ostream &os) {
    os << *formatted;
    return Error::success();
  });
  if (!failed)
    return FormatResult::Changed;
  errors << path << ": error: " << toString(std::move(failed)) << '\n';
  return FormatResult::Failed;
}

} // namespace tfc::text
