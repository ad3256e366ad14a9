//===- Arena.h - Where in the arena values are ----------------------------===//
//
// Values of one entry that are alive at different times share memory. Sizes
// fall into regions: those known at compile time (a bounded name counts as its
// bound) are in the first one, in bytes; sizes that are multiples of one
// expression are in another, in units of its value. Within a region offsets
// are best fits over lifetimes; a region starts where the one before it ends.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/pipeline/ModelInfo.h"
#include "dialects/dfg/Dfg.h"

namespace tfc::memory {

class Arena {
public:
  struct Region {
    dfg::DimExpr unit;
    int64_t units = 0; // a multiple of the alignment
  };
  struct Slot {
    unsigned region;
    int64_t offset; // in the region's units
  };

  Arena(dfg::EntryOp entry, const EntryInfo &info, mlir::SymbolTable &symbols);

  llvm::ArrayRef<Region> getRegions() const { return regions; }

  /// The memory of a root that is in the arena: results of launches and branches, the first buffer
  /// of a carried value, elements of lists and tapes, scalars that are read from memory, the saved
  /// value of a variable (its read) that is assigned to another one.
  std::optional<Slot> slotOf(mlir::Value root) const { return slotAt(values, root); }
  /// The second buffer of a loop's result, where it has two.
  std::optional<Slot> otherSlotOf(mlir::Value result) const { return slotAt(others, result); }
  /// A launch's scratch; nothing where the kernel needs none.
  std::optional<Slot> scratchOf(mlir::Operation *launch) const { return slotAt(scratch, launch); }

  /// Returns true if it has more bytes than a processor can address.
  bool isTooLarge() const { return tooLarge; }

private:
  struct Buffer {
    dfg::DimExpr bytes;
    unsigned begin, end; // steps, both included
  };

  template <typename Map, typename Key> std::optional<Slot> slotAt(const Map &map, Key key) const {
    auto it = map.find(key);
    return it == map.end() ? std::nullopt : std::optional(slots[it->second]);
  }
  void collectValues(dfg::EntryOp entry, mlir::SymbolTable &symbols);
  void visit(mlir::Block &block, mlir::SymbolTable &symbols);
  void visitLaunch(dfg::LaunchOp launch, mlir::SymbolTable &symbols);
  void visitRegions(mlir::Operation *op, mlir::SymbolTable &symbols);
  unsigned addBuffer(mlir::Value value);
  void extend(mlir::Value value);
  void collectSaved(dfg::EntryOp entry, unsigned lastStep);
  void place();
  void placeRegion(unsigned region, llvm::ArrayRef<std::pair<unsigned, int64_t>> sizes);

  const EntryInfo &info;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots; // of the buffers
  std::vector<Region> regions;
  llvm::DenseMap<mlir::Value, unsigned> values, others;
  bool tooLarge = false;
  unsigned step = 0; // while lifetimes are collected
  llvm::DenseMap<mlir::Operation *, unsigned> scratch;
};

} // namespace tfc::memory
