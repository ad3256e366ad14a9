//===- ElementData.cpp - The bytes of constants ---------------------------===//
//
// Reads and creates the elements of constants, wherever these are kept. It knows nothing of their
// values.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/ElementData.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

ElementsAttr tfc::dfg::rewriteElements(ElementsAttr elements, RankedTensorType type,
                                       llvm::function_ref<void(ArrayRef<char>, char *)> write) {
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (bytes == 0 || (dense && dense.isSplat()) || (!dense && !resource))
    return {};
  ArrayRef<char> from = dense ? dense.getRawData() : resource.getRawHandle().getBlob()->getData();
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(type.getNumElements() * bytes, sizeof(std::max_align_t));
  write(from, blob.getMutableData().data());
  if (dense)
    return DenseElementsAttr::getFromRawBuffer(type, blob.getData());
  return DenseResourceElementsAttr::get(type, resource.getRawHandle().getKey(), std::move(blob));
}
