// The command `tfc check`: reports the errors of a graph without compiling it, and describes the
// interface that it would have.
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Types.h"
#include "frontend/Fmt.h"
#include "tools/tfc/Commands.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;

/// The last stage that refuses what an author wrote, unless that is about devices.
static constexpr StringLiteral kLastStage = "autodiff";

static std::string describeValues(ArrayRef<ValueInfo> values) {
  auto texts = llvm::map_range(values, [](const ValueInfo &value) {
    return fmt::format("{}: {}", value.name, dfg::toText(value.type));
  });
  return llvm::join(texts, ", ");
}

/// The facts of an entry as a `where` clause of the graph language; empty if there are none.
static std::string describeFacts(const EntryInfo &entry) {
  SmallVector<std::string> texts;
  for (const SymbolInfo &symbol : entry.symbols) {
    if (symbol.lower > 0)
      texts.push_back(fmt::format("{} >= {}", symbol.name, symbol.lower));
    if (symbol.upper >= 0)
      texts.push_back(fmt::format("{} <= {}", symbol.name, symbol.upper));
  }
  for (const std::string &found : entry.found)
    if (const RunTimeSizeInfo *size = entry.findRunTimeSize(found))
      texts.push_back(fmt::format("{} <= {}", found, entry.atMost(size->bound).str()));
  for (const dfg::Fact &fact : entry.where)
    texts.push_back(fact.str());
  return texts.empty() ? "" : fmt::format(" where {}", llvm::join(texts, ", "));
}

static std::string describeEntry(const EntryInfo &entry) {
  return fmt::format("{}({}) -> ({}){}", entry.name, describeValues(entry.feeds),
                     describeValues(entry.fetches), describeFacts(entry));
}

static void describe(StringRef input, const ModelInfo &model) {
  auto count = [](size_t number, StringRef noun, StringRef nouns) {
    return fmt::format("{} {}", number, number == 1 ? noun : nouns);
  };
  llvm::outs() << input << ": no errors; " << count(model.entries.size(), "entry", "entries")
               << ", " << count(model.variables.size(), "variable", "variables") << '\n';
  for (const EntryInfo &entry : model.entries)
    llvm::outs() << describeEntry(entry) << '\n';
}

/// Returns true if the graph says where something shall be.
static bool namesDevices(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        return dfg::placementOf(op).empty() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

int tfc::runCheck(CompileRequest request) {
  Session session;
  OwningOpRef<ModuleOp> module = session.load(request);
  if (!module)
    return 1;
  requireSizes(*module);
  FailureOr<ModelInfo> model = describeModel(*module);
  if (failed(model))
    return 1;
  bool isAboutDevices = request.pipeline.concernsPlacement() || namesDevices(*module);
  request.pipeline.stopAfter = isAboutDevices ? "placement" : kLastStage;
  if (failed(session.runStages(*module, request)))
    return 1;
  describe(request.input, *model);
  return 0;
}
