// The emitter of convolutions that are computed by transforms of tiles.
#pragma once

#include "compiler/cpu/Contraction.h"
#include "compiler/cpu/ContractionMicro.h"
#include "compiler/cpu/LinearCode.h"
#include "compiler/cpu/LoopEmitter.h"
#include "compiler/kernels/emit/ProductEmitter.h"

namespace tfc::cpu {

/// Emits the units of one convolution. A unit transforms tiles of the image, multiplies them with
/// the weights, and transforms the products to results: all of it on the stack.
class WinogradEmitter : LoopEmitter {
public:
  WinogradEmitter(KernelEmitter &emitter, const Target &target, const ContractionNest &nest,
                  const ContractionPlan &plan, const ContractionForm &form,
                  const ImageConvolution &convolution);

  void emit(mlir::Value begin, mlir::Value end);

private:
  using Vectors = llvm::SmallVector<mlir::Value>;
  /// A tile: its image, and the first row and column of its results.
  struct Tile {
    mlir::Value image, row, column;
  };
  /// Panels of a group: its first one, and how many of them exist.
  struct Group {
    mlir::Value firstPanel, panels;
  };
  /// A panel of a group: its number in the group, its vectors and their masks, and its columns.
  struct Panel {
    mlir::Value number;
    int64_t vectors, width;
    mlir::Value mask; // of the last vector; null for all lanes
  };

  void emitUnit(mlir::Value unit);
  void emitGroup(const Group &group);
  Tile tileAt(mlir::Value number);

  void transformElements(mlir::Value firstChannel, mlir::Value channels);
  void transformTile(mlir::Value number, mlir::Value firstChannel, mlir::Value channels);

  void multiply(const Group &group, mlir::Value firstChannel, mlir::Value channels);
  void forEachPanel(const Group &group, llvm::function_ref<void(const Panel &)> body);
  void emitRows(const Group &group, const Panel &panel, mlir::Value element, mlir::Value row,
                int64_t rows, mlir::Value firstChannel, mlir::Value channels);
  mlir::Value weightsAt(const Group &group, const Panel &panel, mlir::Value element,
                        mlir::Value channel);
  mlir::Value productAt(mlir::Value element, mlir::Value tile, mlir::Value column);

  void storeResults(const Group &group);
  void storeTile(const Group &group, mlir::Value number);
  void storeVector(const Tile &tile, mlir::AffineDimExpr feature, mlir::Value products);
  void ifExists(mlir::Value first, int64_t number, const ImageAxis &axis,
                llvm::function_ref<void()> body);

  mlir::Value elementAt(mlir::Value element, mlir::Value tile, mlir::Value channel);
  mlir::Value at(mlir::Value pointer, mlir::Value index) {
    return advance(b, loc, pointer, form.computeType, index, Stride{1, {}});
  }
  mlir::Value load(mlir::Value pointer) {
    return loadLanes(b, loc, pointer, form.computeType, plan.lanes, nullptr);
  }
  void forVectors(mlir::Value count, int64_t rest,
                  llvm::function_ref<void(mlir::Value, mlir::Value)> body);

  /// The channels of a matrix of products, if these are packed.
  int64_t matrixChannels() const { return std::min(winograd.channels, convolution.channels); }
  int64_t columns() const { return winograd.columns(plan.lanes); }

  KernelEmitter &emitter;
  const Target &target;
  const ContractionNest &nest;
  const ContractionPlan &plan;
  const WinogradPlan &winograd;
  const ContractionForm &form;
  const ImageConvolution &convolution;

  /// The matrices along one axis that make transformed elements, and results of these.
  struct AxisCode {
    explicit AxisCode(const dfg::WinogradMatrices &matrices)
        : ofElements(matrices.ofElements, matrices.size),
          ofResults(matrices.ofResults, matrices.size) {}
    LinearCode ofElements, ofResults;
  } ofRows, ofColumns;
  /// Transformed elements, [elements of a tile][tiles][channels], and products, [elements of a
  /// tile][tiles][columns]: both have a stride between matrices with which these share no sets of
  /// the first-level cache.
  mlir::Value elements, products;
  int64_t elementsStride, productsStride, productsRow;
  // Of the unit that is being emitted.
  mlir::Value firstTile, tileCount;
};

} // namespace tfc::cpu
