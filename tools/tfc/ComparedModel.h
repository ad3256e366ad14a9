// A compiled model and the oracle: each call runs on both, and their results must agree.
#pragma once

#include "tools/tfc/Diagnosis.h"
#include "tools/tfc/LoadedModel.h"
#include "tools/tfc/ReferenceModel.h"

namespace tfc {

class ComparedModel : public CallableModel {
public:
  /// Compiles the request's input and executes it. Null if the errors have been printed.
  static std::unique_ptr<ComparedModel> load(const CompileRequest &request, int threads);

  /// Calls both, with the same variables, and compares fetches and variables; returns the compiled
  /// results. Fails for the first that differs by more than any correct evaluation may; the cause
  /// has then been printed.
  llvm::Expected<std::vector<Array>> run(const Entry &entry, std::vector<Array> &feeds) override;

  /// Compares the values that each kernel computes, call by call.
  llvm::Error compareNodes();

  /// The compiled model with unchanged variables, to try feeds.
  LoadedModel &getCompiled() { return compiled; }
  /// Resets both to their initial state.
  llvm::Error restart();

  /// "all 120 values agree (largest difference 0.5 ulp of 3.1 allowed)".
  std::string summary() const;

private:
  ComparedModel(LoadedModel compiled, std::unique_ptr<ReferenceModel> reference,
                const CompileRequest &request, int threads);

  llvm::Expected<std::vector<Array>> runBoth(const Entry &entry, std::vector<Array> &feeds);
  llvm::Error compare(const llvm::Twine &what, const Array &got, const reference::Tensor &expected);
  llvm::Error compareVariables();

  LoadedModel compiled;
  std::unique_ptr<ReferenceModel> reference;
  CompileRequest request;
  int threads;
  std::vector<RecordedCall> calls;
  /// True if the last call ended with a difference.
  bool differs = false;
  reference::Agreement agreement;
  int64_t byKernels = 0; // results that were only compared kernel by kernel
};

} // namespace tfc
