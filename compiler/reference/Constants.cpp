//===- Constants.cpp - Tensors known at compile time ----------------------===//
//
// Evaluates constants, whose elements are in the operation or in a resource.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Constants.h"
#include "compiler/reference/Registry.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

static void setFloat(Tensor &tensor, int64_t i, llvm::APFloat value) {
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  tensor.setRounded(i, {value.convertToDouble(), 0}, 0);
}

static void fillDense(Tensor &tensor, DenseElementsAttr value) {
  int64_t i = 0;
  if (tensor.isFloat())
    for (const llvm::APFloat &element : value.getValues<llvm::APFloat>())
      setFloat(tensor, i++, element);
  else
    for (const llvm::APInt &element : value.getValues<llvm::APInt>())
      tensor.setInteger(i++, int64_t(element.getRawData()[0]));
}

/// A resource holds the bytes of the elements; a bool has one.
static void fillResource(Tensor &tensor, DenseResourceElementsAttr value) {
  Type dtype = tensor.getElementType();
  unsigned bits = dtype.getIntOrFloatBitWidth(), bytes = std::max(bits / 8, 1u);
  const char *data = value.getData().data();
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t element = 0;
    memcpy(&element, data + i * bytes, bytes); // little-endian, like all targets of tfc
    if (auto type = dyn_cast<FloatType>(dtype))
      setFloat(tensor, i, llvm::APFloat(type.getFloatSemantics(), llvm::APInt(bits, element)));
    else
      tensor.setInteger(i, int64_t(element));
  }
}

void fill(Tensor &tensor, ElementsAttr constant) {
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    fillDense(tensor, dense);
  else
    fillResource(tensor, cast<DenseResourceElementsAttr>(constant));
}

void addConstants(Registry &registry) {
  registry.add<ConstantOp>([](ConstantOp op, Call &call) { fill(call.result(), op.getValue()); });
}

} // namespace tfc::reference
