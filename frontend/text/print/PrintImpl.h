/// Declarations shared by the parts of the printer.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/OpTable.h"
#include "frontend/text/print/Print.h"
#include "frontend/text/print/PrintNames.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc::text {

/// A name in the language's syntax: in backquotes unless it is a plain word.
std::string quoteName(llvm::StringRef name);

/// A string in the language's syntax, in quotes.
std::string quoteString(llvm::StringRef text);

/// Sizes and facts, with names that are keywords in backquotes.
std::string quoteWords(llvm::StringRef text);

/// A size or type, likewise.
std::string sizeText(const dfg::DimExpr &size);
std::string typeText(mlir::Type type);

/// The sizes that operations in a region mention and that expressions must name.
llvm::StringSet<> mentionedSizes(mlir::Region &region);

/// Writes a module as graph source.
class GraphPrinter {
public:
  GraphPrinter(mlir::ModuleOp module, llvm::raw_ostream &os, LongConstants *longConstants,
               bool hasFunctions)
      : module(module), os(&os), longConstants(longConstants), hasFunctions(hasFunctions),
        names(module) {}

  mlir::LogicalResult print();

private:
  void printVariable(dfg::VariableOp variable);
  void printDoc(dfg::EntryOp entry);
  void printSignature(dfg::EntryOp entry, bool hasBounds);
  mlir::LogicalResult printBody(dfg::EntryOp entry);
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
  std::string fieldsText(mlir::ArrayAttr fields, llvm::ArrayRef<mlir::RankedTensorType> types);
  void printQueue(dfg::QueueOp queue);
  void printDataset(dfg::DatasetOp dataset);
  std::optional<std::string> queueAccess(mlir::Operation &op);
  mlir::LogicalResult failWithoutText(mlir::Operation &op);
  mlir::LogicalResult checkMeaning(mlir::Operation &op);
  mlir::LogicalResult printGradients(dfg::GradientsOp op);
  std::optional<std::string> expression(mlir::Operation &op);
  /// `key` names it if it is long.
  std::optional<std::string> constant(mlir::ElementsAttr value, llvm::StringRef key = {});
  std::optional<std::string> attribute(mlir::Attribute value);
  std::string placement(mlir::Operation &op);
  std::string call(mlir::Operation &op, const dfg::OpSignature &signature, bool &ok);

  void findImplied();
  mlir::LogicalResult printSizeAliases(dfg::EntryOp entry);
  /// "a, b = ", or "" if the operation has no results.
  std::string targets(mlir::ValueRange results);

  mlir::ModuleOp module;
  llvm::raw_ostream *os;
  LongConstants *longConstants;
  bool hasFunctions;
  PrintNames names;
  std::string indent = "  ";
  /// Operations that a 'for' implies.
  llvm::DenseSet<mlir::Operation *> implied;
  /// Functions that compute initial values, by the variables' names.
  llvm::StringMap<std::string> initializers;
  /// Functions and aliases that the current declaration needs, printed after it.
  std::string declarations;
};

} // namespace tfc::text
