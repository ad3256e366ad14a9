// Holds the part of the formatter that writes expressions, types and lists as groups that may
// break. Layout.cpp decides which groups do.
#include "frontend/text/format/Formatter.h"
#include "frontend/text/syntax/Lexer.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

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
      .Case<IfExpr, WhileExpr, ForExpr, ScanExpr, DataflowExpr>([&](const Expr *e) {
        // Blocks are indented from the line of the keyword, wherever their `{` is.
        layout.beginBlock();
        region(e);
        layout.unindent();
      })
      .Default([&](const Expr *e) { anchor(e->bareRange); });
}

void Formatter::region(const Expr *node) {
  TypeSwitch<const Expr *>(node)
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
      });
}

/// Operators of one level form a chain: `a + b - c` breaks after each of its operators, or none.
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

} // namespace tfc::text
