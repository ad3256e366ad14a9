// Adds source locations to errors that operations report while they are built.
#include "frontend/text/elaborate/ErrorCapture.h"
#include "dialects/dfg/Help.h"

#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeExplainer.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

static size_t findWord(StringRef text, StringRef word) {
  auto isPart = [&](size_t at) {
    return at < text.size() && (isAlnum(text[at]) || text[at] == '_');
  };
  for (size_t at = text.find(word); !word.empty() && at != StringRef::npos;
       at = text.find(word, at + 1))
    if (!isPart(at - 1) && !isPart(at + word.size()))
      return at;
  return StringRef::npos;
}

/// The location of a part of the string at `at`; else `at`.
static SourceRange placeInString(SourceRange at, StringRef part, const SourceManager &sources) {
  if (!at.isValid() || !sources.text(at).starts_with("\""))
    return at;
  size_t begin = findWord(sources.text(at), part);
  if (begin == StringRef::npos)
    return at;
  at.begin += begin;
  at.end = at.begin + part.size();
  return at;
}

SourceRange ErrorCapture::placeOfAttribute(SourceRange at, StringRef attribute) const {
  for (const auto &[name, range] : context.attributePlaces)
    if (range.isValid() && name == attribute)
      return range;
  return at;
}

/// Replaces `$0`, `$1`, ... in a note of the dialect by the author's text of the operands.
std::string ErrorCapture::nameOperands(std::string note, ArrayRef<Argument> operands) {
  for (auto [i, operand] : enumerate(operands)) {
    std::string mark = "$" + std::to_string(i);
    size_t at = note.find(mark);
    if (at == std::string::npos)
      continue;
    note.replace(at, mark.size(),
                 context.sources.shortText(operand.range, "operand " + std::to_string(i + 1)));
  }
  return note;
}

void ErrorCapture::reportCaptured(SourceRange at, ArrayRef<Argument> operands, StringRef op,
                                  ArrayRef<CapturedError> errors) {
  if (errors.empty()) {
    reporter.error(at, "", "'{}' cannot be built from these operands", op);
    return;
  }
  for (const CapturedError &captured : errors) {
    std::string text = captured.text;
    std::string slug = takeSlug(text);
    const dfg::ErrorDetails &details = captured.details;
    SourceRange place = placeOfAttribute(at, details.attribute);
    Diagnostic &diagnostic =
        reporter.error(placeInString(place, details.part, context.sources), slug, text)
            .forAllSizes(details.isForAllSizes);
    for (const Argument &operand : operands) {
      if (!(operand.range == place))
        diagnostic.also(operand.range);
      advisor.addDeclarationNote(diagnostic, operand.expr, operand.value);
    }
    if (details.unproven)
      sizeExplainer.explainUnequal(diagnostic, *details.unproven, operands);
    hintOperation(diagnostic, op, operands);
    for (const std::string &note : captured.notes) {
      std::string sentence = nameOperands(note, operands);
      if (std::optional<StringRef> help = dfg::helpIn(sentence))
        diagnostic.help(*help);
      else
        diagnostic.note({}, sentence);
    }
  }
}

static std::optional<dfg::Shape> shapeOfValue(const Entity &value) {
  if (const mlir::Value *tensor = value.get<mlir::Value>();
      tensor && isa<mlir::RankedTensorType>(tensor->getType()))
    return dfg::shapeOf(tensor->getType());
  if (Variable *const *variable = value.get<Variable *>())
    return dfg::shapeOf((*variable)->type);
  return std::nullopt;
}

/// The product that was probably intended for operands that do not match.
static StringRef productFor(StringRef op, const dfg::Shape &lhs, const dfg::Shape &rhs) {
  bool areMatrices = lhs.size() >= 2 && rhs.size() >= 2 && lhs.back() == rhs[rhs.size() - 2];
  if (op == "mul" && areMatrices)
    return "a product of matrices is matmul($0, $1)";
  if (op == "matmul" && rhs.size() == 1 && !lhs.empty())
    return "a matrix by a vector is sum($0 * $1, axis: -1)";
  if (op == "matmul" && lhs.size() == 1 && rhs.size() == 2)
    return "a vector by a matrix is sum(expand($0, axis: 1) * $1, axis: 0)";
  return "";
}

/// The axis at which `shorter` needs an additional axis of size 1 to be compatible with `longer`.
static std::optional<size_t> missingAxis(const dfg::Shape &longer, const dfg::Shape &shorter) {
  if (longer.size() != shorter.size() + 1)
    return std::nullopt;
  for (size_t axis = longer.size() - 1; axis > 0; --axis) {
    dfg::Shape rest = longer;
    rest.erase(rest.begin() + axis);
    if (rest == shorter)
      return axis;
  }
  return std::nullopt;
}

/// A suggestion for an operand that lacks an axis.
static std::string expandFor(const dfg::Shape &lhs, const dfg::Shape &rhs) {
  std::string text;
  if (std::optional<size_t> axis = missingAxis(lhs, rhs))
    text = "expand($1, axis: " + std::to_string(*axis);
  else if (std::optional<size_t> axis = missingAxis(rhs, lhs))
    text = "expand($0, axis: " + std::to_string(*axis);
  return text.empty() ? text
                      : text + ") repeats it along that axis; a reduction keeps its axes by "
                               "'keep_dims: true'";
}

static bool isOfBools(const Argument &operand) {
  const mlir::Value *tensor = operand.value.get<mlir::Value>();
  return tensor && isa<mlir::RankedTensorType>(tensor->getType()) &&
         dfg::elementTypeOf(tensor->getType()).isInteger(1);
}

void ErrorCapture::hintOperation(Diagnostic &diagnostic, StringRef op,
                                 ArrayRef<Argument> operands) {
  if (operands.size() != 2)
    return;
  if (op == "div" && diagnostic.slug == "dtype" && none_of(operands, isOfBools))
    diagnostic.help("'//' divides integers; f32(x) converts");
  bool isShape = diagnostic.slug == "unequal-dimensions" || diagnostic.slug == "rank";
  std::optional<dfg::Shape> lhs = shapeOfValue(operands[0].value),
                            rhs = shapeOfValue(operands[1].value);
  if (!isShape || !lhs || !rhs)
    return;
  if (StringRef help = productFor(op, *lhs, *rhs); !help.empty())
    diagnostic.help(nameOperands(help.str(), operands));
  else if (std::string help = expandFor(*lhs, *rhs); op != "matmul" && !help.empty())
    diagnostic.help(nameOperands(help, operands));
}

bool ErrorCapture::capture(SourceRange at, ArrayRef<Argument> operands, StringRef op,
                           llvm::function_ref<bool()> build) {
  std::vector<CapturedError> errors;
  bool succeeded;
  {
    mlir::ScopedDiagnosticHandler handler(context.mlir, [&](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
        CapturedError &captured = errors.emplace_back();
        captured.text = diagnostic.str();
        captured.details = dfg::ErrorDetails::of(diagnostic);
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          captured.notes.push_back(note.str());
      }
      return mlir::success();
    });
    succeeded = build();
  }
  if (!succeeded || !errors.empty())
    reportCaptured(at, operands, op, errors);
  return succeeded && errors.empty();
}

} // namespace tfc::text
