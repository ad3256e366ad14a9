// The tokens of graph source, and the lexer.
#pragma once

#include "frontend/text/syntax/Ast.h"
#include "frontend/text/syntax/Diagnostics.h"

namespace tfc::text {

// X(name, spelling)
#define TFC_TEXT_KEYWORDS(X)                                                                       \
  X(Graph, "graph")                                                                                \
  X(Edition, "edition")                                                                            \
  X(Use, "use")                                                                                    \
  X(As, "as")                                                                                      \
  X(Var, "var")                                                                                    \
  X(Let, "let")                                                                                    \
  X(Dim, "dim")                                                                                    \
  X(Queue, "queue")                                                                                \
  X(Dataset, "dataset")                                                                            \
  X(Part, "part")                                                                                  \
  X(Static, "static")                                                                              \
  X(Fn, "fn")                                                                                      \
  X(Entry, "entry")                                                                                \
  X(Where, "where")                                                                                \
  X(List, "list")                                                                                  \
  X(Return, "return")                                                                              \
  X(Yield, "yield")                                                                                \
  X(If, "if")                                                                                      \
  X(Else, "else")                                                                                  \
  X(For, "for")                                                                                    \
  X(In, "in")                                                                                      \
  X(While, "while")                                                                                \
  X(Scan, "scan")                                                                                  \
  X(Dataflow, "dataflow")                                                                          \
  X(With, "with")                                                                                  \
  X(Or, "or")                                                                                      \
  X(And, "and")                                                                                    \
  X(Not, "not")                                                                                    \
  X(True, "true")                                                                                  \
  X(False, "false")                                                                                \
  X(Inf, "inf")                                                                                    \
  X(Nan, "nan")

#define TFC_TEXT_PUNCTUATION(X)                                                                    \
  X(LParen, "(")                                                                                   \
  X(RParen, ")")                                                                                   \
  X(LBracket, "[")                                                                                 \
  X(RBracket, "]")                                                                                 \
  X(LBrace, "{")                                                                                   \
  X(RBrace, "}")                                                                                   \
  X(Comma, ",")                                                                                    \
  X(Colon, ":")                                                                                    \
  X(Semicolon, ";")                                                                                \
  X(Dot, ".")                                                                                      \
  X(DotDot, "..")                                                                                  \
  X(At, "@")                                                                                       \
  X(Arrow, "->")                                                                                   \
  X(Assign, "=")                                                                                   \
  X(EqEq, "==")                                                                                    \
  X(NotEq, "!=")                                                                                   \
  X(LessEq, "<=")                                                                                  \
  X(GreaterEq, ">=")                                                                               \
  X(Less, "<")                                                                                     \
  X(Greater, ">")                                                                                  \
  X(StarStar, "**")                                                                                \
  X(Star, "*")                                                                                     \
  X(SlashSlash, "//")                                                                              \
  X(Slash, "/")                                                                                    \
  X(Percent, "%")                                                                                  \
  X(Plus, "+")                                                                                     \
  X(Minus, "-")

enum class TokenKind : uint8_t {
  End,
  /// Ends a statement; the parser creates it from `startsLine`, the lexer never does.
  Newline,
  /// A character that starts no token; its error has been reported.
  Invalid,
  Name,
  DType,
  Int,
  Float,
  String,
#define X(name, spelling) name,
  TFC_TEXT_KEYWORDS(X) TFC_TEXT_PUNCTUATION(X)
#undef X
};

/// Keywords and punctuation as written, other kinds in words ("a name").
llvm::StringRef describe(TokenKind kind);

bool isKeyword(TokenKind kind);

/// Returns true for a word that is a name only in backquotes: a keyword or an element type.
bool isReservedWord(TokenKind kind);

/// The keyword or DType of a word, else Name.
TokenKind classifyWord(llvm::StringRef word);
std::optional<ast::DType> parseDType(llvm::StringRef word);

/// Returns true for words that can be used as names without backquotes.
bool isPlainName(llvm::StringRef name);

struct Token {
  TokenKind kind = TokenKind::End;
  /// First on its line.
  bool startsLine = false;
  uint32_t begin = 0;
  uint32_t end = 0;
  /// The number of the file's comments before it.
  uint32_t commentsBefore = 0;
};

struct LexedFile {
  /// Ends with an End token.
  std::vector<Token> tokens;
  std::vector<ast::Comment> comments;
};

/// Returns true if the last line of the tokens holds a `//` with a token after it.
bool isBehindSlashes(llvm::ArrayRef<Token> tokens);
inline constexpr llvm::StringLiteral kSizeNameHelp =
    "a size that differs from call to call has a name: f32[n, 3]";
inline constexpr llvm::StringLiteral kCommentHelp = "comments begin with '#'; '//' divides";

/// Lexes the bytes of `range`. Everything outside of comments, strings and backquotes is ASCII.
LexedFile lex(const SourceManager &sources, SourceRange range, DiagnosticEngine &diagnostics);

} // namespace tfc::text
