// Chooses sizes that satisfy the facts of an entry: equalities are solved, the rest is searched.
#include "tools/tfc/Sizes.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/Message.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tfc;

/// The size of a dimension without a bound.
static constexpr int64_t kUsualSize = 64;
/// How far above it the search goes.
static constexpr int64_t kMostAbove = 4096;
/// The number of facts that the search evaluates before it gives up.
static constexpr int kMostChecks = 1 << 16;

namespace {

class SizeChooser {
public:
  SizeChooser(const Entry &entry, const std::map<std::string, int64_t> &known)
      : entry(entry), known(known), values(known), facts(entry.sizes.where) {}

  Error readDims(ArrayRef<std::string> dims);
  Expected<std::vector<int64_t>> choose();

private:
  Error readDim(const std::string &name, StringRef text);
  Error checkDim(const Symbol &symbol, int64_t size);
  Error checkGiven();
  void solveEqualities();
  bool solve(const dfg::Fact &fact);
  bool search(ArrayRef<const Symbol *> names);
  bool holdsSoFar(StringRef name);
  Error failSearch();

  std::optional<int64_t> find(StringRef name) const {
    auto it = values.find(name.str());
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
  const Symbol *findSymbol(StringRef name) const {
    auto it = find_if(entry.symbols, [&](const Symbol &symbol) { return symbol.name == name; });
    return it == entry.symbols.end() ? nullptr : &*it;
  }
  bool isDecided(const dfg::Fact &fact) const;
  /// "entry 'train' at model.graph:12 needs n <= 8"
  std::string need(const Twine &what) const { return needAt(entry.sizes.site, what); }
  std::string needAt(StringRef site, const Twine &what) const {
    return fmt::format("entry '{}'{}{} needs {}", entry.name, site.empty() ? "" : " at ", site,
                       what);
  }
  /// The same, with the line of the fact if it is not that of the entry.
  std::string need(const dfg::Fact &fact) const {
    bool isElsewhere = !fact.site.empty() && fact.site != entry.sizes.site;
    return isElsewhere ? needAt("", fact.strWithSite()) : need(fact.str());
  }

  const Entry &entry;
  const std::map<std::string, int64_t> &known; // by other feeds
  std::map<std::string, int64_t> given;        // by --dim
  std::map<std::string, int64_t> values;       // all that are fixed so far
  std::vector<dfg::Fact> facts;
  int checks = 0;
};

} // namespace

static SmallVector<std::string> namesIn(const dfg::Fact &fact) {
  SmallVector<std::string> names;
  fact.lhs.collectSymbols(names);
  fact.rhs.collectSymbols(names);
  return names;
}

bool SizeChooser::isDecided(const dfg::Fact &fact) const {
  return all_of(namesIn(fact), [&](const std::string &name) { return find(name).has_value(); });
}

//===----------------------------------------------------------------------===//
// Sizes of the command line
//===----------------------------------------------------------------------===//

Error SizeChooser::readDims(ArrayRef<std::string> dims) {
  for (const std::string &dim : dims) {
    auto assignment = splitAssignment(dim, "--dim");
    if (!assignment)
      return assignment.takeError();
    if (Error error = readDim(assignment->first, assignment->second))
      return error;
  }
  return checkGiven();
}

Error SizeChooser::readDim(const std::string &name, StringRef text) {
  int64_t size;
  if (given.count(name))
    return makeError("--dim {} is given twice", name);
  if (text.getAsInteger(10, size))
    return makeError("--dim {}={}: expected a number", name, text);
  if (const Symbol *symbol = findSymbol(name)) {
    if (Error error = checkDim(*symbol, size))
      return error;
  } else {
    auto solved = find_if(entry.sizes.solved,
                          [&](const dfg::Fact &fact) { return fact.lhs.asSymbol() == name; });
    if (solved == entry.sizes.solved.end()) {
      auto names = map_range(entry.symbols, [](const Symbol &symbol) { return symbol.name; });
      return makeError("entry '{}' has no size '{}'{}{}", entry.name, name,
                       entry.symbols.empty() ? "" : "; it has: ", join(names, ", "));
    }
    facts.push_back(*solved);
  }
  given[name] = values[name] = size;
  return Error::success();
}

Error SizeChooser::checkDim(const Symbol &symbol, int64_t size) {
  if (auto other = known.find(symbol.name); other != known.end() && other->second != size)
    return makeError("--dim {0}={1}: the other feeds have {0} = {2}", symbol.name, size,
                     other->second);
  if (symbol.upper >= 0 && size > symbol.upper)
    return makeError("--dim {0}={1}: {2}", symbol.name, size,
                     need(symbol.name + " <= " + Twine(symbol.upper)));
  if (size < symbol.lower)
    return makeError("--dim {0}={1}: {2}", symbol.name, size,
                     need(symbol.name + " >= " + Twine(symbol.lower)));
  return Error::success();
}

/// Reports a fact that the sizes of the command line contradict. A fact about the sizes of feeds
/// alone is reported by the call.
Error SizeChooser::checkGiven() {
  for (const dfg::Fact &fact : facts) {
    SmallVector<std::string> names = namesIn(fact);
    auto isGiven = [&](const std::string &name) { return given.count(name) != 0; };
    if (!isDecided(fact) || none_of(names, isGiven) ||
        fact.holds([&](StringRef name) { return find(name); }) == true)
      continue;
    auto texts = map_range(names, [&](const std::string &name) {
      return (isGiven(name) ? "--dim " + name + "=" : name + " = ") + std::to_string(*find(name));
    });
    return makeError("{}: {}", join(texts, ", "), need(fact));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Equalities
//===----------------------------------------------------------------------===//

/// Fixes the only unknown of an equality; false if nothing new is known.
bool SizeChooser::solve(const dfg::Fact &fact) {
  if (fact.comparison != dfg::Comparison::Equal)
    return false;
  auto difference = (fact.lhs - fact.rhs).substitute([&](StringRef name) {
    std::optional<int64_t> value = find(name);
    return std::optional(value ? dfg::DimExpr(*value) : dfg::DimExpr::symbol(name));
  });
  auto linear = difference ? difference->asLinear() : std::nullopt;
  if (!linear || linear->offset % linear->scale != 0)
    return false;
  return values.emplace(linear->name, -(linear->offset / linear->scale)).second;
}

void SizeChooser::solveEqualities() {
  while (any_of(facts, [&](const dfg::Fact &fact) { return solve(fact); })) {
  }
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

static int64_t preferredSize(const Symbol &symbol) {
  return symbol.upper >= 0 ? symbol.upper : std::max(kUsualSize, symbol.lower);
}

/// Returns false if a fact about `name` and other fixed sizes does not hold.
bool SizeChooser::holdsSoFar(StringRef name) {
  return all_of(facts, [&](const dfg::Fact &fact) {
    if (!is_contained(namesIn(fact), name) || !isDecided(fact))
      return true;
    ++checks;
    return fact.holds([&](StringRef other) { return find(other); }) == true;
  });
}

/// Fixes the named sizes, each as close to the preferred one as possible; false if it gives up.
bool SizeChooser::search(ArrayRef<const Symbol *> names) {
  if (names.empty())
    return true;
  const Symbol &symbol = *names.front();
  int64_t first = preferredSize(symbol), below = first - symbol.lower;
  int64_t count = below + 1 + (symbol.upper < 0 ? kMostAbove : 0);
  for (int64_t i = 0; i < count && checks < kMostChecks; ++i) {
    values[symbol.name] = i <= below ? first - i : first + i - below;
    if (holdsSoFar(symbol.name) && search(names.drop_front()))
      return true;
  }
  values.erase(symbol.name);
  return false;
}

Error SizeChooser::failSearch() {
  std::string all;
  for (const dfg::Fact &fact : facts)
    all += (all.empty() ? "" : " and ") + fact.str();
  std::string fixed;
  for (const auto &[name, size] : given)
    fixed += fmt::format(" with {} = {}", name, size);
  return makeError("{}, and no such sizes were found{}: choose them by --dim", need(all), fixed);
}

Expected<std::vector<int64_t>> SizeChooser::choose() {
  erase_if(facts, [&](const dfg::Fact &fact) { return isDecided(fact); });
  solveEqualities();
  SmallVector<const Symbol *> names;
  for (const Symbol &symbol : entry.symbols)
    if (!find(symbol.name))
      names.push_back(&symbol);
  bool isInRange = all_of(entry.symbols, [&](const Symbol &symbol) {
    int64_t size = find(symbol.name).value_or(symbol.lower);
    return known.count(symbol.name) ||
           (size >= symbol.lower && (symbol.upper < 0 || size <= symbol.upper));
  });
  bool areRight = all_of(values, [&](const auto &value) { return holdsSoFar(value.first); });
  if (!isInRange || !areRight || !search(names))
    return failSearch();
  std::vector<int64_t> sizes;
  for (const Symbol &symbol : entry.symbols)
    sizes.push_back(*find(symbol.name));
  return sizes;
}

Expected<std::vector<int64_t>> tfc::chooseSizes(ArrayRef<std::string> dims, const Entry &entry,
                                                const std::map<std::string, int64_t> &known) {
  SizeChooser chooser(entry, known);
  if (Error error = chooser.readDims(dims))
    return std::move(error);
  return chooser.choose();
}
