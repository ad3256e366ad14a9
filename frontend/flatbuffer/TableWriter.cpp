// Writes types, places and constants, each once.
#include "frontend/flatbuffer/TableWriter.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

using flatbuffers::Offset;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Offset<flatbuffers::Vector<Offset<tfg::Size>>> TableWriter::write(dfg::DimsAttr dims) {
  std::vector<Offset<tfg::Size>> sizes;
  for (const dfg::DimExpr &size : dims.getExprs()) {
    std::optional<int64_t> constant = size.constant();
    Offset<flatbuffers::String> formula;
    if (!constant)
      formula = text(size.canonical());
    sizes.push_back(tfg::CreateSize(buffer, constant.value_or(0), formula));
  }
  return buffer.CreateVector(sizes);
}

Offset<tfg::Type> TableWriter::writeType(Type type) {
  if (isa<dfg::TokenType>(type))
    return tfg::CreateType(buffer, tfg::TypeKind::Token);
  auto list = dyn_cast<dfg::ListType>(type);
  auto tensor = list ? list.getElementType() : dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return tfg::CreateType(buffer, tfg::TypeKind::Element, text(dfg::toText(type)));
  auto sizes = write(dfg::DimsAttr::get(type.getContext(), dfg::shapeOf(tensor)));
  auto element = text(dfg::toText(tensor.getElementType()));
  return tfg::CreateType(buffer, list ? tfg::TypeKind::List : tfg::TypeKind::Tensor, element,
                         sizes);
}

uint32_t TableWriter::number(Type type) {
  auto [known, isNew] = typeNumbers.try_emplace(type, types.size());
  if (isNew)
    types.push_back(writeType(type));
  return known->second;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Offset<tfg::Place> TableWriter::writePlace(Location location) {
  Offset<flatbuffers::String> none;
  if (auto range = dyn_cast<FileLineColRange>(location))
    return tfg::CreatePlace(buffer, tfg::PlaceKind::Range, text(range.getFilename().getValue()),
                            range.getStartLine(), range.getStartColumn(), range.getEndLine(),
                            range.getEndColumn());
  if (auto named = dyn_cast<NameLoc>(location))
    return tfg::CreatePlace(buffer, tfg::PlaceKind::Name, none, 0, 0, 0, 0,
                            text(named.getName().getValue()), number(named.getChildLoc()));
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return tfg::CreatePlace(buffer, tfg::PlaceKind::Call, none, 0, 0, 0, 0, none,
                            number(call.getCallee()), number(call.getCaller()));
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return tfg::CreatePlace(buffer, tfg::PlaceKind::Unknown);
  std::vector<int32_t> parts;
  for (Location part : fused.getLocations())
    parts.push_back(number(part));
  auto called = dyn_cast_or_null<StringAttr>(fused.getMetadata());
  return tfg::CreatePlace(buffer, tfg::PlaceKind::Fused, none, 0, 0, 0, 0,
                          called ? text(called.getValue()) : none, -1, -1,
                          buffer.CreateVector(parts));
}

int32_t TableWriter::number(Location location) {
  auto known = placeNumbers.find(location);
  if (known != placeNumbers.end())
    return known->second;
  Offset<tfg::Place> place = writePlace(location); // after its parts
  places.push_back(place);
  return placeNumbers[location] = static_cast<int32_t>(places.size() - 1);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The elements as bytes, one for each bool.
static std::vector<uint8_t> bytesOf(DenseElementsAttr value, bool isSplat) {
  std::vector<uint8_t> bytes;
  if (value.getElementType().isInteger(1)) {
    if (isSplat)
      bytes.push_back(value.getSplatValue<bool>());
    else
      for (bool flag : value.getValues<bool>())
        bytes.push_back(flag);
    return bytes;
  }
  ArrayRef<char> raw = value.getRawData();
  return {raw.begin(), raw.end()};
}

Offset<tfg::Constant> TableWriter::writeInline(DenseElementsAttr value) {
  // MLIR may store a tensor without elements as a splat.
  bool isSplat = !value.getRawData().empty() && value.isSplat();
  std::vector<uint8_t> bytes = bytesOf(value, isSplat);
  buffer.ForceVectorAlignment(bytes.size(), sizeof(uint8_t), 16);
  auto data = buffer.CreateVector(bytes);
  return tfg::CreateConstant(buffer, number(value.getType()), data, isSplat);
}

std::optional<Offset<tfg::Constant>> TableWriter::write(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return writeInline(dense);
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource || !dfg::hasData(resource))
    return std::nullopt;
  ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
  auto [offset, isNew] = offsets.try_emplace(value, sectionBytes);
  if (isNew) {
    section.push_back(data);
    sectionBytes += alignTo(data.size(), kDataAlignment);
  }
  auto name = text(resource.getRawHandle().getKey());
  return tfg::CreateConstant(buffer, number(value.getType()), 0, false, offset->second, data.size(),
                             0, 0, name);
}

} // namespace tfc::flatbuffer
