// Holds the part of the formatter that writes statements, declarations and the blocks in them.
#include "frontend/text/format/Formatter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Formatter::body(ArrayRef<Stmt *> statements, SourceRange braces) {
  uint32_t close = braces.end - 1;
  bool hasComments = commentBetween(braces.begin, braces.end);
  bool oneLine = statements.size() <= 1 && !hasComments && !source(braces).contains('\n');
  bool ownGroup = oneLine && !inOneLineIf;
  if (ownGroup)
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
  if (ownGroup)
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
      .Case([&](const QueueDecl *s) { fields("queue", s, begin); })
      .Case([&](const DatasetDecl *s) { fields("dataset", s, begin); })
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

/// The blocks after a condition; `chained` if the second is another `if`.
template <typename If> void Formatter::branches(const If *node, bool chained) {
  layout.text(" ");
  SourceRange range = node->thenBlock->range;
  if (node->elseBlock)
    range = SourceRange::join(range, node->elseBlock->range);
  bool outer = inOneLineIf;
  bool shares = !outer && !source(range).contains('\n');
  inOneLineIf |= shares;
  if (shares)
    layout.beginGroup(/*consistent=*/true);
  block(node->thenBlock);
  if (node->elseBlock) {
    layout.text(" else ");
    if (chained)
      bareStmt(node->elseBlock->statements.front());
    else
      block(node->elseBlock);
  }
  if (shares)
    layout.endGroup();
  inOneLineIf = outer;
}

void Formatter::ifExpr(const IfExpr *node) {
  keyword("if", node->bareRange.begin);
  layout.text(" ");
  expr(node->condition);
  branches(node, node->elseIf);
}

void Formatter::staticIf(const StaticIfStmt *node) {
  keyword("static", node->range.begin);
  layout.text(" if ");
  expr(node->condition);
  branches(node, node->elseStatic);
}

} // namespace tfc::text
