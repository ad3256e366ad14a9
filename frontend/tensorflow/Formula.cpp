// Formulas of dfg operations, by which tables say what an operation of TensorFlow computes.

#include "frontend/tensorflow/Importer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

namespace {

/// Reads `name(argument, ...)`, numbers and the letters of operands. Formulas are ours, so they are
/// not checked.
class Formula {
public:
  Formula(NodeBuilder &node, StringRef text, ArrayRef<Value> values)
      : node(node), text(text), values(values) {}

  Value read() {
    text = text.ltrim();
    if (isDigit(text.front()) || text.front() == '-')
      return readNumber();
    StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_'; });
    text = text.drop_front(name.size());
    if (!text.consume_front("("))
      return operand(name.front() - 'a');
    SmallVector<Value> arguments;
    do
      arguments.push_back(read());
    while (text.consume_front(","));
    text.consume_front(")");
    return node.op(name, arguments);
  }

private:
  Value operand(unsigned i) {
    if (i < values.size())
      return values[i];
    node.error() << "expected more than " << values.size() << " inputs [graph-edge]";
    return {};
  }

  /// Numbers have the dtype of the first operand that is not bool.
  Value readNumber() {
    StringRef digits = text.take_while([](char c) { return isDigit(c) || c == '.' || c == '-'; });
    text = text.drop_front(digits.size());
    double number = 0;
    digits.getAsDouble(number);
    for (Value value : values) {
      if (!value)
        return {};
      Type type = dfg::elementTypeOf(value.getType());
      if (!type.isInteger(1))
        return node.scalar(number, type);
    }
    return {};
  }

  NodeBuilder &node;
  StringRef text;
  ArrayRef<Value> values;
};

} // namespace

Value NodeBuilder::formula(StringRef text, ArrayRef<Value> values) {
  if (llvm::any_of(values, [](Value value) { return !value; }))
    return {};
  return Formula(*this, text, values).read();
}

} // namespace tfc::tensorflow
