// Executes a graph by the oracle, with the interface of a compiled model.
#include "tools/tfc/ReferenceModel.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Dtypes.h"
#include "tools/tfc/Print.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

//===----------------------------------------------------------------------===//
// Arrays and tensors
//===----------------------------------------------------------------------===//

reference::Tensor tfc::toTensor(const Array &array, mlir::MLIRContext *context) {
  reference::Tensor tensor(dfg::dtypeOf(array.dtype).elementType(context), array.shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.isFloat())
      tensor.setRounded(i, {toDouble(array, i), 0}, 0);
    else
      tensor.setInteger(i, toInteger(array, i));
  }
  return tensor;
}

/// The bits of a float of the dtype.
static uint64_t bitsOf(mlir::Type dtype, double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(mlir::cast<mlir::FloatType>(dtype).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

Array tfc::toArray(const reference::Tensor &tensor) {
  const dfg::Dtype &dtype = dfg::dtypeOf(tensor.getElementType());
  Array array{dtype.code, tensor.getShape().vec(), {}};
  array.data.resize(tensor.size() * dtype.bytes);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = tensor.isFloat() ? bitsOf(tensor.getElementType(), tensor.number(i))
                                     : uint64_t(tensor.integer(i));
    memcpy(array.data.data() + i * dtype.bytes, &bits, dtype.bytes); // little-endian
  }
  return array;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static std::vector<Port> portsOf(ArrayRef<ValueInfo> values) {
  std::vector<Port> ports;
  for (const ValueInfo &value : values)
    ports.push_back({value.name, dfg::toText(value.type),
                     dfg::dtypeOf(value.type.getElementType()).code,
                     int32_t(value.type.getRank())});
  return ports;
}

/// Lists the entries.
mlir::LogicalResult ReferenceModel::describe() {
  requireSizes(*module);
  mlir::FailureOr<ModelInfo> info = describeModel(*module);
  if (failed(info))
    return mlir::failure();
  for (auto [i, entry] : enumerate(info->entries)) {
    entries.push_back({entry.name, int32_t(i), portsOf(entry.feeds), portsOf(entry.fetches), {}});
    for (const SymbolInfo &symbol : entry.symbols)
      entries.back().symbols.push_back({symbol.name, symbol.lower, symbol.upper});
  }
  setSizeFacts(sizeFactsOf(*info));
  return mlir::success();
}

static Error toError(const reference::Status &status) {
  return status.isOk() ? Error::success() : createStringError(status.message);
}

/// Returns true if the stage after which the input was written inserts checks.
static bool checksAreApart(const PipelineOptions &options) {
  return !options.startAfter.empty() && *findStage(options.startAfter) >= *findStage("simplify");
}

std::unique_ptr<ReferenceModel> ReferenceModel::load(const CompileRequest &request) {
  std::unique_ptr<ReferenceModel> model(new ReferenceModel());
  model->module = model->session.load(request);
  if (!model->module || failed(model->describe()))
    return nullptr;
  model->setInputs(model->session.sources.getInputs());
  model->options.checksAreApart = checksAreApart(request.pipeline);
  if (Error error = model->restart()) {
    reportError(std::move(error));
    return nullptr;
  }
  return model;
}

Error ReferenceModel::restart() {
  instance = std::make_unique<reference::Instance>(*module, options);
  return toError(instance->initialize());
}

Expected<std::vector<Array>> ReferenceModel::run(const Entry &entry, std::vector<Array> &feeds) {
  std::vector<reference::Tensor> tensors;
  for (const Array &feed : feeds)
    tensors.push_back(toTensor(feed, module->getContext()));
  if (Error error = toError(instance->call(entry.name, tensors, fetches)))
    return std::move(error);
  std::vector<Array> arrays;
  for (const reference::Tensor &fetch : fetches)
    arrays.push_back(toArray(fetch));
  return arrays;
}
