// A compiled model beside the oracle: each call runs on both, and must agree.
#pragma once

#include "tools/tfc/Diagnosis.h"
#include "tools/tfc/LoadedModel.h"
#include "tools/tfc/ReferenceModel.h"

namespace tfc {

class ComparedModel : public CallableModel {
public:
  /// Compiles the request's input and executes it. Null if the errors have been printed.
  static std::unique_ptr<ComparedModel> load(const CompileRequest &request, int threads);

  /// Calls both, from the same variables, and compares fetches and variables; gives what the
  /// compiled one computes. An error for the first that differs by more than any correct evaluation
  /// may; what made it has then been printed.
  llvm::Expected<std::vector<Array>> run(const Entry &entry, std::vector<Array> &feeds) override;

  /// Compares what each kernel computes, call by call.
  llvm::Error compareNodes();

  /// The compiled model with variables that nobody has changed, to try feeds.
  LoadedModel &getCompiled() { return compiled; }
  /// Both as they were at the start.
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
  /// Whether the last call ended with values that do not agree.
  bool differs = false;
  reference::Agreement agreement;
  int64_t byKernels = 0; // results that were compared kernel by kernel alone
};

} // namespace tfc
