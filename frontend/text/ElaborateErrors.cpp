#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Locations.h"
#include "frontend/text/Suggest.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// Longer expressions are not repeated in a message.
static constexpr size_t kMaxQuoted = 32;

/// More errors are not looked for.
static constexpr size_t kMaxErrors = 1000;

/// After so many errors none gets a suggestion, which looks at all names.
static constexpr size_t kMaxSuggestions = 100;

/// More names are not listed in a help.
static constexpr size_t kMaxListed = 16;

Diagnostic &Elaborator::error(SourceRange at, StringRef slug, const Twine &text) {
  // The same mistake is met again in every call: one report is enough.
  if (diagnostics.size() > kMaxErrors)
    budget.stop();
  if (budget.isStopped() || !reported.emplace(at.file, at.begin, at.end, slug.str()).second) {
    discarded = Diagnostic();
    return discarded;
  }
  Diagnostic &diagnostic = diagnostics.error(at, slug, text);
  addCallNotes(diagnostic);
  return diagnostic;
}

Entity Elaborator::fail(SourceRange at, StringRef slug, const Twine &text) {
  error(at, slug, text);
  return Poison();
}

/// What was called: an instance by its own name, a function of it with that before.
static std::string calleeName(const Frame &frame) {
  StringRef name = frame.fn->name.text;
  if (!frame.self)
    return name.str();
  return name == "call" ? frame.self->path : (frame.self->path + "." + name).str();
}

static std::string callerName(const Frame &frame) {
  const Frame *caller = frame.caller;
  if (!caller || !caller->fn)
    return {};
  StringRef kind = caller->fn->isEntry ? " by entry '" : " by '";
  return (kind + calleeName(*caller) + "'").str();
}

Entity valueOfDim(const Frame &frame, StringRef name) {
  if (auto it = frame.locals.find(name); it != frame.locals.end())
    return it->second.value;
  return frame.self ? frame.self->sizes.lookup(name).value : Entity();
}

std::string Elaborator::describeDims(const Frame &frame) {
  std::vector<std::string> texts;
  for (const std::string &name : frame.dims) {
    Entity value = valueOfDim(frame, name);
    if (value.is<mlir::Type>()) {
      texts.push_back(name + " = " + dfg::toText(value.as<mlir::Type>()));
      continue;
    }
    std::optional<dfg::DimExpr> size = value.asDim();
    if (!size)
      continue;
    std::string text = size->str() == name ? name : name + " = " + size->str();
    std::optional<StringRef> symbol = size->asSymbol();
    std::optional<int64_t> bound = symbol ? boundsOf(*symbol).second : std::nullopt;
    if (bound)
      text += " <= " + std::to_string(*bound);
    if (text != name)
      texts.push_back(text);
  }
  return join(texts, ", ");
}

void Elaborator::addCallNotes(Diagnostic &diagnostic) {
  for (const Frame *f = frame; f; f = f->caller) {
    if (!f->fn || !f->callSite.isValid())
      continue;
    // A call that binds no size tells something only where the error is in another file, as in the
    // library.
    std::string dims = describeDims(*f);
    if (dims.empty() && f->fn->name.range.file == f->callSite.file)
      continue;
    diagnostic.call(f->callSite, "in this call of '" + calleeName(*f) + "'" + callerName(*f) +
                                     (dims.empty() ? "" : ", with " + dims));
  }
}

void Elaborator::addDeclarationNote(Diagnostic &diagnostic, const ast::Expr *expr,
                                    const Entity &value) {
  const auto *name = dyn_cast_or_null<ast::NameExpr>(expr);
  if (!name)
    return;
  std::optional<Entity> declared = lookupDeclared(name->name, name->range);
  if (!declared)
    return;
  if (Variable *const *variable = declared->get<Variable *>()) {
    if ((*variable)->decl)
      diagnostic.note((*variable)->decl->name.range,
                      ("'" + name->name + "' is declared here as ").str() +
                          dfg::toText((*variable)->type));
    return;
  }
  if (const Local *local = frame->find(name->name); local && local->type && value.isTensor())
    diagnostic.note(local->at,
                    ("'" + name->name + "' is declared here as ").str() + value.describe());
}

void Elaborator::suggest(Diagnostic &diagnostic, StringRef name, ArrayRef<StringRef> candidates) {
  if (diagnostics.size() > kMaxSuggestions)
    return;
  if (StringRef best = findSimilar(name, candidates); !best.empty())
    diagnostic.help("did you mean '" + best + "'?");
}

void Elaborator::suggestAmong(Diagnostic &diagnostic, StringRef name,
                              ArrayRef<StringRef> candidates) {
  suggest(diagnostic, name, candidates);
  if (diagnostic.helpText.empty() && !candidates.empty() && candidates.size() <= kMaxListed)
    diagnostic.help("there " + Twine(candidates.size() == 1 ? "is " : "are ") +
                    join(candidates, ", "));
}

/// The calls that led to a frame, null for none. All operations of a call share them, since
/// functions that double what they call would take most of the time and memory for copies.
static LocationAttr callersOf(MLIRContext *context, const SourceManager &sources, Frame *frame) {
  if (!frame)
    return {};
  LocationAttr outer = callersOf(context, sources, frame->caller);
  if (!frame->callSite.isValid())
    return outer;
  Frame::Callers &known = frame->callers;
  if (!known.all || known.outer != outer || !(known.site == frame->callSite)) {
    Location site = toLocation(context, sources, frame->callSite);
    known = {frame->callSite, outer, outer ? Location(CallSiteLoc::get(site, outer)) : site};
  }
  return known.all;
}

Location Elaborator::locate(SourceRange range) {
  Location location = toLocation(context, sources, range);
  Instance *self = frame ? frame->self : nullptr;
  if (LocationAttr callers = callersOf(context, sources, frame))
    location = CallSiteLoc::get(location, callers);
  std::string node = entryName;
  if (self)
    node += "/" + self->path;
  if (!bindingName.empty())
    node += "/" + bindingName;
  if (node.empty())
    return location;
  return NameLoc::get(StringAttr::get(context, node), location);
}

/// Replaces the operation's name by the operator that the author wrote.
static std::string nameOperator(std::string text, StringRef op, StringRef operatorText) {
  if (operatorText.empty())
    return text;
  std::string quoted = ("'" + op + "'").str();
  if (size_t at = text.find(quoted); at != std::string::npos)
    return text.replace(at, quoted.size(), ("'" + operatorText + "'").str());
  if (StringRef(text).starts_with((op + " ").str()))
    return ("'" + operatorText + "'").str() + text.substr(op.size());
  return text;
}

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

/// The place of what a message quotes, if that stands in the string at `at`.
static SourceRange placeInString(SourceRange at, StringRef message, const SourceManager &sources) {
  if (!at.isValid() || !sources.text(at).starts_with("\""))
    return at;
  SmallVector<StringRef> pieces;
  message.split(pieces, '\'');
  // Every other piece stands between quotes.
  for (size_t i = 1; i < pieces.size(); i += 2) {
    size_t begin = findWord(sources.text(at), pieces[i]);
    if (begin == StringRef::npos)
      continue;
    at.begin += begin;
    at.end = at.begin + pieces[i].size();
    return at;
  }
  return at;
}

SourceRange Elaborator::placeOfNumber(SourceRange at, StringRef slug, StringRef message) const {
  if (slug == "literal-type" || slug == "number-range")
    for (const auto &[name, range] : attributePlaces)
      if (range.isValid() && message.contains(("'" + name + "'").str()))
        return range;
  return at;
}

/// Puts what the author wrote where a note of the dialect says `$0`, `$1`, ... for an operand.
std::string Elaborator::nameOperands(std::string note, ArrayRef<Argument> operands) {
  for (auto [i, operand] : enumerate(operands)) {
    std::string mark = "$" + std::to_string(i);
    size_t at = note.find(mark);
    if (at == std::string::npos)
      continue;
    StringRef text = operand.range.isValid() ? sources.text(operand.range) : StringRef();
    bool isShort = !text.empty() && text.size() <= kMaxQuoted && !text.contains('\n');
    note.replace(at, mark.size(), isShort ? text.str() : "operand " + std::to_string(i + 1));
  }
  return note;
}

void Elaborator::reportCaptured(SourceRange at, ArrayRef<Argument> operands, StringRef op,
                                StringRef operatorText, ArrayRef<CapturedError> errors) {
  if (errors.empty()) {
    error(at, "", "'" + op + "' cannot be built from these operands");
    return;
  }
  for (const CapturedError &captured : errors) {
    std::string text = captured.text;
    std::string slug = takeSlug(text);
    SourceRange place = placeOfNumber(at, slug, text);
    Diagnostic &diagnostic =
        error(placeInString(place, text, sources), slug, nameOperator(text, op, operatorText));
    for (const Argument &operand : operands) {
      if (!(operand.range == place))
        diagnostic.also(operand.range);
      addDeclarationNote(diagnostic, operand.expr, operand.value);
    }
    explainUnequal(diagnostic, text, operands);
    hintOperation(diagnostic, op, operands);
    for (const std::string &note : captured.notes) {
      std::string sentence = nameOperands(note, operands);
      if (StringRef(sentence).starts_with("help: "))
        diagnostic.help(sentence.substr(strlen("help: ")));
      else
        diagnostic.note({}, sentence);
    }
  }
}

} // namespace tfc::text
