// Places of results of launches: the attribute, and its verification against the launch, which
// needs the symbols of the module.

#include "dialects/dfg/PlaceAttr.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/kernel/Kernel.h"

using namespace mlir;

namespace tfc::dfg {

//===----------------------------------------------------------------------===//
// PlaceAttr
//===----------------------------------------------------------------------===//

PlaceAttr PlaceAttr::inArena(MLIRContext *context) { return get(context, PlaceKind::Arena, {}, 0); }

PlaceAttr PlaceAttr::inVariable(FlatSymbolRefAttr variable) {
  return get(variable.getContext(), PlaceKind::Variable, variable, 0);
}

PlaceAttr PlaceAttr::inFetch(MLIRContext *context, int64_t index) {
  return get(context, PlaceKind::Fetch, {}, index);
}

PlaceAttr PlaceAttr::inOperand(MLIRContext *context, int64_t index) {
  return get(context, PlaceKind::Operand, {}, index);
}

PlaceAttr PlaceAttr::inResult(MLIRContext *context, int64_t index) {
  return get(context, PlaceKind::Result, {}, index);
}

static bool isNumbered(PlaceKind kind) {
  return kind != PlaceKind::Arena && kind != PlaceKind::Variable;
}

LogicalResult PlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, PlaceKind kind,
                                FlatSymbolRefAttr variable, int64_t index) {
  if ((kind == PlaceKind::Variable) != bool(variable))
    return emitError()
           << "expected the name of a variable for a place in a variable, and only there";
  if (index < 0 || (index > 0 && !isNumbered(kind)))
    return emitError() << "expected the number of a fetch, an operand or a result, but got "
                       << index;
  return success();
}

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<PlaceKind> kind = symbolizePlaceKind(word);
  if (!kind) {
    parser.emitError(location) << "expected a place, but got '" << word << "'";
    return {};
  }
  FlatSymbolRefAttr variable;
  int64_t index = 0;
  if ((*kind == PlaceKind::Variable && parser.parseAttribute(variable)) ||
      (isNumbered(*kind) && parser.parseInteger(index)) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  return getChecked(emitError, parser.getContext(), *kind, variable, index);
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyPlaceKind(getKind());
  if (getVariable())
    printer << ' ' << getVariable();
  else if (isNumbered(getKind()))
    printer << ' ' << getIndex();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Places of a launch
//===----------------------------------------------------------------------===//

static bool haveSameBytes(Type a, Type b) {
  if (a == b)
    return true;
  auto first = dyn_cast<RankedTensorType>(a), second = dyn_cast<RankedTensorType>(b);
  return first && second && byteCount(first) == byteCount(second);
}

/// Returns the type of the value whose memory `place` is, or null if there is none.
static Type typeAt(PlaceAttr place, LaunchOp launch, SymbolTableCollection &symbols) {
  auto at = [&](TypeRange types) {
    return size_t(place.getIndex()) < types.size() ? types[place.getIndex()] : Type();
  };
  switch (place.getKind()) {
  case PlaceKind::Variable: {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(launch, place.getVariable());
    return variable ? variable.getTensorType() : Type();
  }
  case PlaceKind::Operand:
    return at(launch.getInputs().getTypes());
  case PlaceKind::Result:
    return at(launch->getParentOp()->getResultTypes());
  case PlaceKind::Fetch: {
    auto entry = launch->getParentOfType<EntryOp>();
    return entry ? at(entry.getResultTypes()) : Type();
  }
  case PlaceKind::Arena:
    break;
  }
  return {};
}

/// Returns true if a result is placed where the kernel writes it: over the operand that the kernel
/// overwrites, or in a place that the launch may choose.
static bool agrees(LaunchOp launch, unsigned result, PlaceAttr place, kernel::FuncOp kernel) {
  std::optional<unsigned> inPlace = kernel.getInPlace(result);
  bool isOperand = place && place.getKind() == PlaceKind::Operand;
  if (!inPlace)
    return !isOperand;
  return haveSameBytes(launch.getInputs()[*inPlace].getType(),
                       launch.getOutputs()[result].getType()) &&
         (!isOperand || place.getIndex() == *inPlace);
}

LogicalResult verifyPlaces(LaunchOp launch, SymbolTableCollection &symbols) {
  ArrayAttr places = launch.getPlacesAttr();
  if (places && places.size() != launch->getNumResults())
    return launch.emitOpError("expects a place for each result, but got ") << places.size();
  auto kernel = symbols.lookupNearestSymbolFrom<kernel::FuncOp>(launch, launch.getKernelAttr());
  for (auto [i, type] : llvm::enumerate(launch.getResultTypes())) {
    PlaceAttr place = places ? cast<PlaceAttr>(places[i]) : PlaceAttr();
    if (place && place.getKind() != PlaceKind::Arena) {
      Type there = typeAt(place, launch, symbols);
      if (!there || !haveSameBytes(there, type))
        return launch.emitOpError("expects memory for result ") << i << ", but got " << place;
    }
    if (kernel && !agrees(launch, i, place, kernel))
      return launch.emitOpError("expects result ")
             << i << " in the memory to which " << launch.getKernelAttr() << " writes it";
  }
  return success();
}

} // namespace tfc::dfg
