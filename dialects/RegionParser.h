//===- RegionParser.h - Regions in hand-written assembly formats -----------===//
//
// A value of a region may have uses before the operation, until the module is verified. The parser
// drops such uses before it destroys the regions of a state after an error. Parsers that are
// generated from `assemblyFormat` keep regions out of the state until all else is parsed, so that
// the uses would outlive the values: operations with regions have parsers that are written by hand.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/OpImplementation.h"

namespace tfc {

/// Parses a region of at least one block into `state`.
inline mlir::ParseResult parseRegion(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  mlir::Region *region = state.addRegion();
  if (parser.parseRegion(*region))
    return mlir::failure();
  if (region->empty())
    region->emplaceBlock();
  return mlir::success();
}

/// Parses `-> types` into `state`, or nothing.
inline mlir::ParseResult parseOptionalResultTypes(mlir::OpAsmParser &parser,
                                                  mlir::OperationState &state) {
  if (parser.parseOptionalArrow())
    return mlir::success();
  return parser.parseTypeList(state.types);
}

/// Prints `-> types` of the results, or nothing.
inline void printOptionalResultTypes(mlir::OpAsmPrinter &printer, mlir::TypeRange types) {
  if (!types.empty())
    printer << " -> " << types;
}

/// Prints the attributes and, separated by `keyword`, the regions.
inline void printAttributesAndRegions(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                                      llvm::StringRef keyword = "") {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs());
  for (mlir::Region &region : op->getRegions()) {
    if (region.getRegionNumber() > 0)
      printer << ' ' << keyword;
    printer << ' ';
    printer.printRegion(region);
  }
}

} // namespace tfc
