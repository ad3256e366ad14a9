// Holds the part of the parser that reads types, names and bindings, which occur in declarations,
// statements and expressions.
#include "frontend/text/syntax/ParserImpl.h"

using namespace llvm;

namespace tfc::text {

using namespace ast;

Binding ExpressionParser::parseBinding() {
  uint32_t begin = token().begin;
  Binding binding;
  binding.name = parseName();
  if (accept(TokenKind::Colon))
    binding.type = parseType();
  binding.value = expect(TokenKind::Assign) ? parseExpr() : errorExpr();
  binding.range = rangeFrom(begin);
  return binding;
}

ArrayRef<Binding> ExpressionParser::parseBindings() {
  SmallVector<Binding> bindings;
  do
    bindings.push_back(parseBinding());
  while (accept(TokenKind::Comma));
  return copy(ArrayRef(bindings));
}

ArrayRef<Annotation> ExpressionParser::parseAnnotations() {
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
      expected("a declaration or a loop after the annotation");
    skipNewline();
  }
  return copy(ArrayRef(annotations));
}

/// Returns true if what follows the reserved word shows that a name is meant.
bool ExpressionParser::isNameByContext() const {
  if (recovering || isAfterLineBreak() || !atReservedWord())
    return false;
  switch (tokens[position + 1].kind) {
  case TokenKind::Assign:
  case TokenKind::Colon:
  case TokenKind::Comma:
  case TokenKind::LParen:
  case TokenKind::RParen:
  case TokenKind::In:
    return true;
  default:
    return tokens[position + 1].startsLine;
  }
}

Name ExpressionParser::parseName(StringRef what) {
  if (at(TokenKind::Name) && !recovering)
    return takeName();
  bool isName = isNameByContext();
  if (isName && atMisusedWord())
    return takeName();
  Diagnostic *diagnostic = expected(what.empty() ? "a name" : what);
  if (diagnostic && atReservedWord() && !isAfterLineBreak())
    diagnostic->elseHelp(
        "'{}' has a meaning of its own; in backquotes, `{}`, it is a name like any other",
        spelled(token()), spelled(token()));
  if (!isName)
    return Name();
  recovering = false;
  misused.insert(spelled(token()));
  return takeName();
}

Name ExpressionParser::takeName() {
  Name name;
  name.text = spelled(token());
  name.range = range();
  name.text.consume_front("`");
  name.text.consume_back("`");
  advance();
  return name;
}

Type *ExpressionParser::parseType() {
  Nesting nesting(*this);
  auto *type = make<Type>();
  file.types.push_back(type);
  type->range = type->baseRange = range();
  if (recovering || nesting.tooDeep())
    return type;
  switch (kind()) {
  case TokenKind::DType:
    type->kind = TypeKind::DType;
    type->dtype = *parseDType(spelled(token()));
    break;
  case TokenKind::Name:
  case TokenKind::Dataset:
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
  if (at(TokenKind::Dataset))
    type->name = spelled(token());
  if (at(TokenKind::Name))
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
        diagnostics
            .error(item.range, "misplaced", "a type lists its dimensions; ':' selects from a value")
            .help(kSizeNameHelp);
  }
  type->range = rangeFrom(begin);
  if (type->kind == TypeKind::List && type->items.size() != 1 && !recovering)
    diagnostics.error(type->range, "bad-type",
                      "expected the type of the elements, as in list[f32[n]]");
  return type;
}

} // namespace tfc::text
