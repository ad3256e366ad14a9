// Holds the part of the parser that reads files and declarations, and suggests the tfc form of
// declarations that other languages have.
#include "frontend/text/syntax/ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

using namespace ast;

//===----------------------------------------------------------------------===//
// The file and its items
//===----------------------------------------------------------------------===//

void Parser::parse() {
  parseHeader();
  if (position > 0)
    noteFirstItem();
  SmallVector<Stmt *> items;
  while (token().kind != TokenKind::End) {
    uint32_t begin = token().begin;
    size_t before = position;
    skipNewline();
    if (Stmt *item = parseItem())
      items.push_back(item);
    if (!recovering && !at(TokenKind::Newline) && !at(TokenKind::End) && !at(TokenKind::RBrace))
      expected("the end of the declaration");
    if (recovering)
      skipStatement(begin);
    // A closing bracket stops the skipping, but ends nothing here.
    if (position == before)
      advance();
    noteFirstItem();
  }
  noteFirstItem(); // for a file without items
  file.items = copy(ArrayRef(items));
  file.comments = copy(ArrayRef(comments));
}

Expr *Parser::parseSingle() {
  isValue = true;
  unsigned before = diagnostics.errorCount();
  skipNewline();
  ++brackets; // newlines end nothing
  Expr *expr = parseExpr();
  if (!recovering && !at(TokenKind::End))
    expected("the end of the value");
  return diagnostics.errorCount() == before ? expr : nullptr;
}

void Parser::noteFirstItem() {
  if (firstItemEnd == 0)
    firstItemEnd = token().kind == TokenKind::End ? UINT32_MAX : token().begin;
}

void Parser::parseHeader() {
  if (!at(TokenKind::Graph))
    return;
  const Token first = token();
  file.doc = docBefore(first);
  advance();
  file.name = parseName("the graph's name");
  if (accept(TokenKind::Edition)) {
    Expr *edition = at(TokenKind::Int) ? parseNumber() : nullptr;
    if (auto *number = dyn_cast_or_null<IntExpr>(edition))
      file.edition = number->value;
    else
      expected("the number of the edition");
  }
  file.headerRange = rangeFrom(first.begin);
  expectNewline();
  if (recovering)
    skipStatement(first.begin);
}

Stmt *Parser::parseItem() {
  const Token first = token();
  ArrayRef<Annotation> annotations = parseAnnotations();
  Stmt *item = parseDeclaration();
  if (!item)
    return nullptr;
  item->annotations = annotations;
  item->doc = docBefore(first);
  if (isa<UseDecl>(item) && !annotations.empty() && !recovering)
    diagnostics.error(annotations.front().range, "misplaced", "'use' takes no annotations");
  return item;
}

/// Returns how this language writes the declaration that `word` begins in another language.
static StringRef foreignDeclaration(StringRef word) {
  return StringSwitch<StringRef>(word)
      .Cases({"def", "func", "function"},
             "a function is written 'fn f(x: f32[n]) -> f32[n] { .. }'")
      .Cases({"class", "struct", "module"},
             "variables and the functions that use them are a 'part'")
      .Cases({"import", "from", "include"},
             "'use layers: dense' makes names of other files available")
      .Cases({"const", "val", "auto"}, "a constant is bound by 'let'")
      .Default("");
}

template <typename Decl> Stmt *Parser::parseFields(StringRef after) {
  uint32_t begin = token().begin;
  auto *decl = make<Decl>();
  advance();
  decl->name = parseName();
  expect(TokenKind::Colon, after);
  if (expect(TokenKind::LParen))
    decl->fields = parseParams(TokenKind::RParen);
  decl->init = expect(TokenKind::Assign) ? parseExpr() : errorExpr();
  return finish(decl, begin);
}

Stmt *Parser::parseQueue() {
  return parseFields<QueueDecl>("':' and the queue's fields in parentheses");
}

Stmt *Parser::parseDataset() {
  return parseFields<DatasetDecl>("':' and the fields of a row in parentheses");
}

Stmt *Parser::parseDeclaration() {
  switch (recovering ? TokenKind::Invalid : token().kind) {
  case TokenKind::Use:
    return parseUse();
  case TokenKind::Var:
    return parseVar();
  case TokenKind::Let:
    return parseLet();
  case TokenKind::Dim:
    return parseDim();
  case TokenKind::Queue:
    return parseQueue();
  case TokenKind::Dataset:
    return parseDataset();
  case TokenKind::Part:
    return parsePart();
  case TokenKind::Fn:
  case TokenKind::Entry:
    return parseFn();
  case TokenKind::Graph:
    error(range(), "misplaced", "there is only one header 'graph', at the top of the file");
    return nullptr;
  case TokenKind::RBrace:
    error(range(), "unexpected-token", "this '}' has no matching '{'");
    return nullptr;
  case TokenKind::Name:
    if (Diagnostic *diagnostic = expected("a declaration"))
      diagnostic->elseHelp(foreignDeclaration(spelled(token())))
          .elseHelp("a file holds 'use', 'var', 'let', 'dim', 'queue', 'dataset', 'part', 'fn' and "
                    "'entry'; "
                    "a constant is bound by 'let', values are computed in a 'fn' or an 'entry'");
    return nullptr;
  default:
    expected("a declaration");
    return nullptr;
  }
}

Stmt *Parser::parseUse() {
  uint32_t begin = token().begin;
  auto *use = make<UseDecl>();
  advance();
  if (at(TokenKind::String)) {
    Expr *path = parseString();
    use->path = dyn_cast<StringExpr>(path);
    if (use->path && !use->path->literal())
      error(path->range, "bad-string", "the path of a used file cannot be interpolated");
  } else {
    use->module = parseName("a module's name or a file's path");
    if (!use->module)
      return nullptr;
  }
  if (accept(TokenKind::As))
    use->alias = parseName();
  if (accept(TokenKind::Colon)) {
    use->names = parseUsedNames();
  }
  return finish(use, begin);
}

ArrayRef<Name> Parser::parseUsedNames() {
  SmallVector<Name> names;
  do {
    if (at(TokenKind::Star)) {
      if (Diagnostic *diagnostic = expected("a name"))
        diagnostic->elseHelp("list the names, as in 'use layers: dense, dropout'");
    } else if (Name name = parseName()) {
      names.push_back(name);
    }
  } while (accept(TokenKind::Comma));
  return copy(ArrayRef(names));
}

Stmt *Parser::parseDim() {
  uint32_t begin = token().begin;
  auto *dim = make<DimDecl>();
  advance();
  dim->facts = parseExprs();
  return finish(dim, begin);
}

Stmt *Parser::parsePart() {
  uint32_t begin = token().begin;
  auto *part = make<PartDecl>();
  advance();
  part->name = parseName("the part's name");
  if (expect(TokenKind::LParen))
    part->params = parseParams(TokenKind::RParen);
  part->where = parseWhere();
  if (!at(TokenKind::LBrace))
    expected("'{' and the part's members");
  resumeAtBrace();
  const Token open = token();
  if (accept(TokenKind::LBrace))
    part->members = parseBody(open, /*ofPart=*/true);
  part->bodyRange = rangeFrom(open.begin);
  return finish(part, begin);
}

Stmt *Parser::parseMember() {
  const Token first = token();
  ArrayRef<Annotation> annotations = parseAnnotations();
  Stmt *member = nullptr;
  switch (recovering ? TokenKind::Invalid : token().kind) {
  case TokenKind::Var:
    member = parseVar();
    break;
  case TokenKind::Let:
    member = parseLet();
    break;
  case TokenKind::Queue:
    member = parseQueue();
    break;
  case TokenKind::Dataset:
    member = parseDataset();
    break;
  case TokenKind::Fn:
    member = parseFn();
    break;
  case TokenKind::Static:
    member = parseStatic();
    break;
  default:
    if (Diagnostic *diagnostic = expected("a member of the part"))
      diagnostic->elseHelp(
          "a part holds 'var', 'let', 'queue', 'dataset', 'fn' and 'static'; its computations go "
          "into functions");
    return nullptr;
  }
  if (!member)
    return nullptr;
  member->annotations = annotations;
  member->doc = docBefore(first);
  return member;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Stmt *Parser::parseFn() {
  uint32_t begin = token().begin;
  auto *fn = make<FnDecl>();
  fn->isEntry = at(TokenKind::Entry);
  advance();
  fn->name = parseName(fn->isEntry ? "the entry's name" : "the function's name");
  if (expect(TokenKind::LParen))
    fn->params = parseParams(TokenKind::RParen);
  if (accept(TokenKind::Arrow) || acceptFatArrow())
    parseResults(fn);
  fn->where = parseWhere();
  fn->isBroken = recovering || (!at(TokenKind::LBrace) && !isAfterLineBreak());
  if (!at(TokenKind::LBrace)) {
    Diagnostic *diagnostic = expected("'{' and the function's body");
    if (diagnostic && at(TokenKind::Colon))
      diagnostic->elseHelp("write results as '-> type' or '-> (name: type, ...)'");
  }
  fn->body = parseBlock();
  return finish(fn, begin);
}

/// Reports `=>` where `->` is meant, and goes on.
bool Parser::acceptFatArrow() {
  const Token first = token();
  if (recovering || !at(TokenKind::Assign) || tokens[position + 1].kind != TokenKind::Greater ||
      tokens[position + 1].begin != first.end)
    return false;
  advance();
  advance();
  diagnostics.error(rangeFrom(first.begin), "unexpected-token", "expected '->', but got '=>'");
  return true;
}

/// Reports results with names that lack their parentheses, and goes on.
bool Parser::parseBareResults(FnDecl *fn) {
  if (!at(TokenKind::Name) || tokens[position + 1].kind != TokenKind::Colon)
    return false;
  diagnostics.error(range(), "unexpected-token", "expected '(' before the results")
      .help("write results as '-> type' or '-> (name: type, ...)'");
  SmallVector<Param> results;
  do
    results.push_back(parseParam());
  while (accept(TokenKind::Comma));
  fn->results = copy(ArrayRef(results));
  return true;
}

void Parser::parseResults(FnDecl *fn) {
  if (parseBareResults(fn))
    return;
  if (!at(TokenKind::LParen)) {
    fn->resultType = parseType();
    return;
  }
  advance();
  if (at(TokenKind::RParen) || at(TokenKind::DType)) {
    if (Diagnostic *diagnostic = expected("a result 'name: type'"))
      diagnostic->elseHelp("without a name it is '-> f32[n]', without results there is no '->'");
    return;
  }
  fn->results = parseParams(TokenKind::RParen);
  for (const Param &result : fn->results)
    if ((result.isStatic || result.isVar || result.defaultValue) && !recovering)
      diagnostics.error(result.range, "misplaced",
                        "a result is 'name: type', without 'static', 'var' or a default");
}

/// Parses the parameters after an opening bracket, and the closing bracket.
ArrayRef<Param> Parser::parseParams(TokenKind closing) {
  const Token open = previous();
  ++brackets;
  SmallVector<Param> params;
  while (!recovering && token().kind != closing) {
    params.push_back(parseParam());
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClosing(closing, open, "',' or ");
  if (brackets)
    --brackets;
  return copy(ArrayRef(params));
}

Param Parser::parseParam() {
  uint32_t begin = token().begin;
  Param param;
  param.isStatic = accept(TokenKind::Static);
  param.name = parseName("a parameter's name");
  if (!accept(TokenKind::Colon)) {
    if (Diagnostic *diagnostic = expected("':' and the parameter's type"))
      diagnostic->elseHelp(param.name.text == "self"
                               ? "the functions of a part see its variables without 'self'"
                               : "as in 'x: f32[n, 4]'");
    param.type = make<Type>();
    param.type->range = endOfPrevious();
    param.type->isMissing = true;
    return param;
  }
  param.isVar = accept(TokenKind::Var);
  param.type = parseType();
  if (accept(TokenKind::Assign))
    param.defaultValue = parseExpr();
  param.range = rangeFrom(begin);
  return param;
}

ArrayRef<Expr *> Parser::parseWhere() {
  return accept(TokenKind::Where) ? parseExprs() : ArrayRef<Expr *>();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

} // namespace tfc::text
