// Finds the rule of an operation of a foreign graph by its name and the version of the graph.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::importer {

/// Another name of an operation, which has a rule or is a function in graph source.
struct Alias {
  llvm::StringLiteral name, op;
};

/// The rules in one file.
template <typename Rule> struct RuleFamily {
  llvm::StringLiteral file;
  llvm::ArrayRef<Rule> rules;
};

/// The rules of a reader. A rule has a name `op` and a number `since`, the first version of the
/// operation set to which it applies.
template <typename Rule> class OperationTable {
public:
  OperationTable(std::initializer_list<RuleFamily<Rule>> families,
                 llvm::ArrayRef<Alias> aliases = {})
      : families(families), aliases(aliases) {
    for (const RuleFamily<Rule> &family : families)
      for (const Rule &rule : family.rules)
        rules[rule.op].push_back(&rule);
    for (const Alias &alias : aliases)
      originals[alias.name] = alias.op;
  }

  llvm::ArrayRef<RuleFamily<Rule>> getFamilies() const { return families; }
  llvm::ArrayRef<Alias> getAliases() const { return aliases; }

  /// Returns the name for which `op` is an alias, or `op` itself.
  llvm::StringRef originalOf(llvm::StringRef op) const {
    auto found = originals.find(op);
    return found == originals.end() ? op : found->second;
  }

  /// Returns the rule of an operation in graphs of this version, which is the latest one that is
  /// not newer, or null if there is none.
  const Rule *find(llvm::StringRef op, int64_t version) const {
    const Rule *latest = nullptr;
    auto found = rules.find(originalOf(op));
    if (found != rules.end())
      for (const Rule *rule : found->second)
        if (rule->since <= version && (!latest || rule->since >= latest->since))
          latest = rule;
    return latest;
  }

private:
  llvm::SmallVector<RuleFamily<Rule>> families;
  llvm::ArrayRef<Alias> aliases;
  llvm::StringMap<llvm::SmallVector<const Rule *, 1>> rules;
  llvm::StringMap<llvm::StringRef> originals;
};

} // namespace tfc::importer
