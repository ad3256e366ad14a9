// The declarations of a file: variables, other symbols, entries.
#pragma once

#include "frontend/flatbuffer/Nodes.h"

namespace tfc::flatbuffer {

/// Creates the declarations and the entries of a graph.
class Declarations {
public:
  Declarations(mlir::ModuleOp module, FileContext &file, Tables &tables, Constants &constants)
      : module(module), builder(module), file(file), tables(tables), constants(constants),
        attributes(file, tables, constants) {}

  void create(const tfg::Graph &graph);

private:
  void createDeclaration(const tfg::Declaration &declaration, size_t number);
  void createVariable(const tfg::Variable &variable);
  void createEntry(const tfg::Entry &entry);
  EntryHeader readHeader(const tfg::Entry &entry, Values &values, mlir::Location location);
  void addSizes(const tfg::Entry &entry, EntryHeader &header, mlir::Location location);
  std::optional<dfg::Fact> readFact(const tfg::Fact &fact, mlir::Location location);
  void addFeeds(const tfg::Entry &entry, EntryHeader &header, Values &values,
                mlir::Location location);
  void finishEntry(const tfg::Entry &entry, mlir::Location location);
  void assignInitialValues();

  /// A variable with its initial value.
  struct Initial {
    llvm::StringRef variable;
    mlir::ElementsAttr value;
    mlir::Location location;
  };
  mlir::ModuleOp module;
  GraphBuilder builder;
  FileContext &file;
  Tables &tables;
  Constants &constants;
  Attributes attributes;
  std::vector<Initial> initials;
};

} // namespace tfc::flatbuffer
