// Holds the part of the parser that reads blocks and the statements in them, including the bodies
// of parts.
#include "frontend/text/syntax/ParserImpl.h"

using namespace llvm;

namespace tfc::text {

using namespace ast;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Block *StatementParser::parseBlock() {
  Nesting nesting(*this);
  auto *block = make<Block>();
  block->range = endOfPrevious();
  if (!at(TokenKind::LBrace))
    if (Diagnostic *diagnostic = expected("'{'"); diagnostic && at(TokenKind::Colon))
      diagnostic->elseHelp("blocks are in braces: 'if c { .. } else { .. }'");
  resumeAtBrace();
  if (!expect(TokenKind::LBrace) || nesting.tooDeep())
    return block;
  const Token open = previous();
  block->statements = parseBody(open, /*ofPart=*/false);
  block->range = rangeFrom(open.begin);
  return block;
}

void StatementParser::dropValues(Stmt *statement) {
  ArrayRef<Expr *> none = copy(ArrayRef<Expr *>({errorExpr()}));
  if (auto *bind = dyn_cast<BindStmt>(statement))
    bind->values = none;
  else if (auto *result = dyn_cast<ReturnStmt>(statement))
    result->values = none;
  else if (auto *yield = dyn_cast<YieldStmt>(statement))
    yield->values = none;
  else if (auto *call = dyn_cast<ExprStmt>(statement); call && isa<CallExpr>(call->expr))
    call->expr = none.front();
}

ArrayRef<Stmt *> StatementParser::parseBody(const Token &open, bool ofPart) {
  unsigned outerBrackets = std::exchange(brackets, 0);
  auto isEnd = [&] {
    TokenKind next = token().kind;
    // Only items start like this: the block's '}' is missing.
    bool isItem = next == TokenKind::Entry || next == TokenKind::Part || next == TokenKind::Use ||
                  (next == TokenKind::Fn && !ofPart);
    return next == TokenKind::RBrace || next == TokenKind::End || isItem;
  };
  SmallVector<Stmt *> statements;
  while (!isEnd()) {
    uint32_t begin = token().begin;
    size_t before = position;
    skipNewline();
    Stmt *statement = ofPart ? parseMember() : parseStatement();
    if (statement)
      statements.push_back(statement);
    expectNewline();
    if (recovering && statement)
      dropValues(statement);
    if (recovering)
      skipStatement(begin);
    if (position == before && !isEnd())
      advance();
  }
  expectClosing(TokenKind::RBrace, open);
  brackets = outerBrackets;
  return copy(ArrayRef(statements));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Stmt *StatementParser::parseStatement() {
  const Token first = token();
  ArrayRef<Annotation> annotations = parseAnnotations();
  Stmt *statement = parseStatementBody();
  if (!statement)
    return nullptr;
  statement->annotations = annotations;
  statement->doc = docBefore(first);
  return statement;
}

/// Returns true at `word = ..` or `word: type = ..` with a reserved word, which no statement begins
/// with.
bool StatementParser::atReservedBinding() const {
  if (recovering || !atReservedWord())
    return false;
  TokenKind next = tokens[position + 1].kind;
  return next == TokenKind::Assign || next == TokenKind::Comma ||
         (next == TokenKind::Colon && token().kind != TokenKind::Else);
}

Stmt *StatementParser::parseStatementBody() {
  if (atReservedBinding())
    return parseBindOrCall();
  switch (recovering ? TokenKind::Invalid : token().kind) {
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Yield:
    return parseYield();
  case TokenKind::Var:
    return parseVar();
  case TokenKind::Let:
    return parseLet();
  case TokenKind::Static:
    return parseStatic();
  case TokenKind::If:
  case TokenKind::While:
  case TokenKind::For:
  case TokenKind::Scan:
  case TokenKind::Dataflow:
    return parseRegionStatement();
  case TokenKind::LBrace: {
    uint32_t begin = token().begin;
    auto *statement = make<BlockStmt>();
    statement->block = parseBlock();
    return finish(statement, begin);
  }
  case TokenKind::Name:
    return parseBindOrCall();
  case TokenKind::Dim:
  case TokenKind::Queue:
  case TokenKind::Dataset:
    error(range(), "misplaced", "'{}' is a declaration of a file, and not allowed in a block",
          spelled(token()));
    return nullptr;
  case TokenKind::Else:
    error(range(), "unexpected-token", "this 'else' has no matching 'if'");
    return nullptr;
  default:
    expected("a statement");
    return nullptr;
  }
}

Stmt *StatementParser::parseReturn() {
  uint32_t begin = token().begin;
  auto *statement = make<ReturnStmt>();
  advance();
  if (!at(TokenKind::Newline) && !at(TokenKind::RBrace) && !at(TokenKind::End))
    statement->values = parseExprs();
  return finish(statement, begin);
}

Stmt *StatementParser::parseYield() {
  uint32_t begin = token().begin;
  auto *statement = make<YieldStmt>();
  advance();
  if (!at(TokenKind::Newline) && !at(TokenKind::RBrace) && !at(TokenKind::End) &&
      !at(TokenKind::Semicolon))
    statement->values = parseExprs();
  if (accept(TokenKind::Semicolon))
    statement->stacked = parseExprs();
  return finish(statement, begin);
}

Stmt *StatementParser::parseStatic() {
  Nesting nesting(*this);
  uint32_t begin = token().begin;
  advance();
  if (nesting.tooDeep())
    return nullptr;
  if (accept(TokenKind::For)) {
    auto *statement = make<StaticForStmt>();
    statement->each = parseEach();
    statement->body = parseBlock();
    return finish(statement, begin);
  }
  if (!accept(TokenKind::If)) {
    expected("'if' or 'for' after 'static'");
    return nullptr;
  }
  auto *statement = make<StaticIfStmt>();
  statement->condition = parseCondition();
  statement->thenBlock = parseBlock();
  if (accept(TokenKind::Else)) {
    statement->elseStatic = at(TokenKind::Static);
    if (statement->elseStatic) {
      statement->elseBlock = make<Block>();
      SmallVector<Stmt *, 1> inner;
      if (Stmt *other = parseStatic())
        inner.push_back(other);
      statement->elseBlock->statements = copy(ArrayRef<Stmt *>(inner));
      statement->elseBlock->range = inner.empty() ? endOfPrevious() : inner.front()->range;
    } else if (at(TokenKind::LBrace)) {
      statement->elseBlock = parseBlock();
    } else if (Diagnostic *diagnostic = expected("'{' or 'static' after 'else'")) {
      if (at(TokenKind::If))
        diagnostic->elseHelp("write 'else static if'");
    }
  }
  return finish(statement, begin);
}

Stmt *StatementParser::parseRegionStatement() {
  uint32_t begin = token().begin;
  auto *statement = make<ExprStmt>();
  statement->expr = parseRegion();
  return finish(statement, begin);
}

/// `a = ..`, `a: type, b = ..` or `f(..)`; the current token is a name.
Stmt *StatementParser::parseBindOrCall() {
  Name first = parseName();
  switch (kind()) {
  case TokenKind::Colon:
  case TokenKind::Comma:
  case TokenKind::Assign:
    return parseBind(first);
  default:
    return parseCallStatement(first);
  }
}

Stmt *StatementParser::parseBind(Name first) {
  SmallVector<Target> targets;
  auto parseRest = [&](Name name) {
    Type *type = accept(TokenKind::Colon) ? parseType() : nullptr;
    targets.push_back({name, type});
  };
  parseRest(first);
  while (accept(TokenKind::Comma))
    parseRest(parseName("a name to bind"));
  auto *statement = make<BindStmt>();
  statement->targets = copy(ArrayRef(targets));
  if (expect(TokenKind::Assign))
    statement->values = parseExprs();
  return finish(statement, first.range.begin);
}

Stmt *StatementParser::parseCallStatement(Name first) {
  uint32_t begin = first.range.begin;
  auto *name = makeExpr<NameExpr>(begin);
  name->name = first.text;
  Expr *expr = parseSuffixes(name);
  if (isa<CallExpr>(expr) || recovering) {
    auto *statement = make<ExprStmt>();
    statement->expr = expr;
    return finish(statement, begin);
  }
  if (at(TokenKind::Assign)) {
    if (Diagnostic *diagnostic =
            error(expr->range, "misplaced", "only names can be bound, and this is not a name"))
      diagnostic->elseHelp("variables change by assign(v, value); other values never do");
    return nullptr;
  }
  bool isOperator = !isAfterLineBreak() && position + 1 < tokens.size() &&
                    tokens[position + 1].kind == TokenKind::Assign &&
                    tokens[position + 1].begin == token().end;
  bool isValueSoFar = at(TokenKind::Plus) || at(TokenKind::Minus) || at(TokenKind::Star) ||
                      at(TokenKind::Slash) || at(TokenKind::StarStar);
  Diagnostic *diagnostic = expected(expr == name ? "'=' or a call" : "a call");
  if (diagnostic && isOperator)
    diagnostic->elseHelp("write 'x = x {} ..'; a variable v changes by assign_add(v, ..)",
                         spelled(token()));
  else if (diagnostic && (at(TokenKind::RBrace) || isValueSoFar))
    diagnostic->elseHelp("a block returns values by 'yield', a function by 'return'");
  return nullptr;
}

Stmt *StatementParser::parseVar() {
  uint32_t begin = token().begin;
  auto *var = make<VarDecl>();
  advance();
  var->name = parseName();
  if (accept(TokenKind::Colon))
    var->type = parseType();
  var->init = accept(TokenKind::Assign) ? parseExpr() : nullptr;
  if (var->init)
    return finish(var, begin);
  if (Diagnostic *diagnostic = expected("'=' and the variable's initial value"))
    diagnostic->elseHelp("such as 'zeros()', 'glorot_uniform()' or a number");
  var->init = errorExpr();
  return finish(var, begin);
}

Stmt *StatementParser::parseLet() {
  uint32_t begin = token().begin;
  auto *let = make<LetDecl>();
  advance();
  let->bindings = parseBindings();
  return finish(let, begin);
}

} // namespace tfc::text
