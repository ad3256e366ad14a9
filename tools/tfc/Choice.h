// Options that choose among values by their names.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>

namespace tfc {

/// Declares an option that chooses among values by their names.
template <typename T>
void addChoice(CLI::App &app, const std::string &option, T &target,
               const std::vector<std::pair<std::string, T>> &choices, const std::string &help) {
  std::vector<std::string> names;
  for (const auto &[name, value] : choices)
    names.push_back(name);
  auto choose = [&target, choices](const std::string &chosen) {
    for (const auto &[name, value] : choices)
      if (name == chosen)
        target = value;
  };
  app.add_option_function<std::string>(option, choose, help)
      ->check(CLI::IsMember(names))
      ->type_name(llvm::join(names, "|"));
}

} // namespace tfc
