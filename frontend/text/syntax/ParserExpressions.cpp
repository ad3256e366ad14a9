// Holds the part of the parser that reads expressions by precedence climbing, including run-time
// blocks, which are expressions.
#include "frontend/text/syntax/ParserImpl.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace tfc::text {

using namespace ast;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {

/// Precedence, from lowest to highest.
enum Level : unsigned { kOr = 1, kAnd, kNot, kComparison, kSum, kTerm, kFactor };

struct Operator {
  BinaryOp op;
  unsigned level;
};

} // namespace

static std::optional<Operator> binaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Or:
    return Operator{BinaryOp::Or, kOr};
  case TokenKind::And:
    return Operator{BinaryOp::And, kAnd};
  case TokenKind::EqEq:
    return Operator{BinaryOp::Eq, kComparison};
  case TokenKind::NotEq:
    return Operator{BinaryOp::Ne, kComparison};
  case TokenKind::Less:
    return Operator{BinaryOp::Lt, kComparison};
  case TokenKind::LessEq:
    return Operator{BinaryOp::Le, kComparison};
  case TokenKind::Greater:
    return Operator{BinaryOp::Gt, kComparison};
  case TokenKind::GreaterEq:
    return Operator{BinaryOp::Ge, kComparison};
  case TokenKind::Plus:
    return Operator{BinaryOp::Add, kSum};
  case TokenKind::Minus:
    return Operator{BinaryOp::Sub, kSum};
  case TokenKind::Star:
    return Operator{BinaryOp::Mul, kTerm};
  case TokenKind::Slash:
    return Operator{BinaryOp::Div, kTerm};
  case TokenKind::SlashSlash:
    return Operator{BinaryOp::FloorDiv, kTerm};
  case TokenKind::Percent:
    return Operator{BinaryOp::Mod, kTerm};
  default:
    return std::nullopt;
  }
}

ArrayRef<Expr *> ExpressionParser::parseExprs() {
  SmallVector<Expr *> exprs;
  do
    exprs.push_back(parseExpr());
  while (accept(TokenKind::Comma));
  return copy(ArrayRef(exprs));
}

/// Operators of at least `minLevel`, by precedence climbing.
Expr *ExpressionParser::parseBinary(unsigned minLevel) {
  uint32_t begin = token().begin;
  Expr *lhs = parseUnary(minLevel);
  bool compared = false;
  while (!recovering) {
    std::optional<Operator> found = binaryOperator(kind());
    if (!found || found->level < minLevel)
      return lhs;
    if (found->level == kComparison && compared) {
      if (Diagnostic *diagnostic = error(range(), "unexpected-token", "comparisons do not chain"))
        diagnostic->elseHelp("write 'a < b and b < c'");
      return lhs;
    }
    compared |= found->level == kComparison;
    auto *binary = make<BinaryExpr>();
    binary->op = found->op;
    binary->opRange = range();
    advance();
    binary->lhs = lhs;
    binary->rhs = parseBinary(found->level + 1);
    lhs = finish(binary, begin, {binary->lhs, binary->rhs});
  }
  return lhs;
}

/// `not x` if `not` is allowed here, `-x`, or `x ** y`.
Expr *ExpressionParser::parseUnary(unsigned minLevel) {
  Nesting nesting(*this);
  if (recovering || nesting.tooDeep())
    return errorExpr();
  uint32_t begin = token().begin;
  bool isNot = at(TokenKind::Not) && minLevel <= kNot;
  if (isNot || at(TokenKind::Minus)) {
    auto *unary = make<UnaryExpr>();
    unary->op = isNot ? UnaryOp::Not : UnaryOp::Neg;
    unary->opRange = range();
    advance();
    unary->operand = isNot ? parseBinary(kNot) : parseUnary(kFactor);
    return finish(unary, begin, {unary->operand});
  }
  Expr *base = parsePostfix();
  if (recovering || !at(TokenKind::StarStar))
    return base;
  auto *power = make<BinaryExpr>();
  power->op = BinaryOp::Pow;
  power->opRange = range();
  advance();
  power->lhs = base;
  power->rhs = parseUnary(kFactor);
  return finish(power, begin, {power->lhs, power->rhs});
}

//===----------------------------------------------------------------------===//
// Calls, subscripts, members
//===----------------------------------------------------------------------===//

Expr *ExpressionParser::parsePostfix() { return parseSuffixes(parsePrimary()); }

Expr *ExpressionParser::parseSuffixes(Expr *base) {
  uint32_t begin = base->range.begin;
  while (!recovering) {
    if (at(TokenKind::LParen)) {
      base = parseCall(base);
    } else if (at(TokenKind::LBracket)) {
      const Token open = token();
      advance();
      auto *index = make<IndexExpr>();
      index->base = base;
      SmallVector<Expr *> children = {base};
      index->items = parseIndices(open, children);
      base = finish(index, begin, children);
    } else if (accept(TokenKind::Dot)) {
      auto *member = make<MemberExpr>();
      member->base = base;
      member->member = parseName("a name after '.'");
      base = member->member ? finish(member, begin, {base}) : errorExpr();
    } else {
      return base;
    }
  }
  return base;
}

Expr *ExpressionParser::parseCall(Expr *callee) {
  const Token open = token();
  advance();
  auto *call = make<CallExpr>();
  call->callee = callee;
  call->args = parseArgs(open);
  SmallVector<Expr *> children = {callee};
  for (const Arg &arg : call->args)
    children.push_back(arg.value);
  return finish(call, callee->range.begin, children);
}

/// Reports `axis = 1` instead of `axis: 1`.
void ExpressionParser::parseAssignedArg(Arg &arg, const Token &open) {
  if (Diagnostic *diagnostic = expected("',' or ')'"))
    diagnostic->also(range(open))
        .elseHelp("arguments are named by ':', as in f(axis: 1); '==' compares");
  // The name before the '=' is not a value.
  arg.value = make<ErrorExpr>();
}

ArrayRef<Arg> ExpressionParser::parseArgs(const Token &open) {
  ++brackets;
  SmallVector<Arg> args;
  while (!recovering && token().kind != TokenKind::RParen) {
    uint32_t begin = token().begin;
    Arg arg;
    arg.value = parseExpr();
    if (accept(TokenKind::Colon)) {
      auto *label = dyn_cast<NameExpr>(arg.value);
      if (!label || label->parenthesized)
        error(arg.value->range, "unexpected-token",
              "expected a parameter's name before ':', but got an expression");
      else
        arg.label = {label->name, label->range};
      arg.value = parseExpr();
    } else if (at(TokenKind::Assign) && !recovering) {
      parseAssignedArg(arg, open);
    }
    arg.range = rangeFrom(begin);
    args.push_back(arg);
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClosing(TokenKind::RParen, open, "',' or ");
  if (brackets)
    --brackets;
  return copy(ArrayRef(args));
}

ArrayRef<IndexItem> ExpressionParser::parseIndices(const Token &open,
                                                   SmallVectorImpl<Expr *> &children) {
  ++brackets;
  SmallVector<IndexItem> items;
  while (!recovering && token().kind != TokenKind::RBracket) {
    items.push_back(parseIndex(children));
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClosing(TokenKind::RBracket, open, "',' or ");
  if (brackets)
    --brackets;
  return copy(ArrayRef(items));
}

IndexItem ExpressionParser::parseIndex(SmallVectorImpl<Expr *> &children) {
  uint32_t begin = token().begin;
  IndexItem item;
  auto endsPart = [&] {
    return at(TokenKind::Colon) || at(TokenKind::Comma) || at(TokenKind::RBracket);
  };
  if (accept(TokenKind::DotDot)) {
    item.kind = IndexItemKind::Rest;
    item.value = endsPart() ? nullptr : parsePostfix();
  } else {
    if (!at(TokenKind::Colon))
      item.value = parseExpr();
    if (accept(TokenKind::Colon)) {
      item.kind = IndexItemKind::Slice;
      item.stop = endsPart() ? nullptr : parseExpr();
      if (accept(TokenKind::Colon))
        item.step = endsPart() ? nullptr : parseExpr();
    }
  }
  item.range = rangeFrom(begin);
  for (Expr *part : {item.value, item.stop, item.step})
    if (part)
      children.push_back(part);
  return item;
}

//===----------------------------------------------------------------------===//
// Primary expressions
//===----------------------------------------------------------------------===//

/// The meaning in other libraries of a word that is a keyword here.
static StringRef otherwiseMeant(TokenKind keyword) {
  if (keyword == TokenKind::Where)
    return "; select(condition, x, y) chooses element by element";
  return keyword == TokenKind::Dim ? "; operations name an axis by 'axis'" : "";
}

Expr *ExpressionParser::parsePrimary() {
  uint32_t begin = token().begin;
  TokenKind next = recovering || atNewBinding() ? TokenKind::Invalid : kind();
  switch (next != TokenKind::Invalid && atMisusedWord() ? TokenKind::Name : next) {
  case TokenKind::Name: {
    Name name = takeName();
    auto *expr = makeExpr<NameExpr>(begin);
    expr->name = name.text;
    return expr;
  }
  case TokenKind::DType: {
    DType dtype = *parseDType(spelled(token()));
    advance();
    auto *expr = makeExpr<DTypeExpr>(begin);
    expr->dtype = dtype;
    return expr;
  }
  case TokenKind::List:
    advance();
    return makeExpr<ListTypeExpr>(begin);
  case TokenKind::True:
  case TokenKind::False: {
    bool value = at(TokenKind::True);
    advance();
    auto *expr = makeExpr<BoolExpr>(begin);
    expr->value = value;
    return expr;
  }
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Inf:
  case TokenKind::Nan:
    return parseNumber();
  case TokenKind::String:
    return parseString();
  case TokenKind::LParen:
    return parseParenthesized();
  case TokenKind::LBracket:
    return parseListOrComprehension();
  case TokenKind::If:
  case TokenKind::While:
  case TokenKind::For:
  case TokenKind::Scan:
  case TokenKind::Dataflow:
    return parseRegion();
  default:
    break;
  }
  Diagnostic *diagnostic = expected("an expression");
  next = token().kind;
  if (diagnostic && next == TokenKind::Dot)
    diagnostic->elseHelp("a number starts with a digit: 0.5");
  else if (diagnostic && next == TokenKind::Plus)
    diagnostic->elseHelp("a number has no '+' before it");
  else if (diagnostic && next == TokenKind::Not)
    diagnostic->elseHelp("put the negated condition in parentheses: (not x)");
  else if (diagnostic && isKeyword(next) && !isAfterLineBreak())
    diagnostic->elseHelp("if '{}' is the name of a value, write it in backquotes: `{}`{}",
                         spelled(token()), spelled(token()), otherwiseMeant(next));
  return errorExpr();
}

Expr *ExpressionParser::parseNumber() {
  const Token number = token();
  std::string digits = spelled(number).str();
  erase(digits, '_');
  advance();
  if (number.kind != TokenKind::Int) {
    auto *expr = makeExpr<FloatExpr>(number.begin);
    if (number.kind == TokenKind::Inf)
      expr->value = std::numeric_limits<double>::infinity();
    else if (number.kind == TokenKind::Nan)
      expr->value = std::numeric_limits<double>::quiet_NaN();
    else if (!StringRef(digits).getAsDouble(expr->value) && std::isinf(expr->value))
      diagnostics.error(range(number), "bad-number", "this number is too large for f64");
    return expr;
  }
  auto *expr = makeExpr<IntExpr>(number.begin);
  bool isHex = StringRef(digits).starts_with_insensitive("0x");
  StringRef value = StringRef(digits).drop_front(isHex ? 2 : 0);
  bool wellFormed =
      !value.empty() && all_of(value, [&](char c) { return isHex ? isHexDigit(c) : isDigit(c); });
  // Malformed digits have been reported.
  if (wellFormed &&
      (value.getAsInteger(isHex ? 16 : 10, expr->value) || expr->value > uint64_t(1) << 63)) {
    diagnostics.error(range(number), "bad-number", "this number is too large for i64")
        .help("with a decimal point it is a float");
    expr->value = 0;
  }
  return expr;
}

Expr *ExpressionParser::parseParenthesized() {
  const Token open = token();
  advance();
  ++brackets;
  Expr *inner = parseExpr();
  bool isTuple = at(TokenKind::Comma);
  unsigned before = diagnostics.errorCount();
  expectClosing(TokenKind::RParen, open);
  if (isTuple && diagnostics.errorCount() != before)
    diagnostics.last().help("parentheses hold one expression; several values are a list, [a, b]");
  if (brackets)
    --brackets;
  inner->parenthesized = true;
  inner->range = rangeFrom(open.begin);
  return inner;
}

Expr *ExpressionParser::parseListOrComprehension() {
  const Token open = token();
  advance();
  ++brackets;
  Expr *result = nullptr;
  SmallVector<Expr *> elements;
  auto *list = make<ListExpr>();
  while (!recovering && token().kind != TokenKind::RBracket) {
    elements.push_back(parseExpr());
    if (elements.size() == 1 && accept(TokenKind::For)) {
      auto *comprehension = make<ComprehensionExpr>();
      comprehension->element = elements.front();
      comprehension->each = parseEach();
      elements.append({comprehension->each->sequence, comprehension->each->last});
      result = comprehension;
      break;
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expectClosing(TokenKind::RBracket, open, result ? "" : "',' or ");
  if (brackets)
    --brackets;
  list->elements = copy(ArrayRef(elements));
  return finish(result ? result : list, open.begin, elements);
}

//===----------------------------------------------------------------------===//
// Run-time regions
//===----------------------------------------------------------------------===//

Expr *ExpressionParser::parseRegion() {
  Nesting nesting(*this);
  if (nesting.tooDeep())
    return errorExpr();
  uint32_t begin = token().begin;
  unsigned outer = std::exchange(deepest, 0);
  unsigned outerBrackets = brackets;
  Expr *region = nullptr;
  switch (token().kind) {
  case TokenKind::If:
    region = parseIf();
    break;
  case TokenKind::While:
    region = parseWhile();
    break;
  case TokenKind::Dataflow: {
    auto *dataflow = make<DataflowExpr>();
    advance();
    dataflow->body = parseBlock();
    region = dataflow;
    break;
  }
  default:
    region = parseForOrScan();
    break;
  }
  brackets = outerBrackets;
  // The contents of the blocks count as levels below the region.
  ErrorExpr content;
  content.height = deepest;
  deepest = outer;
  return finish(region, begin, {&content});
}

/// Reports `elif`, and makes it the `if` of an `else if`.
bool ExpressionParser::acceptForeignElse() {
  StringRef word = spelled(token());
  bool isElse =
      token().kind == TokenKind::Name && (word == "elif" || word == "elseif" || word == "elsif");
  if (recovering || !isElse || !startsBlock())
    return false;
  diagnostics.error(range(), "unexpected-token", "expected 'else if', but got '{}'", word);
  tokens[position].kind = TokenKind::If;
  return true;
}

/// An expression before a block; an error if more than that is there, so that no other follows.
Expr *ExpressionParser::parseCondition() {
  Expr *condition = parseExpr();
  bool isWhole = !recovering && (at(TokenKind::LBrace) || at(TokenKind::With));
  return isWhole ? condition : errorExpr();
}

Expr *ExpressionParser::parseIf() {
  auto *result = make<IfExpr>();
  advance();
  result->condition = parseCondition();
  result->thenBlock = parseBlock();
  bool isForeign = acceptForeignElse();
  if (!isForeign && !accept(TokenKind::Else))
    return result;
  if (!isForeign && !at(TokenKind::If)) {
    if (at(TokenKind::LBrace))
      result->elseBlock = parseBlock();
    else
      expected("'{' or 'if' after 'else'");
    return result;
  }
  uint32_t begin = token().begin;
  auto *statement = make<ExprStmt>();
  statement->expr = parseRegion();
  finish(statement, begin);
  result->elseIf = true;
  result->elseBlock = make<Block>();
  result->elseBlock->statements = copy(ArrayRef<Stmt *>({statement}));
  result->elseBlock->range = statement->range;
  return result;
}

Expr *ExpressionParser::parseWhile() {
  auto *loop = make<WhileExpr>();
  advance();
  loop->condition = parseCondition();
  if (accept(TokenKind::With))
    loop->carried = parseBindings();
  loop->body = parseBlock();
  return loop;
}

Expr *ExpressionParser::parseForOrScan() {
  auto parseParts = [&](auto *loop) -> Expr * {
    advance();
    loop->each = parseEach();
    if (accept(TokenKind::With))
      loop->carried = parseBindings();
    loop->body = parseBlock();
    return loop;
  };
  if (at(TokenKind::Scan))
    return parseParts(make<ScanExpr>());
  return parseParts(make<ForExpr>());
}

/// `a, b in sequence` or `i in first..last`
Each *ExpressionParser::parseEach() {
  auto *each = make<Each>();
  uint32_t begin = token().begin;
  SmallVector<Name> names;
  do
    names.push_back(parseName());
  while (accept(TokenKind::Comma));
  each->names = copy(ArrayRef(names));
  each->sequence = expect(TokenKind::In) ? parseExpr() : errorExpr();
  if (accept(TokenKind::DotDot))
    each->last = parseExpr();
  each->range = rangeFrom(begin);
  return each;
}

} // namespace tfc::text
