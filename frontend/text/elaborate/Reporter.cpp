// Reports errors with the calls that lead to them, and sets the locations of operations.
#include "frontend/text/elaborate/Reporter.h"

#include "dialects/dfg/DataChecks.h"
#include "frontend/text/Locations.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/syntax/Suggest.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// Elaboration stops looking for errors after this many.
static constexpr size_t kMaxErrors = 1000;

/// After this many errors there are no more suggestions, which search all names.
static constexpr size_t kMaxSuggestions = 100;

/// Longer lists of names are not shown in a help.
static constexpr size_t kMaxListed = 16;

Diagnostic &Reporter::error(SourceRange at, StringRef slug, const Twine &text) {
  // The same mistake recurs in every call; report it once.
  if (context.diagnostics.size() > kMaxErrors)
    context.budget.stop();
  if (context.budget.isStopped() || !isFirst(at, slug)) {
    discarded = Diagnostic();
    return discarded;
  }
  Diagnostic &diagnostic = context.diagnostics.error(at, slug, text);
  addCallNotes(diagnostic);
  return diagnostic;
}

Entity Reporter::fail(SourceRange at, StringRef slug, const Twine &text) {
  error(at, slug, text);
  return Poison();
}

Entity Reporter::failSparse(SourceRange at) {
  error(at, "sparse-gradient",
        "a sparse gradient holds only the touched rows, so it cannot be used as a tensor")
      .help("'as_tensor(g)' has zeros in the other rows");
  return Poison();
}

std::pair<Activation *, SourceRange> Reporter::authorsCall(SourceRange at) const {
  for (Activation *f = context.activation; f; at = f->callSite, f = f->caller)
    if (!f->module || !f->module->isShipped)
      return {f, at};
  return {context.activation, at};
}

/// The name of the callee: that of an instance, or of its function with the instance's name before
/// it.
static std::string calleeName(const Activation &activation) {
  StringRef name = activation.fn->name.text;
  if (!activation.self)
    return name.str();
  return name == "call" ? activation.self->path : fmt::format("{}.{}", activation.self->path, name);
}

static std::string callerName(const Activation &activation) {
  const Activation *caller = activation.caller;
  if (!caller || !caller->fn)
    return {};
  StringRef kind = caller->fn->isEntry ? " by entry '" : " by '";
  return fmt::format("{}{}'", kind, calleeName(*caller));
}

Entity valueOfDim(const Activation &activation, StringRef name) {
  if (auto it = activation.locals.find(name); it != activation.locals.end())
    return it->second.value;
  return activation.self ? activation.self->sizes.lookup(name).value : Entity();
}

std::string Reporter::describeDims(const Activation &activation) {
  std::vector<std::string> texts;
  for (const std::string &name : activation.dims) {
    Entity value = valueOfDim(activation, name);
    if (value.is<mlir::Type>()) {
      texts.push_back(name + " = " + dfg::toText(value.as<mlir::Type>()));
      continue;
    }
    std::optional<dfg::DimExpr> size = value.asDim();
    if (!size)
      continue;
    std::string text = size->str() == name ? name : name + " = " + size->str();
    std::optional<StringRef> symbol = size->asSymbol();
    std::optional<int64_t> bound = symbol ? sizeScope.boundsOf(*symbol).second : std::nullopt;
    if (bound)
      text += " <= " + std::to_string(*bound);
    if (text != name)
      texts.push_back(text);
  }
  return join(texts, ", ");
}

void Reporter::addCallNotes(Diagnostic &diagnostic) {
  for (const Activation *f = context.activation; f; f = f->caller) {
    if (!f->fn || !f->callSite.isValid())
      continue;
    // A call that binds no size is informative only if the error is in another file, such as the
    // library.
    std::string dims = describeDims(*f);
    if (dims.empty() && f->fn->name.range.file == f->callSite.file)
      continue;
    diagnostic.call(f->callSite, "in this call of '{}'{}{}", calleeName(*f), callerName(*f),
                    dims.empty() ? "" : ", with " + dims);
  }
}

void Reporter::suggest(Diagnostic &diagnostic, StringRef name, ArrayRef<StringRef> candidates) {
  if (context.diagnostics.size() > kMaxSuggestions)
    return;
  if (StringRef best = findSimilar(name, candidates); !best.empty())
    diagnostic.help("did you mean '{}'?", best);
}

void Reporter::suggestAmong(Diagnostic &diagnostic, StringRef name,
                            ArrayRef<StringRef> candidates) {
  suggest(diagnostic, name, candidates);
  if (diagnostic.helpText.empty() && !candidates.empty() && candidates.size() <= kMaxListed)
    diagnostic.help("there {}{}", candidates.size() == 1 ? "is " : "are ", join(candidates, ", "));
}

/// Returns true for a call of a function that ships with tfc in another file.
static bool isCalledByAuthor(const Activation &activation) {
  const Activation *caller = activation.caller;
  return activation.fn && activation.module && activation.module->isShipped && caller &&
         caller->module && !caller->module->isShipped;
}

/// The calls that led to an activation, null for none. All operations of a call share them, because
/// copies would take most of the time and memory if calls double at each level.
static LocationAttr callersOf(MLIRContext *context, const SourceManager &sources,
                              Activation *activation) {
  if (!activation)
    return {};
  LocationAttr outer = callersOf(context, sources, activation->caller);
  if (!activation->callSite.isValid())
    return outer;
  Activation::Callers &known = activation->callers;
  if (!known.all || known.outer != outer || !(known.site == activation->callSite)) {
    Location site = toLocation(context, sources, activation->callSite);
    if (isCalledByAuthor(*activation))
      site = dfg::nameSite(site, calleeName(*activation));
    known = {activation->callSite, outer, outer ? Location(CallSiteLoc::get(site, outer)) : site};
  }
  return known.all;
}

Location Reporter::locate(SourceRange range, StringRef name) {
  Location location = toLocation(context.mlir, context.sources, range);
  if (!name.empty())
    location = dfg::nameSite(location, name);
  Instance *self = context.activation ? context.activation->self : nullptr;
  if (LocationAttr callers = callersOf(context.mlir, context.sources, context.activation))
    location = CallSiteLoc::get(location, callers);
  std::string node = context.entry.name;
  if (self)
    node += "/" + self->path;
  if (!context.bindingName.empty())
    node += "/" + context.bindingName;
  if (node.empty())
    return location;
  return NameLoc::get(StringAttr::get(context.mlir, node), location);
}

} // namespace tfc::text
