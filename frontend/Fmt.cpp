// Defines the formatters of LLVM's strings apart from their declarations, because they need the
// whole of fmt, which is expensive to include.
#include "frontend/Fmt.h"

#include "llvm/ADT/SmallString.h"
#include <fmt/format.h>

fmt::appender fmt::formatter<llvm::StringRef>::format(llvm::StringRef text,
                                                      fmt::format_context &context) const {
  return fmt::formatter<std::string_view>::format(std::string_view(text), context);
}

fmt::appender fmt::formatter<llvm::Twine>::format(const llvm::Twine &text,
                                                  fmt::format_context &context) const {
  llvm::SmallString<64> buffer;
  return fmt::formatter<llvm::StringRef>::format(text.toStringRef(buffer), context);
}
