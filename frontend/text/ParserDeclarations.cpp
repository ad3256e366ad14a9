#include "frontend/text/ParserImpl.h"

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
  noteFirstItem(); // of a file without any
  file.items = copy(ArrayRef(items));
  file.comments = copy(ArrayRef(comments));
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
  case TokenKind::Part:
    return parsePart();
  case TokenKind::Fn:
  case TokenKind::Entry:
    return parseFn();
  case TokenKind::Graph:
    error(range(), "misplaced", "the header 'graph' stands once, at the top of the file");
    return nullptr;
  case TokenKind::RBrace:
    error(range(), "unexpected-token", "this '}' closes nothing");
    return nullptr;
  case TokenKind::Name:
    if (Diagnostic *diagnostic = expected("a declaration"))
      diagnostic->help(
          "a file holds 'use', 'var', 'let', 'dim', 'queue', 'part', 'fn' and 'entry'; "
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
  }
  if (accept(TokenKind::As))
    use->alias = parseName();
  if (accept(TokenKind::Colon)) {
    SmallVector<Name> names;
    do
      names.push_back(parseName());
    while (accept(TokenKind::Comma));
    use->names = copy(ArrayRef(names));
  }
  return finish(use, begin);
}

Stmt *Parser::parseVar() {
  uint32_t begin = token().begin;
  auto *var = make<VarDecl>();
  advance();
  var->name = parseName();
  if (accept(TokenKind::Colon))
    var->type = parseType();
  if (expect(TokenKind::Assign, "'=' and the variable's initial value"))
    var->init = parseExpr();
  else
    var->init = errorExpr();
  return finish(var, begin);
}

Binding Parser::parseBinding() {
  uint32_t begin = token().begin;
  Binding binding;
  binding.name = parseName();
  if (accept(TokenKind::Colon))
    binding.type = parseType();
  binding.value = expect(TokenKind::Assign) ? parseExpr() : errorExpr();
  binding.range = rangeFrom(begin);
  return binding;
}

ArrayRef<Binding> Parser::parseBindings() {
  SmallVector<Binding> bindings;
  do
    bindings.push_back(parseBinding());
  while (accept(TokenKind::Comma));
  return copy(ArrayRef(bindings));
}

Stmt *Parser::parseLet() {
  uint32_t begin = token().begin;
  auto *let = make<LetDecl>();
  advance();
  let->bindings = parseBindings();
  return finish(let, begin);
}

Stmt *Parser::parseDim() {
  uint32_t begin = token().begin;
  auto *dim = make<DimDecl>();
  advance();
  dim->facts = parseExprs();
  return finish(dim, begin);
}

Stmt *Parser::parseQueue() {
  uint32_t begin = token().begin;
  auto *queue = make<QueueDecl>();
  advance();
  queue->name = parseName();
  expect(TokenKind::Colon, "':' and the queue's fields in parentheses");
  if (expect(TokenKind::LParen))
    queue->fields = parseParams(TokenKind::RParen);
  queue->init = expect(TokenKind::Assign) ? parseExpr() : errorExpr();
  return finish(queue, begin);
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
  case TokenKind::Fn:
    member = parseFn();
    break;
  case TokenKind::Static:
    member = parseStatic();
    break;
  default:
    if (Diagnostic *diagnostic = expected("a member of the part"))
      diagnostic->help("a part holds 'var', 'let', 'queue', 'fn' and 'static'; what it computes "
                       "stands in its functions");
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
  if (accept(TokenKind::Arrow))
    parseResults(fn);
  fn->where = parseWhere();
  if (!at(TokenKind::LBrace)) {
    Diagnostic *diagnostic = expected("'{' and the function's body");
    if (diagnostic && at(TokenKind::Colon))
      diagnostic->help("results are written '-> type' or '-> (name: type, ...)'");
  }
  fn->body = parseBlock();
  return finish(fn, begin);
}

void Parser::parseResults(FnDecl *fn) {
  if (!at(TokenKind::LParen)) {
    fn->resultType = parseType();
    return;
  }
  advance();
  if (at(TokenKind::RParen)) {
    expected("a result 'name: type'");
    return;
  }
  fn->results = parseParams(TokenKind::RParen);
  for (const Param &result : fn->results)
    if ((result.isStatic || result.isVar || result.defaultValue) && !recovering)
      diagnostics.error(result.range, "misplaced",
                        "a result is 'name: type', without 'static', 'var' or a default");
}

/// The parameters behind an opening bracket, and its end.
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
  if (!expect(TokenKind::Colon, "':' and the parameter's type")) {
    param.type = make<Type>();
    param.type->range = endOfPrevious();
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

ArrayRef<Annotation> Parser::parseAnnotations() {
  SmallVector<Annotation> annotations;
  while (at(TokenKind::At) && !recovering) {
    Annotation annotation;
    uint32_t begin = token().begin;
    advance();
    annotation.name = parseName("the annotation's name");
    if (at(TokenKind::LParen) && !recovering) {
      const Token open = token();
      advance();
      annotation.hasParens = true;
      annotation.args = parseArgs(open);
    }
    annotation.range = rangeFrom(begin);
    annotations.push_back(annotation);
    if (token().kind == TokenKind::End || token().kind == TokenKind::RBrace)
      expected("what the annotation belongs to");
    skipNewline();
  }
  return copy(ArrayRef(annotations));
}

Name Parser::parseName(StringRef what) {
  if (recovering || !at(TokenKind::Name)) {
    Diagnostic *diagnostic = expected(what.empty() ? "a name" : what);
    TokenKind next = token().kind;
    if (diagnostic && (isKeyword(next) || next == TokenKind::DType) && !behindLineBreak())
      diagnostic->help("'" + spelled(token()) + "' has a meaning of its own; in backquotes, `" +
                       spelled(token()) + "`, it is a name like any other");
    return Name();
  }
  Name name;
  name.text = spelled(token());
  name.range = range();
  name.text.consume_front("`");
  name.text.consume_back("`");
  advance();
  return name;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type *Parser::parseType() {
  Nesting nesting(*this);
  auto *type = make<Type>();
  type->range = type->baseRange = range();
  if (recovering || nesting.tooDeep())
    return type;
  switch (kind()) {
  case TokenKind::DType:
    type->kind = TypeKind::DType;
    type->dtype = *parseDType(spelled(token()));
    break;
  case TokenKind::Name:
    type->kind = TypeKind::Named;
    break;
  case TokenKind::List:
    type->kind = TypeKind::List;
    break;
  case TokenKind::Dim:
    type->kind = TypeKind::Dim;
    break;
  default:
    expected("a type");
    return type;
  }
  uint32_t begin = token().begin;
  if (type->kind == TypeKind::Named)
    type->name = parseName().text;
  else
    advance();
  if (at(TokenKind::LBracket)) {
    const Token open = token();
    advance();
    type->hasBrackets = true;
    SmallVector<Expr *> dimensions;
    type->items = parseIndices(open, dimensions);
    for (const IndexItem &item : type->items)
      if (item.kind == IndexItemKind::Slice && !recovering)
        diagnostics.error(item.range, "misplaced",
                          "a type lists its dimensions; ':' selects from a value");
  }
  type->range = rangeFrom(begin);
  if (type->kind == TypeKind::List && type->items.size() != 1 && !recovering)
    diagnostics.error(type->range, "bad-type",
                      "expected the type of the elements, as in list[f32[n]]");
  return type;
}

} // namespace tfc::text
