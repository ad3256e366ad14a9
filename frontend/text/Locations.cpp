// Converts MLIR's locations and diagnostics to those of graph source.
#include "frontend/text/Locations.h"
#include "dialects/dfg/Help.h"
#include "dialects/dfg/NodeName.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

Location toLocation(MLIRContext *context, const SourceManager &sources, SourceRange range) {
  if (!range.isValid())
    return UnknownLoc::get(context);
  LineColumn begin = sources.lineColumn(range.file, range.begin);
  LineColumn end = sources.lineColumn(range.file, range.end);
  auto name = StringAttr::get(context, sources.name(range.file));
  return FileLineColRange::get(name, begin.line, begin.column, end.line, end.column);
}

/// The part of a fused or named location that holds the position and the calls.
static Location unwrap(Location location) {
  while (true) {
    if (auto named = dyn_cast<NameLoc>(location))
      location = named.getChildLoc();
    else if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty())
      location = fused.getLocations().front();
    else
      return location;
  }
}

static SourceRange fromFileRange(FileLineColRange place, const SourceManager &sources) {
  std::optional<FileId> file = sources.find(place.getFilename().getValue());
  if (!file)
    return {};
  uint32_t begin = sources.offset(*file, {place.getStartLine(), place.getStartColumn()});
  uint32_t end = sources.offset(*file, {place.getEndLine(), place.getEndColumn()});
  return {*file, begin, std::max(begin, end)};
}

SourceRange toRange(Location location, const SourceManager &sources) {
  location = unwrap(location);
  while (auto call = dyn_cast<CallSiteLoc>(location))
    location = unwrap(call.getCallee());
  auto place = dyn_cast<FileLineColRange>(location);
  return place ? fromFileRange(place, sources) : SourceRange();
}

/// "file:line:col: " or "file:node: " if the file's text is not available, else "".
static std::string foreignPlace(Location location, const SourceManager &sources) {
  StringRef node = dfg::nodeOf(location);
  location = unwrap(location);
  while (auto call = dyn_cast<CallSiteLoc>(location))
    location = unwrap(call.getCallee());
  auto place = dyn_cast<FileLineColRange>(location);
  if (!place || sources.find(place.getFilename().getValue()))
    return {};
  if (place.getStartLine() == 0)
    return fmt::format("{}:{}{}", place.getFilename().getValue(), node, node.empty() ? " " : ": ");
  return fmt::format("{}:{}:{}: ", place.getFilename().getValue(), place.getStartLine(),
                     place.getStartColumn());
}

/// Further calls are not shown with an error.
static constexpr unsigned kMaxCallers = 16;

/// Adds notes for the calls that led to the location, innermost first.
static void addCallNotes(Diagnostic &result, Location location, const SourceManager &sources) {
  SmallVector<Location> places, pending = {location};
  while (!pending.empty() && places.size() <= kMaxCallers) {
    Location next = unwrap(pending.pop_back_val());
    if (auto call = dyn_cast<CallSiteLoc>(next))
      pending.append({call.getCaller(), call.getCallee()});
    else
      places.push_back(next);
  }
  for (Location caller : drop_begin(places))
    if (SourceRange at = toRange(caller, sources); at.isValid())
      result.call(at, "in this call");
}

/// Returns true if the location is in an MLIR file, whose author is shown MLIR's messages.
static bool isInMlir(Location location) {
  location = unwrap(location);
  while (auto call = dyn_cast<CallSiteLoc>(location))
    location = unwrap(call.getCallee());
  auto place = dyn_cast<FileLineColRange>(location);
  return place && place.getFilename().getValue().ends_with(".mlir");
}

static void forward(mlir::Diagnostic &diagnostic, DiagnosticEngine &engine) {
  const SourceManager &sources = engine.sourceManager();
  Location location = diagnostic.getLocation();
  std::string text = diagnostic.str();
  std::string slug = takeSlug(text);
  SourceRange at = toRange(location, sources);
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  std::string outside = foreignPlace(location, sources);
  // Errors of tfc about a place in a graph have a word in brackets; others are about the
  // intermediate form, of which the author wrote nothing.
  bool isInternal =
      isError && slug.empty() && !isInMlir(location) && (at.isValid() || !outside.empty());
  if (isInternal) {
    text = "internal error: " + text;
    slug = "internal";
  }
  Diagnostic &result = isError ? engine.error(at, slug, text) : engine.warning(at, slug, text);
  result.foreignPlace = std::move(outside);
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string sentence = note.str();
    if (std::optional<StringRef> help = dfg::helpIn(sentence))
      result.help(*help);
    else
      result.notes.push_back({toRange(note.getLocation(), sources), sentence,
                              foreignPlace(note.getLocation(), sources)});
  }
  if (isInternal)
    result.help("this is a bug in tfc, not in the graph: please report it with the graph");
  addCallNotes(result, location, sources);
}

MlirDiagnosticHandler::MlirDiagnosticHandler(MLIRContext *context, DiagnosticEngine &engine)
    : ScopedDiagnosticHandler(context) {
  setHandler([&engine](mlir::Diagnostic &diagnostic) {
    DiagnosticSeverity severity = diagnostic.getSeverity();
    if (severity != DiagnosticSeverity::Error && severity != DiagnosticSeverity::Warning)
      return failure();
    forward(diagnostic, engine);
    return success();
  });
}

} // namespace tfc::text
