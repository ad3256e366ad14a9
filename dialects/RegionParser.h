//===- RegionParser.h - Regions in hand-written assembly formats ----------===//
//
// Until a module is verified, values defined in a region may have uses before the operation. After
// an error, the parser drops such uses before it destroys the regions of an operation state.
// Parsers generated from `assemblyFormat` add regions to the state only after everything else has
// been parsed, so that these uses would outlive the values. Operations with regions therefore have
// hand-written parsers.
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

/// Parses an optional `-> types` into `state`.
inline mlir::ParseResult parseOptionalResultTypes(mlir::OpAsmParser &parser,
                                                  mlir::OperationState &state) {
  if (parser.parseOptionalArrow())
    return mlir::success();
  return parser.parseTypeList(state.types);
}

/// Prints `-> types` if there are results.
inline void printOptionalResultTypes(mlir::OpAsmPrinter &printer, mlir::TypeRange types) {
  if (!types.empty())
    printer << " -> " << types;
}

/// Prints the attributes and the regions, separated by `keyword`.
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
