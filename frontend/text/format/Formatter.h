/// The formatter's walk over the tree; Format.h is its interface.
#pragma once

#include "frontend/text/format/Layout.h"
#include "frontend/text/syntax/Ast.h"

namespace tfc::text {

using namespace ast;

inline constexpr unsigned kMaxWidth = 100;
inline constexpr unsigned kBlockIndent = 2;
inline constexpr unsigned kContinuationIndent = 4;

/// Walks the tree in source order and lays it out. Words, literals and braces are "anchors": a
/// comment stays after the anchor that it followed, or before the element that it preceded.
class Formatter {
public:
  Formatter(const SourceManager &sources, const File &file);
  std::string run();

private:
  // Anchors and comments.
  llvm::StringRef source(SourceRange range) const { return sources.text(range); }
  void anchor(llvm::StringRef text, uint32_t begin, uint32_t end);
  void anchor(SourceRange range) { anchor(source(range), range.begin, range.end); }
  void keyword(llvm::StringRef word, uint32_t begin) { anchor(word, begin, begin + word.size()); }
  void name(const Name &name);
  uint32_t nextAnchor(uint32_t from) const;
  bool commentBetween(uint32_t begin, uint32_t end) const;
  void ownLineComments(uint32_t before);
  void keepBlankLine(uint32_t begin);

  // Lists: elements with possible line breaks between them.
  template <typename Element, typename Print>
  void separated(llvm::ArrayRef<Element> elements, uint32_t begin, Print print);
  template <typename Element, typename Print>
  void enclosed(llvm::StringRef open, llvm::StringRef close, llvm::ArrayRef<Element> elements,
                uint32_t begin, Print print);
  void exprs(llvm::ArrayRef<Expr *> exprs, uint32_t begin);
  void args(llvm::ArrayRef<Arg> args, uint32_t begin);
  void indices(llvm::ArrayRef<IndexItem> items, uint32_t begin);
  void bindings(llvm::ArrayRef<Binding> bindings, uint32_t begin);
  void params(llvm::ArrayRef<Param> params, uint32_t begin);
  /// A declaration of named tensors: a queue or a dataset.
  template <typename Decl> void fields(llvm::StringRef word, const Decl *decl, uint32_t begin) {
    keyword(word, begin);
    layout.text(" ");
    name(decl->name);
    layout.text(": ");
    params(decl->fields, decl->name.range.end);
    layout.text(" = ");
    expr(decl->init);
  }

  // Parts of statements.
  void expr(const Expr *expr);
  void bareExpr(const Expr *expr);
  void region(const Expr *expr);
  void binary(const BinaryExpr *expr);
  void index(const IndexItem &item);
  void type(const Type *type);
  void typeOf(const Type *type);
  void param(const Param &param);
  void binding(const Binding &binding);
  void each(const Each *each);
  void with(llvm::ArrayRef<Binding> carried);
  void where(llvm::ArrayRef<Expr *> facts);
  template <typename Loop> void loop(llvm::StringRef word, const Loop *loop);
  void ifExpr(const IfExpr *expr);
  template <typename If> void branches(const If *node, bool chained);

  // Statements.
  void body(llvm::ArrayRef<Stmt *> statements, SourceRange braces);
  void block(const Block *block) { body(block->statements, block->range); }
  void stmts(llvm::ArrayRef<Stmt *> statements, uint32_t end);
  void stmt(const Stmt *stmt);
  void bareStmt(const Stmt *stmt);
  void use(const UseDecl *use);
  void part(const PartDecl *part);
  void fn(const FnDecl *fn);
  void staticIf(const StaticIfStmt *stmt);

  const SourceManager &sources;
  const File &file;
  Layout layout{kMaxWidth};
  /// The offsets of the anchors of the file.
  std::vector<uint32_t> anchors;
  llvm::ArrayRef<Comment> comments;
  /// Set while the blocks of a one-line `if` are printed: they are broken into several lines
  /// together.
  bool inOneLineIf = false;
  /// The end in the source of the last printed line of a body.
  uint32_t lastEnd = 0;
  std::string edition;
};

inline SourceRange rangeOf(const Expr *expr) { return expr->range; }
inline SourceRange rangeOf(const Arg &arg) { return arg.range; }
inline SourceRange rangeOf(const Binding &binding) { return binding.range; }
inline SourceRange rangeOf(const IndexItem &item) { return item.range; }
inline SourceRange rangeOf(const Name &name) { return name.range; }
inline SourceRange rangeOf(const Param &param) { return param.range; }

/// Elements with commas; `begin` is the end of the text before the first one.
template <typename Element, typename Print>
void Formatter::separated(llvm::ArrayRef<Element> elements, uint32_t begin, Print print) {
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
void Formatter::enclosed(llvm::StringRef open, llvm::StringRef close,
                         llvm::ArrayRef<Element> elements, uint32_t begin, Print print) {
  layout.text(open);
  separated(elements, begin, print);
  layout.text(close);
}

} // namespace tfc::text
