// The values of an entry by their numbers, and where they may be used.
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

  /// The type of a value; null after an error.
  mlir::Type type(uint32_t number, mlir::Location location);
  /// Defines a value; errors at `location` if another one has its number.
  void define(uint32_t number, mlir::Value value, mlir::Location location);
  /// A value that an operation uses; one that stands for it after an error, or where it is not
  /// defined yet; null if there is no such number.
  mlir::Value use(uint32_t number, mlir::Location location);
  /// Defines a value whose type is unknown, after an error.
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
  /// Stand for values that are not defined yet.
  mlir::Block placeholders;
};

} // namespace tfc::flatbuffer
