// The values of an entry, which a file refers to by number, and the regions that may use them.
#pragma once

#include "frontend/flatbuffer/Tables.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::flatbuffer {

/// The values of an entry. A value can be used after its definition, in the region that defines it
/// and in those inside; in a region of the graph form also before.
class Values {
public:
  Values(FileContext &file, Tables &tables) : file(file), tables(tables) {}
  ~Values();
  Values(const Values &) = delete;

  /// Reads the types of all values; false after an error.
  bool read(llvm::ArrayRef<uint32_t> types, mlir::Location location);

  /// Returns the type of a value; null after an error.
  mlir::Type type(uint32_t number, mlir::Location location);
  /// Defines a value; emits an error at `location` if its number is already defined.
  void define(uint32_t number, mlir::Value value, mlir::Location location);
  /// Returns the value as an operand: a placeholder if it is not defined yet or not visible, and
  /// null if the entry has no such number.
  mlir::Value use(uint32_t number, mlir::Location location);
  /// Defines a value as a placeholder, after an error in its definition.
  void forget(uint32_t number, mlir::Location location);

  void beginRegion(bool isGraph);
  /// Ends the region: its values cannot be used any more. Reports those that a graph uses without
  /// defining them.
  void endRegion();

private:
  struct Entry {
    mlir::Type type;
    mlir::Value value, placeholder;
    std::optional<mlir::Location> definition;
    bool isVisible = false;
  };
  struct Scope {
    bool isGraph;
    std::vector<uint32_t> defined;
    /// Uses before the definition.
    std::vector<std::pair<uint32_t, mlir::Location>> pending;
  };
  bool isNumber(uint32_t number, mlir::Location location);
  mlir::Value placeholderFor(Entry &entry);

  FileContext &file;
  Tables &tables;
  std::vector<Entry> entries;
  std::vector<Scope> scopes;
  /// Holds the operations whose results stand for values that are not defined yet.
  mlir::Block placeholders;
};

} // namespace tfc::flatbuffer
