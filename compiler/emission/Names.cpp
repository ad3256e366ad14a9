// Chooses the C names of a model's functions and parameters. The header and the descriptor must
// agree on them.
#include "compiler/emission/Names.h"
#include "compiler/emission/Emission.h"
#include "compiler/emission/ReservedNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tfc;
using namespace tfc::emission;
using llvm::StringRef;

/// Turns any text into a C identifier: other characters become '_', and names of a form reserved
/// for libraries are prefixed with a letter.
static std::string makeIdentifier(StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name.insert(0, "_");
  bool isReserved = name.size() > 1 && name[0] == '_' && (name[1] == '_' || llvm::isUpper(name[1]));
  return isReserved ? "x" + name : name;
}

/// `name` with underscores appended until `isTaken` returns false.
static std::string escape(std::string name, llvm::function_ref<bool(StringRef)> isTaken) {
  while (isTaken(name))
    name += '_';
  return name;
}

/// The functions that every model has.
static constexpr StringRef kPurposes[] = {"create", "destroy", "fork", "message", "save",
                                          "load",   "get",     "set",  "library"};
/// An additional function of models with a cluster.
static constexpr StringRef kClusterPurpose = "serve";
/// An additional function of models with datasets.
static constexpr StringRef kDatasetPurpose = "open_dataset";
/// Additional functions of models with queues.
static constexpr StringRef kQueuePurposes[] = {"queue_size", "queue_close", "cancel"};

std::string tfc::makePrefix(StringRef text) {
  return escape(makeIdentifier(text), [](StringRef name) {
    auto clashes = [&](StringRef purpose) {
      return isReservedGlobal((name + "_" + purpose).str());
    };
    // The runtime's prefix is refused, because appending an underscore would not make it different.
    return !isRuntimePrefix(name) &&
           (isReservedGlobal(name) || clashes(kClusterPurpose) || clashes(kDatasetPurpose) ||
            llvm::any_of(kPurposes, clashes) || llvm::any_of(kQueuePurposes, clashes));
  });
}

bool tfc::isRuntimePrefix(StringRef prefix) {
  return prefix.equals_insensitive("tfc") || prefix.starts_with("tfc_") ||
         prefix.starts_with("TFC_");
}

static EntryNames chooseEntryNames(const EntryInfo &entry) {
  // Names of types in the header cannot be parameters of functions that use these types.
  llvm::StringSet<> used = {"int8_t",  "int16_t",  "int32_t",  "int64_t",
                            "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  auto choose = [&](StringRef text) {
    std::string name = escape(makeIdentifier(text), [&](StringRef name) {
      return isReservedParameter(name) || used.contains(name);
    });
    used.insert(name);
    return name;
  };
  EntryNames names;
  for (const SymbolInfo &symbol : entry.symbols)
    names.symbols.push_back(choose(symbol.name));
  for (const ValueInfo &feed : entry.feeds)
    names.feeds.push_back(choose(feed.name));
  for (const ValueInfo &fetch : entry.fetches)
    names.fetches.push_back(choose(fetch.name));
  for (const std::string &size : entry.found)
    names.found.push_back(choose(size));
  return names;
}

ModelNames tfc::emission::chooseNames(const ModelInfo &model, StringRef prefix) {
  ModelNames names;
  names.prefix = prefix.str();
  llvm::StringSet<> functions;
  for (StringRef purpose : kPurposes)
    functions.insert(names.of(purpose));
  if (!model.cluster.isEmpty())
    functions.insert(names.of(kClusterPurpose));
  if (!model.datasets.empty())
    functions.insert(names.of(kDatasetPurpose));
  if (!model.queues.empty())
    for (StringRef purpose : kQueuePurposes)
      functions.insert(names.of(purpose));
  for (const EntryInfo &entry : model.entries) {
    names.entries.push_back(chooseEntryNames(entry));
    std::string &function = names.entries.back().function;
    function = escape(makeIdentifier((prefix + "_" + entry.name).str()), [&](StringRef name) {
      return isReservedGlobal(name) || functions.contains(name);
    });
    functions.insert(function);
  }
  return names;
}
