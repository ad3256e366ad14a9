#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Locations.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

Diagnostic &Elaborator::error(SourceRange at, StringRef slug, const Twine &text) {
  // The same mistake is met again in every call: one report is enough.
  if (!reported.emplace(at.file, at.begin, at.end, slug.str()).second) {
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

std::string Elaborator::describeDims(const Frame &frame) {
  std::vector<std::string> texts;
  for (const std::string &name : frame.dims) {
    Entity value;
    if (auto it = frame.locals.find(name); it != frame.locals.end())
      value = it->second.value;
    else if (frame.self)
      value = frame.self->sizes.lookup(name).value;
    if (value.is<mlir::Type>()) {
      texts.push_back(name + " = " + dfg::toText(value.as<mlir::Type>()));
      continue;
    }
    std::optional<dfg::DimExpr> size = value.asDim();
    if (!size)
      continue;
    if (size->str() != name)
      texts.push_back(name + " = " + size->str());
    else if (std::optional<int64_t> bound = boundsOf(name).second)
      texts.push_back(name + " <= " + std::to_string(*bound));
  }
  return join(texts, ", ");
}

void Elaborator::addCallNotes(Diagnostic &diagnostic) {
  for (const Frame *f = frame; f; f = f->caller) {
    if (!f->fn || !f->callSite.isValid())
      continue;
    std::string dims = describeDims(*f);
    if (dims.empty())
      continue;
    diagnostic.note(f->callSite, "in this call of '" + calleeName(*f) + "'" + callerName(*f) +
                                     ", with " + dims);
  }
}

/// Adds a note about what is at fault, before those about the calls around it.
static void addNote(Diagnostic &diagnostic, SourceRange at, const std::string &text) {
  auto place = find_if(diagnostic.notes, [](const Diagnostic::Note &note) {
    return StringRef(note.text).starts_with("in this call of ");
  });
  diagnostic.notes.insert(place, {at, text});
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
      addNote(diagnostic, (*variable)->decl->name.range,
              ("'" + name->name + "' is declared here as ").str() +
                  dfg::toText((*variable)->type));
    return;
  }
  if (const Local *local = frame->find(name->name); local && local->type && value.isTensor())
    addNote(diagnostic, local->at,
            ("'" + name->name + "' is declared here as ").str() + value.describe());
}

void Elaborator::suggest(Diagnostic &diagnostic, StringRef name, ArrayRef<StringRef> candidates) {
  StringRef best;
  unsigned bestDistance = std::max<size_t>(1, name.size() / 3) + 1;
  for (StringRef candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  if (!best.empty())
    diagnostic.help("did you mean '" + best + "'?");
}

Location Elaborator::locate(SourceRange range) {
  Location location = toLocation(context, sources, range);
  Instance *self = frame ? frame->self : nullptr;
  for (const Frame *f = frame; f; f = f->caller)
    if (f->callSite.isValid())
      location = CallSiteLoc::get(location, toLocation(context, sources, f->callSite));
  std::string node = entryName;
  if (self)
    node += "/" + self->path;
  if (!bindingName.empty())
    node += "/" + bindingName;
  if (node.empty())
    return location;
  return NameLoc::get(StringAttr::get(context, node), location);
}

std::string Elaborator::takeSlug(std::string &text) {
  StringRef view = text;
  size_t open = view.rfind(" [");
  if (!view.ends_with("]") || open == StringRef::npos)
    return {};
  StringRef slug = view.drop_back().substr(open + 2);
  if (!slug.contains('-') || !all_of(slug, [](char c) { return isLower(c) || c == '-'; }))
    return {};
  std::string result = slug.str();
  text.resize(open);
  return result;
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
  auto isPart = [&](size_t at) { return at < text.size() && (isAlnum(text[at]) || text[at] == '_'); };
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

/// What to write where "cannot prove that A equals B, as 'op' on T and U needs".
static std::string equalityHelp(StringRef text) {
  if (!text.consume_front("cannot prove that "))
    return {};
  auto [sizes, reason] = text.split(", as '");
  auto [lhs, rhs] = sizes.split(" equals ");
  StringRef type = reason.split("' on ").second.split(" and ").first;
  if (rhs.empty() || type.empty())
    return {};
  return ("if all calls have such sizes, say so: where " + lhs + " == " + rhs +
          "; to check one value in each call: ensure(value, " + type + ")")
      .str();
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
    Diagnostic &diagnostic = error(placeInString(at, text, sources), slug,
                                   nameOperator(text, op, operatorText));
    for (const Argument &operand : operands) {
      if (!(operand.range == at))
        diagnostic.also(operand.range);
      addDeclarationNote(diagnostic, operand.expr, operand.value);
    }
    if (std::string help = equalityHelp(text); !help.empty())
      diagnostic.help(help);
    for (const std::string &note : captured.notes) {
      if (StringRef(note).starts_with("help: "))
        diagnostic.help(note.substr(strlen("help: ")));
      else
        diagnostic.note({}, note);
    }
  }
}

} // namespace tfc::text
