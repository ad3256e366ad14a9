// Lists the operations that a reader supports, for the pages that tools/gen-docs writes.
#pragma once

#include "frontend/importer/OperationTable.h"
#include "frontend/importer/Signature.h"
#include "frontend/text/elaborate/LibraryCalls.h"
#include "llvm/Support/JSON.h"

namespace tfc::importer {

/// A list of objects: `op`, `file`, `since`, `inputs`, `outputs` and `attributes` of a rule, the
/// `argument` of its function, and `limits`. Functions have no versions, outputs and limits;
/// aliases have `op` and `same_as`.
class OperationList {
public:
  /// Adds the rules of a table, and its aliases, but not operations that only readers create, whose
  /// names begin with an underscore.
  template <typename Rule> void addTable(const OperationTable<Rule> &table) {
    for (const RuleFamily<Rule> &family : table.getFamilies())
      for (const Rule &rule : family.rules)
        if (!rule.op.starts_with("_"))
          addRule(family.file, rule.op, rule.since, rule.signature, rule.argument, rule.limits);
    for (const Alias &alias : table.getAliases())
      operations.push_back(llvm::json::Object{{"op", alias.name}, {"same_as", alias.op}});
  }

  /// Adds the functions of shipped files that are operations.
  void addFunctions(mlir::MLIRContext &context, llvm::ArrayRef<llvm::StringRef> files);

  llvm::json::Value finish() { return std::move(operations); }

private:
  void addRule(llvm::StringRef file, llvm::StringRef op, int64_t since, const Signature &signature,
               llvm::StringRef argument, llvm::StringRef limits);
  void addFunction(llvm::StringRef file, llvm::StringRef op,
                   llvm::ArrayRef<text::LibraryCalls::Parameter> parameters);

  llvm::json::Array operations;
};

} // namespace tfc::importer
