// A model whose entries can be called: compiled, or executed by the oracle.
#pragma once

#include "dialects/dfg/Facts.h"
#include "tools/tfc/Array.h"
#include <map>

namespace tfc {

/// The description of a feed or fetch.
struct Port {
  std::string name;
  std::string type; // "f32[n, 64]"
  tfc_dtype dtype;
  int32_t rank;
};

struct Symbol {
  std::string name;
  int64_t lower;
  int64_t upper; // -1: no bound
};

/// Facts of the graph about the sizes of an entry, beyond bounds.
struct SizeFacts {
  std::vector<dfg::Fact> where;
  std::vector<dfg::Fact> solved; // `name == size` for names that are no symbols
  std::string site;              // of the entry, "model.graph:12", or empty
};

struct Entry {
  std::string name;
  int32_t index;
  std::vector<Port> feeds, fetches;
  std::vector<Symbol> symbols;
  SizeFacts sizes = {};
};

class CallableModel {
public:
  virtual ~CallableModel() = default;

  const std::vector<Entry> &getEntries() const { return entries; }
  /// The entry of that name; the only one if `name` is empty.
  llvm::Expected<const Entry *> findEntry(llvm::StringRef name) const;

  /// Runs the entry with feeds in its order and returns its fetches.
  virtual llvm::Expected<std::vector<Array>> run(const Entry &entry, std::vector<Array> &feeds) = 0;

  /// The files from which the model was created, including those that the graph names.
  llvm::ArrayRef<std::string> getInputs() const { return inputs; }
  void setInputs(llvm::ArrayRef<std::string> files) { inputs = files.vec(); }
  /// Sets what the graph says about the sizes of each entry, by name.
  void setSizeFacts(const std::map<std::string, SizeFacts> &facts);

protected:
  std::vector<Entry> entries;
  std::vector<std::string> inputs;
};

} // namespace tfc
