/// The recursive-descent parser, one function per rule of the grammar in docs/language.md. Each
/// class adds rules to those of its base: tokens, expressions, statements, declarations.
#pragma once

#include "frontend/text/syntax/Lexer.h"
#include "frontend/text/syntax/Parser.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::text {

/// The tokens of a file and the nodes made of them. One token of lookahead. After an error the
/// parser is "recovering": it neither consumes nor reports until the enclosing statement loop has
/// skipped to the next statement.
class TokenStream {
protected:
  TokenStream(const SourceManager &sources, ast::File &file, DiagnosticEngine &diagnostics);

  TokenKind kind() const;
  bool at(TokenKind expected) const { return kind() == expected; }
  const Token &token() const { return tokens[position]; }
  const Token &previous() const { return tokens[position ? position - 1 : 0]; }
  SourceRange range(const Token &token) const { return {file.id, token.begin, token.end}; }
  SourceRange range() const { return range(token()); }
  SourceRange rangeFrom(uint32_t begin) const;
  llvm::StringRef spelled(const Token &token) const;
  void advance();
  /// Skips the line break before the next token, if there is one.
  void skipNewline() { lineStart = position; }
  bool isAfterLineBreak() const;
  /// Returns true at `name = ..` on a new line, which is always a statement.
  bool atNewBinding() const;
  /// Returns true at a keyword or an element type.
  bool atReservedWord() const { return isReservedWord(token().kind); }
  /// Returns true at a reserved word that the author has used as a name before, unless it begins a
  /// region here.
  bool atMisusedWord() const;
  /// Returns true if a `{` is on the line of the next token.
  bool startsBlock() const;
  /// Returns true at `=>`, which is no token.
  bool atFatArrow() const;
  bool accept(TokenKind expected);
  bool expect(TokenKind expected, const llvm::Twine &what);
  bool expect(TokenKind expected) { return expect(expected, describe(expected)); }
  /// Expects the bracket that closes `open`; `alternative` names other tokens that are possible
  /// here.
  void expectClosing(TokenKind closing, const Token &open, llvm::StringRef alternative = {});
  void expectNewline();

  // Errors and recovery.
  /// "expected `what`, but got .."; null while recovering.
  Diagnostic *expected(const llvm::Twine &what);
  Diagnostic *error(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic *error(SourceRange at, llvm::StringRef slug, fmt::format_string<Arg, Args...> format,
                    Arg &&arg, Args &&...args) {
    return error(
        at, slug,
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  std::string describeToken() const;
  /// The meaning in this language of the foreign word or operator next to which the parser stopped;
  /// empty if there is none.
  llvm::StringRef foreignMeaning() const;
  void skipStatement(uint32_t begin);
  /// After an error before a block: resumes at its `{`, if the line has one.
  void resumeAtBrace();
  unsigned column(uint32_t offset) const;
  /// The location just after the last token.
  SourceRange endOfPrevious() const;

  /// Counts nesting; converts to false, after an error, if it is too deep.
  class Nesting {
  public:
    explicit Nesting(TokenStream &tokens) : tokens(tokens) { ++tokens.depth; }
    ~Nesting() { --tokens.depth; }
    bool tooDeep();

  private:
    TokenStream &tokens;
  };

  // Nodes.
  template <typename T> T *make() { return new (file.arena.Allocate<T>()) T(); }
  template <typename T> T *makeExpr(uint32_t begin);
  template <typename T> llvm::ArrayRef<T> copy(llvm::ArrayRef<T> values);
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(file.arena); }
  /// Ends an expression that began at `begin` and has these children.
  ast::Expr *finish(ast::Expr *expr, uint32_t begin, llvm::ArrayRef<ast::Expr *> children);
  ast::Expr *errorExpr();
  llvm::StringRef docBefore(const Token &first);

  ast::Stmt *finish(ast::Stmt *stmt, uint32_t begin);

  const SourceManager &sources;
  ast::File &file;
  DiagnosticEngine &diagnostics;
  std::vector<Token> tokens;
  std::vector<ast::Comment> comments;
  size_t position = 0;
  /// The first token of the current statement, whose preceding line break has been skipped.
  size_t lineStart = 0;
  /// The number of open parentheses and brackets since the innermost brace; inside them newlines
  /// have no meaning.
  unsigned brackets = 0;
  unsigned depth = 0;
  /// The greatest height of the expressions since the innermost block began.
  unsigned deepest = 0;
  /// `brackets` where the parser began to recover.
  unsigned bracketsAtError = 0;
  bool recovering = false;
  /// The text is one value, and not a file.
  bool isValue = false;
  /// Reserved words that the author used as names, each reported once.
  llvm::StringSet<> misused;
};

/// The rules of expressions, with the types, names and bindings in them.
class ExpressionParser : protected TokenStream {
protected:
  using TokenStream::TokenStream;

  /// Statements in braces: run-time blocks are expressions that consist of statements.
  virtual ast::Block *parseBlock() = 0;

  ast::Name parseName(llvm::StringRef what = {});
  bool isNameByContext() const;
  ast::Name takeName();
  ast::Type *parseType();
  ast::Binding parseBinding();
  llvm::ArrayRef<ast::Binding> parseBindings();
  llvm::ArrayRef<ast::Annotation> parseAnnotations();
  ast::Each *parseEach();
  ast::Expr *parseExpr() { return parseBinary(0); }
  llvm::ArrayRef<ast::Expr *> parseExprs();
  ast::Expr *parseBinary(unsigned minLevel);
  ast::Expr *parseUnary(unsigned minLevel);
  ast::Expr *parsePostfix();
  ast::Expr *parseSuffixes(ast::Expr *base);
  ast::Expr *parseCall(ast::Expr *callee);
  ast::Expr *parsePrimary();
  ast::Expr *parseNumber();
  ast::Expr *parseString();
  ast::Expr *parseInterpolated(SourceRange inside);
  ast::Expr *parseParenthesized();
  ast::Expr *parseListOrComprehension();
  ast::Expr *parseRegion();
  ast::Expr *parseCondition();
  ast::Expr *parseIf();
  bool acceptForeignElse();
  ast::Expr *parseWhile();
  ast::Expr *parseForOrScan();
  llvm::ArrayRef<ast::Arg> parseArgs(const Token &open);
  void parseAssignedArg(ast::Arg &arg, const Token &open);
  llvm::ArrayRef<ast::IndexItem> parseIndices(const Token &open,
                                              llvm::SmallVectorImpl<ast::Expr *> &children);
  ast::IndexItem parseIndex(llvm::SmallVectorImpl<ast::Expr *> &children);
  std::optional<uint32_t> decodeEscape(llvm::StringRef text, size_t &at, uint32_t offset);
};

/// The rules of blocks and of the statements in them.
class StatementParser : protected ExpressionParser {
protected:
  using ExpressionParser::ExpressionParser;

  /// A declaration in a part.
  virtual ast::Stmt *parseMember() = 0;

  ast::Block *parseBlock() override;
  /// Statements up to `}`: a block's, or the members of a part.
  llvm::ArrayRef<ast::Stmt *> parseBody(const Token &open, bool ofPart);
  ast::Stmt *parseVar();
  ast::Stmt *parseLet();
  ast::Stmt *parseStatement();
  ast::Stmt *parseStatementBody();
  bool atReservedBinding() const;
  /// Removes the values of a statement with an error, which would only lead to others.
  void dropValues(ast::Stmt *statement);
  ast::Stmt *parseStatic();
  ast::Stmt *parseReturn();
  ast::Stmt *parseYield();
  ast::Stmt *parseRegionStatement();
  ast::Stmt *parseBindOrCall();
  ast::Stmt *parseBind(ast::Name first);
  ast::Stmt *parseCallStatement(ast::Name first);
};

/// The rules of a file and of the declarations in it.
class Parser final : private StatementParser {
public:
  Parser(const SourceManager &sources, ast::File &file, DiagnosticEngine &diagnostics)
      : StatementParser(sources, file, diagnostics) {}

  /// Parses the whole file into the File.
  void parse();
  /// Parses the whole file as one expression; null after errors.
  ast::Expr *parseSingle();
  /// The start of the text after the first declaration; past the end of the file if there is none.
  uint32_t endOfFirstItem() const { return firstItemEnd; }

private:
  void parseHeader();
  void noteFirstItem();
  ast::Stmt *parseItem();
  ast::Stmt *parseDeclaration();
  ast::Stmt *parseUse();
  ast::Stmt *parseDim();
  /// A declaration of named tensors: a queue or a dataset.
  template <typename Decl> ast::Stmt *parseFields(llvm::StringRef after);
  ast::Stmt *parseQueue();
  ast::Stmt *parseDataset();
  ast::Stmt *parsePart();
  ast::Stmt *parseMember() override;
  ast::Stmt *parseFn();
  llvm::ArrayRef<ast::Param> parseParams(TokenKind closing);
  ast::Param parseParam();
  bool acceptFatArrow();
  llvm::ArrayRef<ast::Name> parseUsedNames();
  void parseResults(ast::FnDecl *fn);
  bool parseBareResults(ast::FnDecl *fn);
  llvm::ArrayRef<ast::Expr *> parseWhere();

  uint32_t firstItemEnd = 0; // 0: not seen yet
};

template <typename T> llvm::ArrayRef<T> TokenStream::copy(llvm::ArrayRef<T> values) {
  return values.copy(file.arena);
}

template <typename T> T *TokenStream::makeExpr(uint32_t begin) {
  T *expr = make<T>();
  expr->range = expr->bareRange = rangeFrom(begin);
  return expr;
}

} // namespace tfc::text
