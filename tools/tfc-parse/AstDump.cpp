// Prints syntax trees as nested lists, so that tests can check the parser without the elaborator.
// It knows every kind of node and is not part of tfc.
#include "tools/tfc-parse/AstDump.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tfc::text {

using namespace ast;

namespace {

class Dumper {
public:
  explicit Dumper(raw_ostream &os) : os(os) {}
  void stmt(const Stmt *stmt);

private:
  void expr(const Expr *expr);
  void exprs(StringRef head, ArrayRef<Expr *> exprs);
  void type(const Type *type);
  void block(const Block *block);
  void stmts(ArrayRef<Stmt *> stmts);
  void each(const Each *each);
  void args(ArrayRef<Arg> args);
  void items(ArrayRef<IndexItem> items);
  void bindings(ArrayRef<Binding> bindings);
  void params(StringRef head, ArrayRef<Param> params);
  /// A declaration of named tensors: a queue or a dataset.
  template <typename Decl> void fields(StringRef word, const Decl *decl) {
    os << word << decl->name.text;
    params("fields", decl->fields);
    os << " = ";
    expr(decl->init);
  }
  void body(const Stmt *stmt);
  void fn(const FnDecl *fn);
  template <typename Loop> void loop(StringRef head, const Loop *loop);
  void typeOf(const Type *type) {
    if (type) {
      os << ": ";
      this->type(type);
    }
  }

  raw_ostream &os;
  unsigned indent = 0;
};

} // namespace

void Dumper::exprs(StringRef head, ArrayRef<Expr *> list) {
  os << head;
  for (const Expr *each : list) {
    os << ' ';
    expr(each);
  }
  os << ')';
}

void Dumper::each(const Each *each) {
  interleave(each->names, os, [&](const Name &name) { os << name.text; }, ",");
  os << " in ";
  expr(each->sequence);
  if (each->last) {
    os << "..";
    expr(each->last);
  }
}

void Dumper::args(ArrayRef<Arg> args) {
  for (const Arg &arg : args) {
    os << ' ';
    if (arg.label)
      os << arg.label.text << ": ";
    expr(arg.value);
  }
}

void Dumper::items(ArrayRef<IndexItem> items) {
  for (const IndexItem &item : items) {
    os << ' ';
    if (item.kind == IndexItemKind::Rest)
      os << "..";
    if (item.value)
      expr(item.value);
    if (item.kind != IndexItemKind::Slice)
      continue;
    for (const Expr *part : {item.stop, item.step}) {
      os << ':';
      if (part)
        expr(part);
    }
  }
}

template <typename Loop> void Dumper::loop(StringRef head, const Loop *loop) {
  os << '(' << head << ' ';
  each(loop->each);
  bindings(loop->carried);
  block(loop->body);
  os << ')';
}

void Dumper::expr(const Expr *node) {
  TypeSwitch<const Expr *>(node)
      .Case([&](const NameExpr *e) { os << e->name; })
      .Case([&](const DTypeExpr *e) { os << spelling(e->dtype); })
      .Case([&](const ListTypeExpr *) { os << "list"; })
      .Case([&](const IntExpr *e) { os << e->value; })
      .Case([&](const FloatExpr *e) { os << format("%.17g", e->value); })
      .Case([&](const BoolExpr *e) { os << (e->value ? "true" : "false"); })
      .Case([&](const StringExpr *e) {
        os << "(string";
        for (const StringPart &part : e->parts) {
          os << ' ';
          if (part.value)
            expr(part.value);
          else
            os << '"' << part.text << '"';
        }
        os << ')';
      })
      .Case([&](const UnaryExpr *e) { exprs(e->op == UnaryOp::Neg ? "(-" : "(not", {e->operand}); })
      .Case([&](const BinaryExpr *e) {
        os << '(';
        exprs(spelling(e->op), {e->lhs, e->rhs});
      })
      .Case([&](const CallExpr *e) {
        os << "(call ";
        expr(e->callee);
        args(e->args);
        os << ')';
      })
      .Case([&](const IndexExpr *e) {
        os << "(index ";
        expr(e->base);
        items(e->items);
        os << ')';
      })
      .Case([&](const MemberExpr *e) {
        os << "(. ";
        expr(e->base);
        os << ' ' << e->member.text << ')';
      })
      .Case([&](const ListExpr *e) { exprs("(list", e->elements); })
      .Case([&](const ComprehensionExpr *e) {
        os << "(for ";
        each(e->each);
        os << ' ';
        expr(e->element);
        os << ')';
      })
      .Case([&](const IfExpr *e) {
        os << "(if ";
        expr(e->condition);
        block(e->thenBlock);
        if (e->elseBlock)
          block(e->elseBlock);
        os << ')';
      })
      .Case([&](const WhileExpr *e) {
        os << "(while ";
        expr(e->condition);
        bindings(e->carried);
        block(e->body);
        os << ')';
      })
      .Case([&](const ForExpr *e) { loop("for", e); })
      .Case([&](const ScanExpr *e) { loop("scan", e); })
      .Case([&](const DataflowExpr *e) {
        os << "(dataflow";
        block(e->body);
        os << ')';
      })
      .Default([&](const Expr *) { os << "<error>"; });
}

void Dumper::type(const Type *type) {
  switch (type->kind) {
  case TypeKind::DType:
    os << spelling(type->dtype);
    break;
  case TypeKind::Named:
    os << type->name;
    break;
  case TypeKind::List:
    os << "list";
    break;
  case TypeKind::Dim:
    os << "dim";
    break;
  }
  if (type->hasBrackets) {
    os << '[';
    items(type->items);
    os << " ]";
  }
}

void Dumper::bindings(ArrayRef<Binding> bindings) {
  for (const Binding &binding : bindings) {
    os << " (" << binding.name.text;
    typeOf(binding.type);
    os << " = ";
    expr(binding.value);
    os << ')';
  }
}

void Dumper::params(StringRef head, ArrayRef<Param> params) {
  os << " (" << head;
  for (const Param &param : params) {
    os << (param.isStatic ? " static " : " ") << param.name.text << (param.isVar ? ": var " : ": ");
    type(param.type);
    if (param.defaultValue) {
      os << " = ";
      expr(param.defaultValue);
    }
  }
  os << ')';
}

void Dumper::stmts(ArrayRef<Stmt *> list) {
  os << " {\n";
  indent += 2;
  for (const Stmt *each : list)
    stmt(each);
  indent -= 2;
  os.indent(indent) << '}';
}

void Dumper::block(const Block *block) { stmts(block->statements); }

void Dumper::fn(const FnDecl *fn) {
  os << (fn->isEntry ? "entry " : "fn ") << fn->name.text;
  params("params", fn->params);
  if (fn->resultType) {
    os << " -> ";
    type(fn->resultType);
  }
  if (!fn->results.empty())
    params("results", fn->results);
  if (!fn->where.empty())
    exprs(" (where", fn->where);
  block(fn->body);
}

void Dumper::body(const Stmt *node) {
  TypeSwitch<const Stmt *>(node)
      .Case([&](const UseDecl *s) {
        os << "use " << (s->path ? s->path->literal().value_or("?") : s->module.text) << " as "
           << s->alias.text << ':';
        for (const Name &name : s->names)
          os << ' ' << name.text;
      })
      .Case([&](const VarDecl *s) {
        os << "var " << s->name.text;
        typeOf(s->type);
        os << " = ";
        expr(s->init);
      })
      .Case([&](const LetDecl *s) {
        os << "let";
        bindings(s->bindings);
      })
      .Case([&](const DimDecl *s) { exprs("(dim", s->facts); })
      .Case([&](const QueueDecl *s) { fields("queue ", s); })
      .Case([&](const DatasetDecl *s) { fields("dataset ", s); })
      .Case([&](const PartDecl *s) {
        os << "part " << s->name.text;
        params("params", s->params);
        if (!s->where.empty())
          exprs(" (where", s->where);
        stmts(s->members);
      })
      .Case([&](const FnDecl *s) { fn(s); })
      .Case([&](const StaticIfStmt *s) {
        os << "static if ";
        expr(s->condition);
        block(s->thenBlock);
        if (s->elseBlock) {
          os << " else";
          block(s->elseBlock);
        }
      })
      .Case([&](const StaticForStmt *s) {
        os << "static for ";
        each(s->each);
        block(s->body);
      })
      .Case([&](const ReturnStmt *s) { exprs("(return", s->values); })
      .Case([&](const YieldStmt *s) {
        exprs("(yield", s->values);
        if (!s->stacked.empty())
          exprs(" (stacked", s->stacked);
      })
      .Case([&](const BindStmt *s) {
        for (const Target &target : s->targets) {
          os << target.name.text;
          typeOf(target.type);
          os << ' ';
        }
        exprs("(=", s->values);
      })
      .Case([&](const ExprStmt *s) { expr(s->expr); })
      .Case([&](const BlockStmt *s) { block(s->block); });
}

void Dumper::stmt(const Stmt *node) {
  if (!node->doc.empty())
    os.indent(indent) << "doc: " << node->doc << '\n';
  os.indent(indent);
  for (const Annotation &annotation : node->annotations) {
    os << "(@" << annotation.name.text;
    args(annotation.args);
    os << ") ";
  }
  body(node);
  os << '\n';
}

void dump(const File &file, raw_ostream &os) {
  if (!file.doc.empty())
    os << "doc: " << file.doc << '\n';
  if (file.name)
    os << "graph " << file.name.text << " edition " << file.edition.value_or(0) << '\n';
  Dumper dumper(os);
  for (const Stmt *item : file.items)
    dumper.stmt(item);
}

} // namespace tfc::text
