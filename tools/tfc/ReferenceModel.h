// A graph that the oracle executes instead of compiled code.
#pragma once

#include "compiler/reference/Reference.h"
#include "tools/tfc/CallableModel.h"
#include "tools/tfc/Compiler.h"

namespace tfc {

class ReferenceModel : public CallableModel {
public:
  /// Reads the request's input and initialises the variables. Null after errors, which have been
  /// printed.
  static std::unique_ptr<ReferenceModel> load(const CompileRequest &request);

  llvm::Expected<std::vector<Array>> run(const Entry &entry, std::vector<Array> &feeds) override;

  /// The last call's fetches with their error bounds.
  llvm::ArrayRef<reference::Tensor> getFetches() const { return fetches; }

  reference::Instance &getInstance() { return *instance; }
  mlir::MLIRContext *getContext() { return module->getContext(); }
  /// Resets variables and queues to their initial state.
  llvm::Error restart();

private:
  mlir::LogicalResult describe();

  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  reference::Options options;
  std::unique_ptr<reference::Instance> instance;
  std::vector<reference::Tensor> fetches;
};

/// Describes a difference: "[3, 1] is 2, but the reference has 3: ...".
std::string describe(const reference::Difference &difference, const reference::Tensor &expected);

/// A tensor without errors.
reference::Tensor toTensor(const Array &array, mlir::MLIRContext *context);
/// The values, rounded to the dtype.
Array toArray(const reference::Tensor &tensor);

} // namespace tfc
