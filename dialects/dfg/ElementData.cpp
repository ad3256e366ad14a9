//===- ElementData.cpp - The bytes of constants ---------------------------===//
//
// Reads, creates and rounds the elements of constants, wherever these are kept.
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

/// The nearest bf16, ties to even.
static uint16_t toBfloat(uint32_t bits) {
  constexpr uint32_t kInfinity = 0x7f800000, kSign = 0x80000000;
  if ((bits & ~kSign) > kInfinity)
    return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

ElementsAttr tfc::dfg::roundToBfloat(ElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  auto rounded = type.clone(BFloat16Type::get(type.getContext()));
  return rewriteElements(elements, rounded, [&](ArrayRef<char> from, char *to) {
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      uint32_t bits;
      memcpy(&bits, from.data() + i * int64_t(sizeof(bits)), sizeof(bits));
      uint16_t bfloat = toBfloat(bits);
      memcpy(to + i * int64_t(sizeof(bfloat)), &bfloat, sizeof(bfloat));
    }
  });
}
