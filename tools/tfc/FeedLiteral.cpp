// Reads the values of feeds in the notation of graph text: with its parser, and its conversion of
// numbers to element types.
#include "tools/tfc/FeedLiteral.h"
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/Numbers.h"
#include "frontend/text/syntax/Lexer.h"
#include "frontend/text/syntax/Parser.h"
#include "frontend/text/syntax/Suggest.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/tfc/Message.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tfc;

bool tfc::isLiteral(StringRef text) {
  if (text.ltrim().starts_with("["))
    return true;
  text::SourceManager sources;
  text::DiagnosticEngine diagnostics(sources);
  text::FileId file = sources.add("", text);
  auto tokens = text::lex(sources, {file, 0, uint32_t(text.size())}, diagnostics).tokens;
  ArrayRef<text::Token> rest = tokens;
  rest.consume_front();
  if (tokens.front().kind != text::TokenKind::Minus)
    rest = tokens;
  using enum text::TokenKind;
  return !diagnostics.hasErrors() && rest.size() == 2 &&
         is_contained({Int, Float, Inf, Nan, True, False}, rest.front().kind);
}

namespace {

/// Appends the elements of a literal to an array.
class LiteralReader {
public:
  LiteralReader(const Port &feed, ArrayRef<int64_t> sizes)
      : feed(feed), sizes(sizes), diagnostics(sources) {}

  Expected<Array> read(StringRef text);

private:
  bool readList(const text::ast::ListExpr &list, size_t depth);
  bool readElement(const text::ast::Expr &expr, size_t depth);
  bool readValue(const text::ast::Expr &expr, size_t depth);
  std::optional<dfg::Number> numberOf(const text::ast::Expr &expr);
  bool fail(const text::ast::Expr &expr, const Twine &problem) {
    diagnostics.error(expr.range, "", problem);
    return false;
  }
  void explainRanges();
  Error takeErrors();

  const Port &feed;
  ArrayRef<int64_t> sizes;
  text::SourceManager sources;
  text::DiagnosticEngine diagnostics;
  mlir::MLIRContext context;
  Array array;
  bool isRankKnown = false; // the shape has all axes
};

} // namespace

/// The integers that a type holds, in words; empty for other types.
static std::string rangeOf(const dfg::Dtype &dtype) {
  mlir::MLIRContext context;
  auto type = dyn_cast<mlir::IntegerType>(dtype.elementType(&context));
  if (!type || type.getWidth() == 1)
    return "";
  unsigned width = type.getWidth();
  bool isUnsigned = type.isUnsigned();
  APInt low = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt high = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return fmt::format("the feed holds integers from {} to {}", toString(low, 10, !isUnsigned),
                     toString(high, 10, !isUnsigned));
}

/// The number of a literal, with its sign; std::nullopt after an error.
std::optional<dfg::Number> LiteralReader::numberOf(const text::ast::Expr &expr) {
  using namespace text::ast;
  if (auto *flag = dyn_cast<BoolExpr>(&expr))
    return dfg::Number(flag->value);
  const auto *unary = dyn_cast<UnaryExpr>(&expr);
  bool isNegative = unary && unary->op == UnaryOp::Neg;
  const Expr *magnitude = isNegative ? unary->operand : &expr;
  if (auto *real = dyn_cast<FloatExpr>(magnitude))
    return dfg::Number(isNegative ? -real->value : real->value);
  if (auto *integer = dyn_cast<IntExpr>(magnitude)) {
    if (isNegative || integer->value <= uint64_t(INT64_MAX))
      return dfg::Number(int64_t(isNegative ? 0 - integer->value : integer->value));
    diagnostics.error(expr.range, "bad-number", "this number is too large for i64")
        .help("with a decimal point it is a float");
    return std::nullopt;
  }
  fail(expr, fmt::format("expected a number, but got {}", sources.oneLine(expr.range)));
  std::string said = sources.oneLine(expr.range);
  if (StringRef similar = text::findSimilar(said, {"true", "false", "inf", "nan"});
      isa<NameExpr>(expr) && !similar.empty())
    diagnostics.last().help(fmt::format("did you mean '{}'?", similar));
  else
    diagnostics.last().help("elements are written like 2, -1.5e3, inf, nan or true");
  return std::nullopt;
}

bool LiteralReader::readElement(const text::ast::Expr &expr, size_t depth) {
  if (depth < array.shape.size())
    return fail(expr, "expected a list, as in the rows before, but got a number");
  isRankKnown = true;
  std::optional<dfg::Number> number = numberOf(expr);
  if (!number)
    return false;
  dfg::NumberError reason;
  const dfg::Dtype &dtype = dfg::dtypeOf(feed.dtype);
  mlir::TypedAttr element =
      dfg::elementFrom(*number, dtype.elementType(&context), dfg::Conversion::Implicit, reason);
  if (!element) {
    text::Diagnostic &diagnostic = diagnostics.error(expr.range, reason.slug, reason.text);
    if (!reason.help.empty())
      diagnostic.help(reason.help);
    return false;
  }
  auto real = dyn_cast<mlir::FloatAttr>(element);
  APInt bits =
      real ? real.getValue().bitcastToAPInt() : cast<mlir::IntegerAttr>(element).getValue();
  uint64_t value = bits.getZExtValue(); // little-endian
  const char *bytes = reinterpret_cast<const char *>(&value);
  array.data.insert(array.data.end(), bytes, bytes + dtype.bytes);
  return true;
}

bool LiteralReader::readList(const text::ast::ListExpr &list, size_t depth) {
  int64_t size = list.elements.size();
  if (depth == size_t(feed.rank))
    return fail(
        list, fmt::format("expected a number, because the feed is {}, but got a list", feed.type));
  if (depth == array.shape.size()) {
    if (isRankKnown)
      return fail(list, "expected a number, as before, but got a list");
    array.shape.push_back(size);
  } else if (array.shape[depth] != size) {
    return fail(list, fmt::format("expected a list of {}, as the lists before, but got one of {}",
                                  array.shape[depth], size));
  }
  isRankKnown |= size == 0;
  bool areGood = true;
  for (const text::ast::Expr *element : list.elements)
    areGood &= readValue(*element, depth + 1);
  return areGood;
}

bool LiteralReader::readValue(const text::ast::Expr &expr, size_t depth) {
  auto *list = dyn_cast<text::ast::ListExpr>(&expr);
  return list ? readList(*list, depth) : readElement(expr, depth);
}

/// Names the range of an integer type where a number exceeds it.
void LiteralReader::explainRanges() {
  std::vector<text::Diagnostic> errors = diagnostics.takeBack(0);
  for (text::Diagnostic &error : errors) {
    if (std::string range = rangeOf(dfg::dtypeOf(feed.dtype));
        !range.empty() && (error.slug == "bad-number" || error.slug == "number-range"))
      error.help(range);
    diagnostics.add(std::move(error));
  }
}

Error LiteralReader::takeErrors() {
  explainRanges();
  std::string text;
  raw_string_ostream os(text);
  diagnostics.flush(os);
  return make_error<LocatedError>(text);
}

Expected<Array> LiteralReader::read(StringRef text) {
  text::ast::File file;
  file.id = sources.add("feed '" + feed.name + "'", text);
  const text::ast::Expr *expr = text::parseExpression(sources, file, diagnostics);
  array.dtype = feed.dtype;
  if (!expr || !readValue(*expr, 0))
    return takeErrors();
  if (array.data.empty())
    for (size_t axis = array.shape.size(); axis < sizes.size(); ++axis)
      array.shape.push_back(sizes[axis]);
  return std::move(array);
}

Expected<Array> tfc::parseLiteral(StringRef text, const Port &feed, ArrayRef<int64_t> sizes) {
  return LiteralReader(feed, sizes).read(text);
}
