// Reads attributes. The definition of an operation determines the kind of each attribute, the width
// of an integer and the words of an enumeration; a value of another kind is refused.
#include "frontend/flatbuffer/Attributes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

using Kind = tfg::AttributeValue;

/// The kind of value that represents an attribute, or NONE for any.
static Kind kindOf(dfg::OpAttrKind kind) {
  switch (kind) {
  case dfg::OpAttrKind::Bool:
    return Kind::BoolValue;
  case dfg::OpAttrKind::BoolList:
    return Kind::BoolList;
  case dfg::OpAttrKind::Dims:
    return Kind::SizeList;
  case dfg::OpAttrKind::Dtype:
    return Kind::TypeValue;
  case dfg::OpAttrKind::Enum:
  case dfg::OpAttrKind::String:
    return Kind::TextValue;
  case dfg::OpAttrKind::Float:
    return Kind::FloatValue;
  case dfg::OpAttrKind::Int:
    return Kind::IntValue;
  case dfg::OpAttrKind::IntList:
    return Kind::IntList;
  case dfg::OpAttrKind::NamedSizes:
    return Kind::Dictionary;
  case dfg::OpAttrKind::Symbol:
    return Kind::SymbolValue;
  case dfg::OpAttrKind::Unit:
    return Kind::Flag;
  case dfg::OpAttrKind::Value:
    return Kind::ConstantValue;
  case dfg::OpAttrKind::Other:
    return Kind::NONE;
  }
  return Kind::NONE;
}

void Attributes::read(const AttributeVector *attributes, const dfg::OpSignature &op,
                      Location location, NamedAttrList &result) {
  for (const tfg::Attribute *attribute : elementsOf(attributes)) {
    StringRef name = file.text(attribute->name());
    const dfg::AttrSignature *signature = op.findAttribute(name);
    if (!signature)
      emitError(location) << "'" << op.name << "' has no attribute '" << name
                          << "' [graph-attribute]";
    else if (result.get(name))
      emitError(location) << "'" << op.name << "' has two attributes '" << name
                          << "' [graph-attribute]";
    else if (Attribute value = readAs(*attribute, *signature, location))
      result.append(name, value);
  }
}

/// The attribute that represents a word of an enumeration.
Attribute Attributes::readWord(StringRef word, const dfg::AttrSignature &signature,
                               Location location) {
  if (Attribute known = signature.fromWord(word, file.getContext()))
    return known;
  InFlightDiagnostic error = emitError(location);
  error << "expected a word of '" << signature.name << "', but got '" << word
        << "'; the words are ";
  interleaveComma(signature.cases, error, [&](const dfg::EnumCase &known) { error << known.name; });
  error << " [graph-attribute]";
  return {};
}

Attribute Attributes::readAs(const tfg::Attribute &attribute, const dfg::AttrSignature &signature,
                             Location location) {
  Kind kind = attribute.value_type(), expected = kindOf(signature.kind);
  if (expected != Kind::NONE && kind != expected) {
    emitError(location) << "expected " << tfg::EnumNameAttributeValue(expected) << " for '"
                        << signature.name << "', but got "
                        << (kind == Kind::NONE ? "nothing" : tfg::EnumNameAttributeValue(kind))
                        << " [graph-attribute]";
    return {};
  }
  if (!attribute.value()) {
    emitError(location) << "the attribute '" << signature.name
                        << "' has no value [graph-attribute]";
    return {};
  }
  if (signature.kind == dfg::OpAttrKind::Enum)
    return readWord(file.text(attribute.value_as_TextValue()->value()), signature, location);
  if (signature.kind != dfg::OpAttrKind::Int || signature.width == 64)
    return readAny(attribute, location);
  int64_t value = attribute.value_as_IntValue()->value();
  if (isIntN(signature.width, value))
    return IntegerAttr::get(IntegerType::get(file.getContext(), signature.width), value);
  emitError(location) << "'" << signature.name << "' is an integer of " << signature.width
                      << " bits, but got " << value << " [graph-attribute]";
  return {};
}

Attribute Attributes::readList(const AttributeVector *attributes, Location location,
                               unsigned depth) {
  SmallVector<Attribute> values;
  for (const tfg::Attribute *attribute : elementsOf(attributes)) {
    values.push_back(readAny(*attribute, location, depth));
    if (!values.back())
      return {};
  }
  return ArrayAttr::get(file.getContext(), values);
}

Attribute Attributes::readDictionary(const AttributeVector *attributes, Location location,
                                     unsigned depth) {
  NamedAttrList entries;
  for (const tfg::Attribute *attribute : elementsOf(attributes)) {
    StringRef name = file.text(attribute->name());
    Attribute value = readAny(*attribute, location, depth);
    if (!value)
      return {};
    if (name.empty() || entries.set(name, value)) {
      emitError(location) << "expected entries of different names, but got two '" << name
                          << "' [graph-attribute]";
      return {};
    }
  }
  return entries.getDictionary(file.getContext());
}

Attribute Attributes::readAny(const tfg::Attribute &attribute, Location location, unsigned depth) {
  Builder builder(file.getContext());
  if (depth > kMaxLists) {
    emitError(location) << "attributes are nested more than " << kMaxLists
                        << " levels deep [too-deep]";
    return {};
  }
  if (attribute.value()) {
    switch (attribute.value_type()) {
    case Kind::Flag:
      return builder.getUnitAttr();
    case Kind::BoolValue:
      return builder.getBoolAttr(attribute.value_as_BoolValue()->value());
    case Kind::IntValue:
      return builder.getI64IntegerAttr(attribute.value_as_IntValue()->value());
    case Kind::FloatValue:
      return builder.getF64FloatAttr(attribute.value_as_FloatValue()->value());
    case Kind::TextValue:
      return builder.getStringAttr(file.text(attribute.value_as_TextValue()->value()));
    case Kind::SymbolValue:
      return FlatSymbolRefAttr::get(file.getContext(),
                                    file.text(attribute.value_as_SymbolValue()->value()));
    case Kind::BoolList: {
      ArrayRef<uint8_t> flags = file.numbers(attribute.value_as_BoolList()->values());
      SmallVector<bool> values(map_range(flags, [](uint8_t flag) { return flag != 0; }));
      return builder.getDenseBoolArrayAttr(values);
    }
    case Kind::IntList:
      return builder.getDenseI64ArrayAttr(file.numbers(attribute.value_as_IntList()->values()));
    case Kind::FloatList:
      return builder.getDenseF64ArrayAttr(file.numbers(attribute.value_as_FloatList()->values()));
    case Kind::TypeValue: {
      Type type = tables.type(attribute.value_as_TypeValue()->type(), location);
      return type ? Attribute(TypeAttr::get(type)) : Attribute();
    }
    case Kind::SizeList:
      return tables.sizes(attribute.value_as_SizeList()->sizes(), location);
    case Kind::ConstantValue:
      if (const tfg::Constant *constant = attribute.value_as_ConstantValue()->value())
        return constants.read(*constant, location);
      break;
    case Kind::AttributeList:
      return readList(attribute.value_as_AttributeList()->values(), location, depth + 1);
    case Kind::Dictionary:
      return readDictionary(attribute.value_as_Dictionary()->entries(), location, depth + 1);
    case Kind::NONE:
      break;
    }
  }
  emitError(location) << "expected a value in each attribute [graph-attribute]";
  return {};
}

} // namespace tfc::flatbuffer
