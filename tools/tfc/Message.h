// Errors whose text fmt formats.
#pragma once

#include "frontend/Fmt.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

namespace tfc {

/// Diagnostics that begin with their location, so that they get no prefix.
class LocatedError : public llvm::ErrorInfo<LocatedError> {
public:
  static char ID;

  explicit LocatedError(std::string text) : text(std::move(text)) {}
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string text;
};

/// An error with the text returned by `fmt::format`.
template <typename... Args>
llvm::Error makeError(fmt::format_string<Args...> format, Args &&...arguments) {
  return llvm::createStringError(fmt::format(format, std::forward<Args>(arguments)...));
}

} // namespace tfc
