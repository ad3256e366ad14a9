// The memory of results of launches: the attribute, and its verification against the launch, which
// needs the symbols of the module.

#include "dialects/dfg/MemoryAttr.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/kernel/Kernel.h"

using namespace mlir;

namespace tfc::dfg {

//===----------------------------------------------------------------------===//
// MemoryAttr
//===----------------------------------------------------------------------===//

MemoryAttr MemoryAttr::inArena(MLIRContext *context) {
  return get(context, MemoryKind::Arena, {}, 0);
}

MemoryAttr MemoryAttr::inVariable(FlatSymbolRefAttr variable) {
  return get(variable.getContext(), MemoryKind::Variable, variable, 0);
}

MemoryAttr MemoryAttr::inFetch(MLIRContext *context, int64_t index) {
  return get(context, MemoryKind::Fetch, {}, index);
}

MemoryAttr MemoryAttr::inOperand(MLIRContext *context, int64_t index) {
  return get(context, MemoryKind::Operand, {}, index);
}

MemoryAttr MemoryAttr::inResult(MLIRContext *context, int64_t index) {
  return get(context, MemoryKind::Result, {}, index);
}

static bool isNumbered(MemoryKind kind) {
  return kind != MemoryKind::Arena && kind != MemoryKind::Variable;
}

LogicalResult MemoryAttr::verify(function_ref<InFlightDiagnostic()> emitError, MemoryKind kind,
                                 FlatSymbolRefAttr variable, int64_t index) {
  if ((kind == MemoryKind::Variable) != bool(variable))
    return emitError()
           << "expected the name of a variable for the memory of a variable, and only there";
  if (index < 0 || (index > 0 && !isNumbered(kind)))
    return emitError() << "expected the number of a fetch, an operand or a result, but got "
                       << index;
  return success();
}

Attribute MemoryAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&word))
    return {};
  std::optional<MemoryKind> kind = symbolizeMemoryKind(word);
  if (!kind) {
    parser.emitError(location) << "expected the owner of the memory, but got '" << word << "'";
    return {};
  }
  FlatSymbolRefAttr variable;
  int64_t index = 0;
  if ((*kind == MemoryKind::Variable && parser.parseAttribute(variable)) ||
      (isNumbered(*kind) && parser.parseInteger(index)) || parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(location); };
  return getChecked(emitError, parser.getContext(), *kind, variable, index);
}

void MemoryAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyMemoryKind(getKind());
  if (getVariable())
    printer << ' ' << getVariable();
  else if (isNumbered(getKind()))
    printer << ' ' << getIndex();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Memory of a launch
//===----------------------------------------------------------------------===//

static bool haveSameBytes(Type a, Type b) {
  if (a == b)
    return true;
  auto first = dyn_cast<RankedTensorType>(a), second = dyn_cast<RankedTensorType>(b);
  return first && second && byteCount(first) == byteCount(second);
}

/// Returns the type of the value whose memory this is, or null if there is none.
static Type typeAt(MemoryAttr memory, LaunchOp launch, SymbolTableCollection &symbols) {
  auto at = [&](TypeRange types) {
    return size_t(memory.getIndex()) < types.size() ? types[memory.getIndex()] : Type();
  };
  switch (memory.getKind()) {
  case MemoryKind::Variable: {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(launch, memory.getVariable());
    return variable ? variable.getTensorType() : Type();
  }
  case MemoryKind::Operand:
    return at(launch.getInputs().getTypes());
  case MemoryKind::Result:
    return at(launch->getParentOp()->getResultTypes());
  case MemoryKind::Fetch: {
    auto entry = launch->getParentOfType<EntryOp>();
    return entry ? at(entry.getResultTypes()) : Type();
  }
  case MemoryKind::Arena:
    break;
  }
  return {};
}

/// Returns true if a result is stored where the kernel writes it: over the operand that the kernel
/// overwrites, or in memory that the launch may choose.
static bool agrees(LaunchOp launch, unsigned result, MemoryAttr memory, kernel::FuncOp kernel) {
  std::optional<unsigned> inPlace = kernel.getInPlace(result);
  bool isOperand = memory && memory.getKind() == MemoryKind::Operand;
  if (!inPlace)
    return !isOperand;
  return haveSameBytes(launch.getInputs()[*inPlace].getType(),
                       launch.getOutputs()[result].getType()) &&
         (!isOperand || memory.getIndex() == *inPlace);
}

LogicalResult verifyMemory(LaunchOp launch, SymbolTableCollection &symbols) {
  ArrayAttr owners = launch.getMemoryAttr();
  if (owners && owners.size() != launch->getNumResults())
    return launch.emitOpError("expects the memory of each result, but got ") << owners.size();
  auto kernel = symbols.lookupNearestSymbolFrom<kernel::FuncOp>(launch, launch.getKernelAttr());
  for (auto [i, type] : llvm::enumerate(launch.getResultTypes())) {
    MemoryAttr memory = owners ? cast<MemoryAttr>(owners[i]) : MemoryAttr();
    if (memory && memory.getKind() != MemoryKind::Arena) {
      Type there = typeAt(memory, launch, symbols);
      if (!there || !haveSameBytes(there, type))
        return launch.emitOpError("expects memory for result ") << i << ", but got " << memory;
    }
    if (kernel && !agrees(launch, i, memory, kernel))
      return launch.emitOpError("expects result ")
             << i << " in the memory to which " << launch.getKernelAttr() << " writes it";
  }
  return success();
}

} // namespace tfc::dfg
