/// What the parts of the printer share.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/OpTable.h"
#include "frontend/text/print/Print.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc::text {

/// A name as the language reads it: in backquotes unless it is a plain word.
std::string quoteName(llvm::StringRef name);

/// A string as the language reads it, in quotes.
std::string quoteString(llvm::StringRef text);

/// A size, and a type, with names in backquotes where they are words of the language.
std::string sizeText(const dfg::DimExpr &size);
std::string typeText(mlir::Type type);

/// The sizes that operations in a region mention, which expressions name.
llvm::StringSet<> mentionedSizes(mlir::Region &region);

/// Writes a module as graph source.
class GraphPrinter {
public:
  GraphPrinter(mlir::ModuleOp module, llvm::raw_ostream &os, LongConstants *longConstants)
      : module(module), os(&os), longConstants(longConstants) {}

  mlir::LogicalResult print();

private:
  mlir::LogicalResult checkNames();
  void printVariable(dfg::VariableOp variable);
  void printHeader(dfg::EntryOp entry);
  mlir::LogicalResult printEntry(dfg::EntryOp entry);
  mlir::LogicalResult printInitializers(dfg::EntryOp entry);
  mlir::LogicalResult printStatement(mlir::Operation &op);
  mlir::LogicalResult printBlock(mlir::Block &block, unsigned skippedYields = 0);
  mlir::LogicalResult printIf(dfg::IfOp op);
  mlir::LogicalResult printWhile(dfg::WhileOp op);
  bool isRange(dfg::WhileOp op);
  mlir::LogicalResult printFor(dfg::WhileOp op);
  std::optional<std::string> inlineCondition(dfg::WhileOp op);
  mlir::LogicalResult printCondition(dfg::WhileOp op, std::string &text);
  mlir::LogicalResult printConditionFunction(dfg::WhileOp op, llvm::StringRef name,
                                             llvm::ArrayRef<mlir::Value> inputs,
                                             llvm::ArrayRef<std::string> sizes);
  mlir::LogicalResult printDataflow(dfg::DataflowOp op);
  mlir::LogicalResult printNode(dfg::NodeOp op);
  void printQueue(dfg::QueueOp queue);
  std::optional<std::string> queueAccess(mlir::Operation &op);
  mlir::LogicalResult failWithoutText(mlir::Operation &op);
  mlir::LogicalResult checkMeaning(mlir::Operation &op);
  /// A name for a declaration that the printer adds, which nothing in the file has.
  std::string newDeclaredName(llvm::StringRef base, unsigned &count) const;
  mlir::LogicalResult printGradients(dfg::GradientsOp op);
  std::optional<std::string> expression(mlir::Operation &op);
  std::optional<std::string> constant(mlir::ElementsAttr value);
  std::optional<std::string> attribute(mlir::Attribute value);
  std::string call(mlir::Operation &op, const dfg::OpSignature &signature, bool &ok);

  void reserveNames();
  void enterEntry(dfg::EntryOp entry);
  std::string newName(llvm::StringRef base);
  void findImplied();
  /// How an operation or function of the language is called where it has a name of the graph's own.
  std::string functionName(llvm::StringRef name) const;
  /// How a variable or queue is named where feeds or sizes may hide it.
  std::string stateName(llvm::StringRef name);
  /// A size in an expression, where it may need another name than in types.
  std::string sizeInEntry(const dfg::DimExpr &size) const;
  mlir::LogicalResult printSizeAliases(dfg::EntryOp entry);
  std::string nameFor(mlir::Value value);
  std::string use(mlir::Value value) { return names.lookup(value); }
  std::string define(mlir::ValueRange results);
  std::string operandList(mlir::ValueRange values);
  /// "a, b = ", or nothing where the operation has no results.
  std::string targets(mlir::ValueRange results);

  mlir::ModuleOp module;
  llvm::raw_ostream *os;
  LongConstants *longConstants;
  llvm::DenseMap<mlir::Value, std::string> names;
  std::string indent = "  ";
  llvm::StringSet<> taken;
  llvm::StringSet<> reserved;
  /// What the module declares, and the feeds and sizes of all its entries.
  llvm::StringSet<> declared, interfaces;
  /// The feeds of the entry that is printed, and its feeds and sizes or those of the function that
  /// is printed, which hide what the module declares.
  llvm::StringSet<> feeds, inScope;
  /// Other names of sizes whose own expressions cannot use.
  llvm::StringMap<std::string> sizeAliases;
  /// Operations that a 'for' implies.
  llvm::DenseSet<mlir::Operation *> implied;
  /// Functions that give variables their first values, by the variables' names.
  llvm::StringMap<std::string> initializers;
  /// Second names of variables and queues, by their first.
  llvm::StringMap<std::string> stateAliases;
  unsigned initializerCount = 0, conditionCount = 0, stateCount = 0;
  /// Functions and second names that the declaration at hand needs, to be written after it.
  std::string declarations;
};

} // namespace tfc::text
