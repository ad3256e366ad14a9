//===- Generator.h - Random programs --------------------------------------===//

#pragma once

#include "StatementGenerator.h"

namespace tfc::random {

/// Generates a program: its variables, its entries of random statements, and the calls of these.
class Generator {
public:
  Generator(mlir::MLIRContext &context, uint64_t seed, const Style &style);

  Program run();

private:
  void choosePalette();
  void makeVariables();
  void makeEntry(unsigned number);
  void makeReader();
  void finishEntry();
  void planCalls();
  std::map<std::string, int64_t> drawSizes();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  Scope scope;
  OperationGenerator operations{scope};
  FamilyGenerator families{scope, operations};
  StatementGenerator statements{scope, operations, families};
  std::vector<CallPlan> calls;
  std::vector<std::string> entryNames;
};

} // namespace tfc::random
