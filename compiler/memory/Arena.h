//===- Arena.h - Offsets of values in the arena ---------------------------===//
//
// Values of an entry share memory if their live ranges do not overlap. Buffers are divided into
// regions by their sizes: buffers of constant size (a bounded name counts as its bound) are in the
// first region, in bytes; sizes that are multiples of the same expression are in a common region,
// in units of its value. Within a region, offsets are chosen by best fit over live ranges; each
// region starts where the previous one ends.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/pipeline/ModelInfo.h"
#include "dialects/dfg/MessageOps.h"

namespace tfc::memory {

class Arena {
public:
  struct Region {
    dfg::DimExpr unit;
    int64_t units = 0; // a multiple of the alignment
  };
  struct Slot {
    unsigned region;
    int64_t offset; // in units of the region
  };

  Arena(dfg::EntryOp entry, const EntryInfo &info, mlir::SymbolTable &symbols);

  llvm::ArrayRef<Region> getRegions() const { return regions; }

  /// Returns the slot of a root in the arena: results of launches and branches, the first buffer of
  /// a carried value, elements of lists and tapes, scalars that are read from memory, and saved
  /// values of variables (their reads) that are assigned to other variables.
  std::optional<Slot> slotOf(mlir::Value root) const { return slotAt(values, root); }
  /// Returns the second buffer of a loop's result, if it has two.
  std::optional<Slot> otherSlotOf(mlir::Value result) const { return slotAt(others, result); }
  /// Returns the scratch memory of a launch or the buffers of a send, or std::nullopt if it needs
  /// none.
  std::optional<Slot> scratchOf(mlir::Operation *op) const { return slotAt(scratch, op); }

  /// Returns true if the arena has more bytes than a processor can address.
  bool isTooLarge() const { return tooLarge; }

private:
  struct Buffer {
    dfg::DimExpr bytes;
    unsigned begin, end; // steps, inclusive
  };

  template <typename Map, typename Key> std::optional<Slot> slotAt(const Map &map, Key key) const {
    auto it = map.find(key);
    return it == map.end() ? std::nullopt : std::optional(slots[it->second]);
  }
  void collectValues(dfg::EntryOp entry, mlir::SymbolTable &symbols);
  void visit(mlir::Block &block, mlir::SymbolTable &symbols);
  void visitLaunch(dfg::LaunchOp launch, mlir::SymbolTable &symbols);
  void visitSend(dfg::SendOp send);
  void visitRegions(mlir::Operation *op, mlir::SymbolTable &symbols);
  unsigned addBuffer(mlir::Value value);
  void extend(mlir::Value value);
  void collectSaved(dfg::EntryOp entry, unsigned lastStep);
  void place();
  void placeRegion(unsigned region, llvm::ArrayRef<std::pair<unsigned, int64_t>> sizes);

  const EntryInfo &info;
  bool isRemote; // on a device with memory of its own
  std::vector<Buffer> buffers;
  std::vector<Slot> slots; // of the buffers
  std::vector<Region> regions;
  llvm::DenseMap<mlir::Value, unsigned> values, others;
  bool tooLarge = false;
  unsigned step = 0; // the current step while live ranges are collected
  llvm::DenseMap<mlir::Operation *, unsigned> scratch;
};

} // namespace tfc::memory
