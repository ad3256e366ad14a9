// Writes the attributes that the frontend creates. Those that only later stages attach have no form
// in a file.
#include "frontend/flatbuffer/AttributeWriter.h"

#include "dialects/dfg/Devices.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

using Kind = tfg::AttributeValue;
using flatbuffers::Offset;

Offset<tfg::Attribute> AttributeWriter::finish(StringRef name, const Value &value) {
  auto text = name.empty() ? Offset<flatbuffers::String>() : tables.text(name);
  return tfg::CreateAttribute(buffer, text, value.kind, value.offset);
}

AttributeWriter::Value AttributeWriter::writeNumber(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return make(Kind::BoolValue, tfg::CreateBoolValue(buffer, flag.getValue()));
  if (auto integer = dyn_cast<IntegerAttr>(attribute);
      integer && integer.getType().isSignlessInteger())
    return make(Kind::IntValue, tfg::CreateIntValue(buffer, integer.getInt()));
  if (auto number = dyn_cast<FloatAttr>(attribute); number && number.getType().isF64())
    return make(Kind::FloatValue, tfg::CreateFloatValue(buffer, number.getValueAsDouble()));
  return {};
}

AttributeWriter::Value AttributeWriter::writeArray(Attribute attribute) {
  if (auto flags = dyn_cast<DenseBoolArrayAttr>(attribute)) {
    std::vector<uint8_t> values(flags.asArrayRef().begin(), flags.asArrayRef().end());
    return make(Kind::BoolList, tfg::CreateBoolList(buffer, buffer.CreateVector(values)));
  }
  if (auto integers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    ArrayRef<int64_t> values = integers.asArrayRef();
    return make(Kind::IntList,
                tfg::CreateIntList(buffer, buffer.CreateVector(values.data(), values.size())));
  }
  if (auto numbers = dyn_cast<DenseF64ArrayAttr>(attribute)) {
    ArrayRef<double> values = numbers.asArrayRef();
    return make(Kind::FloatList,
                tfg::CreateFloatList(buffer, buffer.CreateVector(values.data(), values.size())));
  }
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array)
    return {};
  SmallVector<NamedAttribute> values;
  auto unnamed = StringAttr::get(attribute.getContext(), "-");
  for (Attribute value : array)
    values.emplace_back(unnamed, value);
  std::optional<Offsets> written = writeAll(values);
  return written ? make(Kind::AttributeList,
                        tfg::CreateAttributeList(buffer, buffer.CreateVector(*written)))
                 : Value();
}

/// Returns true for types that a file has.
static bool hasForm(Type type) { return dfg::isDtype(type) || dfg::isValueType(type); }

AttributeWriter::Value AttributeWriter::write(Attribute attribute) {
  if (isa<UnitAttr>(attribute))
    return make(Kind::Flag, tfg::CreateFlag(buffer));
  if (auto text = dyn_cast<StringAttr>(attribute))
    return make(Kind::TextValue, tfg::CreateTextValue(buffer, tables.text(text.getValue())));
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute))
    return make(Kind::SymbolValue, tfg::CreateSymbolValue(buffer, tables.text(symbol.getValue())));
  if (auto type = dyn_cast<TypeAttr>(attribute); type && hasForm(type.getValue()))
    return make(Kind::TypeValue, tfg::CreateTypeValue(buffer, tables.number(type.getValue())));
  if (auto sizes = dyn_cast<dfg::DimsAttr>(attribute))
    return make(Kind::SizeList, tfg::CreateSizeList(buffer, tables.write(sizes)));
  if (auto elements = dyn_cast<ElementsAttr>(attribute);
      elements && isa<DenseElementsAttr, DenseResourceElementsAttr>(attribute)) {
    std::optional<Offset<tfg::Constant>> constant = tables.write(elements);
    return constant ? make(Kind::ConstantValue, tfg::CreateConstantValue(buffer, *constant))
                    : Value();
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    std::optional<Offsets> entries = writeAll(dictionary.getValue());
    return entries ? make(Kind::Dictionary,
                          tfg::CreateDictionary(buffer, buffer.CreateVector(*entries)))
                   : Value();
  }
  Value number = writeNumber(attribute);
  return number.kind == Kind::NONE ? writeArray(attribute) : number;
}

std::optional<AttributeWriter::Offsets>
AttributeWriter::writeAll(ArrayRef<NamedAttribute> attributes) {
  Offsets offsets;
  for (NamedAttribute attribute : attributes) {
    Value value = write(attribute.getValue());
    if (value.kind == Kind::NONE)
      return std::nullopt;
    offsets.push_back(finish(attribute.getName().getValue(), value));
  }
  return offsets;
}

/// Writes the word that an attribute represents.
AttributeWriter::Value AttributeWriter::writeWord(Attribute attribute,
                                                  const dfg::AttrSignature &signature) {
  std::optional<StringRef> word = signature.toWord(attribute);
  return word ? make(Kind::TextValue, tfg::CreateTextValue(buffer, tables.text(*word))) : Value();
}

FailureOr<AttributeWriter::Offsets> AttributeWriter::write(Operation *op) {
  const dfg::OpSignature *signature = dfg::lookupOp(op->getName().stripDialect());
  Offsets offsets;
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName().getValue();
    if (name == dfg::kDeviceAttr || name == dfg::kColocateAttr)
      continue; // fields of their own
    if (name == dfg::kListAttr)
      continue; // of a stage, which numbers lists again
    const dfg::AttrSignature *known = signature->findAttribute(name);
    Value value;
    if (known)
      value = known->kind == dfg::OpAttrKind::Enum ? writeWord(attribute.getValue(), *known)
                                                   : write(attribute.getValue());
    if (value.kind == Kind::NONE)
      return op->emitError("'") << signature->name << "' with the attribute '" << name
                                << "' has no binary form [no-binary-form]";
    offsets.push_back(finish(name, value));
  }
  return offsets;
}

} // namespace tfc::flatbuffer
