//===- DatasetOps.cpp - Rows of files -------------------------------------===//
//
// Verifies datasets and the operations on them. Like those on queues, these name a declaration,
// which their types are checked against.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Datasets.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/Resources.h"

using namespace mlir;
using namespace tfc::dfg;

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// DatasetOp
//===----------------------------------------------------------------------===//

SmallVector<RankedTensorType> DatasetOp::getTensorTypes() {
  return llvm::map_to_vector(getComponents().getAsValueRange<TypeAttr>(),
                             [](Type type) { return cast<RankedTensorType>(type); });
}

/// Returns which element types a format cannot hold, or null.
static const char *refusalOf(DatasetFormat format, Type element) {
  bool isShort = element.isF16() || element.isBF16();
  switch (format) {
  case DatasetFormat::Csv:
    return isShort ? "a csv file has no f16 and bf16" : nullptr;
  case DatasetFormat::Tfrecord:
    return isShort ? "a tf.Example has no f16 and bf16" : nullptr;
  case DatasetFormat::Npy:
    return element.isBF16() ? "a npy file has no bf16" : nullptr;
  case DatasetFormat::Safetensors:
  case DatasetFormat::Raw:
    return nullptr;
  }
  llvm_unreachable("unknown format");
}

std::optional<std::string> tfc::dfg::checkDataset(DatasetFormat format,
                                                  ArrayRef<RankedTensorType> components,
                                                  size_t pathCount, int64_t skip) {
  if (components.empty())
    return "rows have at least one component";
  for (RankedTensorType type : components) {
    if (!type.hasStaticShape())
      return "rows need sizes known at compile time";
    if (!findDtype(type.getElementType()))
      return "rows have tensors of the element types of the language";
    if (const char *refusal = refusalOf(format, type.getElementType()))
      return refusal;
  }
  if (pathCount == 0)
    return "a dataset has at least one file";
  if (format == DatasetFormat::Npy && pathCount != components.size())
    return ("there are " + Twine(components.size()) + " components, but " + Twine(pathCount) +
            " npy files")
        .str();
  bool skips = format == DatasetFormat::Csv || format == DatasetFormat::Raw;
  if (skip < 0 || (skip > 0 && !skips))
    return skips ? "'skip' must not be negative" : "only csv and raw files have 'skip'";
  return std::nullopt;
}

LogicalResult DatasetOp::verify() {
  if (!llvm::all_of(getComponents().getAsValueRange<TypeAttr>(), llvm::IsaPred<RankedTensorType>))
    return emitOpError("expects tensors");
  if (getNames().size() != getComponents().size())
    return emitOpError("expects one name per component");
  if (auto reason =
          checkDataset(getFormat(), getTensorTypes(), getPaths().size(), int64_t(getSkip())))
    return emitOpError(*reason);
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LogicalResult ReadRowsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto dataset = symbols.lookupNearestSymbolFrom<DatasetOp>(*this, getDatasetAttr());
  if (!dataset)
    return emitOpError("expects the name of a dataset, but got ") << getDatasetAttr();
  SmallVector<RankedTensorType> components = dataset.getTensorTypes();
  if (components.size() != getNumResults())
    return emitOpError("expects ") << components.size() << " results for " << getDatasetAttr()
                                   << ", but got " << getNumResults();
  for (auto [component, type] : llvm::zip_equal(components, getResultTypes())) {
    Shape shape = shapeOf(getRows().getType());
    llvm::append_range(shape, shapeOf(component));
    if (RankedTensorType whole = tensorOf(shape, component.getElementType()); whole != type)
      return emitOpError("expects ")
             << toText(whole) << " for " << getDatasetAttr() << ", but got " << toText(type);
  }
  return success();
}

LogicalResult DatasetSizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<DatasetOp>(*this, getDatasetAttr()))
    return emitOpError("expects the name of a dataset, but got ") << getDatasetAttr();
  if (getType() != tensorOf({}, IntegerType::get(getContext(), 64)))
    return emitOpError("expects a result of type i64");
  return success();
}

/// Nothing that a graph does changes files.
static void addEffect(Effects &effects, FlatSymbolRefAttr dataset) {
  effects.emplace_back(MemoryEffects::Read::get(), dataset, DatasetResource::get());
}

void ReadRowsOp::getEffects(Effects &effects) { addEffect(effects, getDatasetAttr()); }
void DatasetSizeOp::getEffects(Effects &effects) { addEffect(effects, getDatasetAttr()); }
