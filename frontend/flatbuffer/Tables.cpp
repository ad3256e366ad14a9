// Reads types and places, and checks the numbers by which nodes refer to them.
#include "frontend/flatbuffer/Tables.h"

#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

/// MLIR visits places recursively.
static constexpr unsigned kMaxPlaceDepth = 1000;

void Tables::read(const tfg::Graph &graph) {
  for (const tfg::Place *place : elementsOf(graph.places())) {
    unsigned depth = 0;
    Location read = readPlace(*place, file.locate("place " + Twine(places.size())), depth);
    places.emplace_back(read, depth + 1);
  }
  for (const tfg::Type *type : elementsOf(graph.types()))
    types.push_back(readType(*type, file.locate("type " + Twine(types.size()))));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type Tables::type(uint32_t number, Location location) {
  if (number < types.size())
    return types[number];
  emitError(location) << "there is no type " << number << " among the " << types.size()
                      << " of the file [graph-file]";
  return {};
}

RankedTensorType Tables::tensor(uint32_t number, Location location) {
  Type found = type(number, location);
  auto tensor = dyn_cast_or_null<RankedTensorType>(found);
  if (found && !tensor)
    emitError(location) << "expected a tensor, but got " << dfg::toText(found) << " [graph-file]";
  return tensor;
}

dfg::DimsAttr Tables::sizes(const flatbuffers::Vector<flatbuffers::Offset<tfg::Size>> *sizes,
                            Location location) {
  SmallVector<StringAttr> texts;
  for (const tfg::Size *size : elementsOf(sizes)) {
    StringRef formula = file.text(size->formula());
    std::optional<dfg::DimExpr> expr =
        formula.empty() ? dfg::DimExpr(size->value()) : dfg::DimExpr::parse(formula);
    if (!expr || dfg::isOverflow(*expr)) {
      emitError(location) << "expected a size, but got "
                          << (formula.empty() ? std::to_string(size->value())
                                              : ("'" + formula + "'").str())
                          << " [graph-file]";
      return {};
    }
    texts.push_back(StringAttr::get(file.getContext(), expr->canonical()));
  }
  return dfg::DimsAttr::getChecked([&] { return emitError(location); }, file.getContext(),
                                   ArrayRef<StringAttr>(texts));
}

static bool isNegative(const dfg::DimExpr &size) { return size.constant().value_or(0) < 0; }

RankedTensorType Tables::readTensor(const tfg::Type &type, Type element, Location location) {
  dfg::DimsAttr dims = sizes(type.sizes(), location);
  if (!dims)
    return {};
  dfg::Shape shape = dims.getExprs();
  if (shape.size() > size_t(dfg::kMaxRank)) {
    emitError(location) << "the tensor has more than " << dfg::kMaxRank << " axes [too-large]";
    return {};
  }
  if (any_of(shape, isNegative)) {
    emitError(location) << "expected sizes of at least 0, but got " << dims << " [graph-file]";
    return {};
  }
  RankedTensorType tensor = dfg::tensorOf(shape, element);
  if (!dfg::isTooLarge(tensor))
    return tensor;
  emitError(location) << "the tensor is too large for any memory [too-large]";
  return {};
}

Type Tables::readType(const tfg::Type &type, Location location) {
  if (type.kind() == tfg::TypeKind::Token)
    return dfg::TokenType::get(file.getContext());
  StringRef name = file.text(type.element());
  Type element = dfg::elementTypeNamed(file.getContext(), name, &dfg::Dtype::name);
  if (!element || type.kind() > tfg::TypeKind::MAX) {
    emitError(location) << "there is no element type '" << name << "' [unknown-type]";
    return {};
  }
  if (type.kind() == tfg::TypeKind::Element)
    return element;
  RankedTensorType tensor = readTensor(type, element, location);
  if (!tensor || type.kind() == tfg::TypeKind::Tensor)
    return tensor;
  return dfg::ListType::get(file.getContext(), tensor);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Location Tables::place(int32_t number, Location location) {
  unsigned depth = 0;
  return earlier(number, location, depth);
}

/// A place that has been read; `depth` becomes at least its depth.
Location Tables::earlier(int32_t number, Location location, unsigned &depth) {
  if (number == -1)
    return location;
  if (number < 0 || size_t(number) >= places.size()) {
    emitError(location) << "there is no place " << number << " before this [graph-file]";
    return location;
  }
  depth = std::max(depth, places[number].second);
  return places[number].first;
}

/// The range in lines and columns; a single position is a range too.
static Location readRange(const tfg::Place &place, StringAttr name) {
  if (place.end_line() == 0)
    return FileLineColLoc::get(name, place.line(), place.column());
  return FileLineColRange::get(name, place.line(), place.column(), place.end_line(),
                               place.end_column());
}

Location Tables::readPlace(const tfg::Place &place, Location location, unsigned &depth) {
  MLIRContext *context = file.getContext();
  Location unknown = UnknownLoc::get(context);
  SmallVector<Location> parts;
  for (int32_t number : file.numbers(place.parts()))
    parts.push_back(earlier(number, location, depth));
  Location inner = place.inner() == -1 ? unknown : earlier(place.inner(), location, depth);
  Location caller = place.caller() == -1 ? unknown : earlier(place.caller(), location, depth);
  if (depth >= kMaxPlaceDepth) {
    emitError(location) << "places are nested more than " << kMaxPlaceDepth
                        << " levels deep [too-deep]";
    depth = 0;
    return location;
  }
  switch (place.kind()) {
  case tfg::PlaceKind::Range:
    return readRange(place, StringAttr::get(context, file.text(place.file())));
  case tfg::PlaceKind::Name:
    return NameLoc::get(StringAttr::get(context, file.text(place.name())), inner);
  case tfg::PlaceKind::Call:
    return CallSiteLoc::get(inner, caller);
  case tfg::PlaceKind::Fused:
    return FusedLoc::get(
        parts, place.name() ? StringAttr::get(context, file.text(place.name())) : Attribute(),
        context);
  case tfg::PlaceKind::Unknown:
    break;
  }
  return unknown;
}

} // namespace tfc::flatbuffer
