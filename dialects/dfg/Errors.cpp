// Details of errors as metadata of diagnostics, which is not printed.

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Dfg.h"

using namespace mlir;

namespace tfc::dfg {

/// The name that the innermost line of a location has for what it calls; empty without one.
static StringRef writtenName(Location location) {
  while (true) {
    if (auto named = dyn_cast<NameLoc>(location))
      location = named.getChildLoc();
    else if (auto call = dyn_cast<CallSiteLoc>(location))
      location = call.getCallee();
    else
      break;
  }
  auto fused = dyn_cast<FusedLoc>(location);
  auto name = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  return name ? name.getValue() : StringRef();
}

std::string quotedName(Location location, StringRef op) {
  StringRef written = writtenName(location);
  return ("'" + (written.empty() ? op : written) + "'").str();
}

static constexpr StringLiteral kUnproven = "unproven", kForAllSizes = "for_all_sizes",
                               kAttribute = "attribute", kPart = "part";

void ErrorDetails::attachTo(Diagnostic &diagnostic) const {
  Builder b(diagnostic.getLocation().getContext());
  NamedAttrList details;
  if (unproven)
    details.append(kUnproven, DimsAttr::get(b.getContext(), {unproven->first, unproven->second}));
  if (isForAllSizes)
    details.append(kForAllSizes, b.getUnitAttr());
  if (!attribute.empty())
    details.append(kAttribute, b.getStringAttr(attribute));
  if (!part.empty())
    details.append(kPart, b.getStringAttr(part));
  diagnostic.getMetadata().push_back(
      DiagnosticArgument(Attribute(details.getDictionary(b.getContext()))));
}

static DictionaryAttr findDetails(Diagnostic &diagnostic) {
  for (DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      if (auto details = dyn_cast<DictionaryAttr>(argument.getAsAttribute()))
        return details;
  return {};
}

ErrorDetails ErrorDetails::of(Diagnostic &diagnostic) {
  ErrorDetails details;
  DictionaryAttr found = findDetails(diagnostic);
  if (!found)
    return details;
  if (auto sizes = found.getAs<DimsAttr>(kUnproven)) {
    SmallVector<DimExpr> exprs = sizes.getExprs();
    details.unproven = {exprs[0], exprs[1]};
  }
  details.isForAllSizes = found.contains(kForAllSizes);
  if (auto attribute = found.getAs<StringAttr>(kAttribute))
    details.attribute = attribute.str();
  if (auto part = found.getAs<StringAttr>(kPart))
    details.part = part.str();
  return details;
}

} // namespace tfc::dfg
