//===- Contraction.cpp - Sums of products ---------------------------------===//
//
// Evaluates `matmul` as one sum of products per element. `contract` is evaluated by its labels in
// Label.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

namespace {
/// A batch of matrices, possibly read transposed.
class Matrices {
public:
  Matrices(const Tensor &x, bool isTransposed) : x(x), isTransposed(isTransposed) {}

  int64_t rows() const { return x.getShape().end()[isTransposed ? -1 : -2]; }
  int64_t columns() const { return x.getShape().end()[isTransposed ? -2 : -1]; }
  /// The offset of an element of the matrix at a (broadcast) position of a batch.
  int64_t offset(ArrayRef<int64_t> batch, int64_t row, int64_t column) const {
    ArrayRef<int64_t> shape = x.getShape();
    int64_t matrix = broadcastOffset(batch, shape.drop_back(2));
    if (isTransposed)
      std::swap(row, column);
    return (matrix * shape.end()[-2] + row) * shape.back() + column;
  }

private:
  const Tensor &x;
  bool isTransposed;
};
} // namespace

static void multiplyReals(Call &call, const Matrices &a, const Matrices &b) {
  Tensor &result = call.result();
  int64_t i = 0;
  for (Positions place(result.getShape()); !place.done(); place.next(), ++i) {
    ArrayRef<int64_t> batch = (*place).drop_back(2);
    Sum sum(result.getElementType());
    for (int64_t k = 0; k < a.columns(); ++k)
      sum.addProduct(call.operand(0).real(a.offset(batch, (*place).end()[-2], k)),
                     call.operand(1).real(b.offset(batch, k, (*place).back())));
    result.setReal(i, sum.get());
  }
}

static void multiplyIntegers(Call &call, const Matrices &a, const Matrices &b) {
  Tensor &result = call.result();
  int64_t i = 0;
  for (Positions place(result.getShape()); !place.done(); place.next(), ++i) {
    ArrayRef<int64_t> batch = (*place).drop_back(2);
    uint64_t sum = 0;
    bool isDetermined = true;
    for (int64_t k = 0; k < a.columns(); ++k) {
      int64_t left = a.offset(batch, (*place).end()[-2], k);
      int64_t right = b.offset(batch, k, (*place).back());
      sum += uint64_t(call.operand(0).integer(left)) * uint64_t(call.operand(1).integer(right));
      isDetermined &= call.operand(0).isDetermined(left) && call.operand(1).isDetermined(right);
    }
    result.setInteger(i, int64_t(sum), isDetermined);
  }
}

static void matmul(MatmulOp op, Call &call) {
  Matrices a(call.operand(0), op.getTransposeLhs()), b(call.operand(1), op.getTransposeRhs());
  if (call.result().isFloat())
    multiplyReals(call, a, b);
  else
    multiplyIntegers(call, a, b);
}

void addContraction(Registry &registry) { registry.add<MatmulOp>(matmul); }

} // namespace tfc::reference
