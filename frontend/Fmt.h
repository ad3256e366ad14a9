// Text formatted by fmt, with LLVM's strings among the arguments.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <fmt/core.h>

template <> struct fmt::formatter<llvm::StringRef> : fmt::formatter<std::string_view> {
  fmt::appender format(llvm::StringRef text, fmt::format_context &context) const;
};

template <> struct fmt::formatter<llvm::StringLiteral> : fmt::formatter<llvm::StringRef> {};

template <> struct fmt::formatter<llvm::Twine> : fmt::formatter<llvm::StringRef> {
  fmt::appender format(const llvm::Twine &text, fmt::format_context &context) const;
};
