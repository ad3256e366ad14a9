// Declares the options that say where operations shall be. They are in a file of their own because
// their values have a form of their own.
#include "tools/tfc/PlacementFlags.h"
#include "compiler/placement/Machine.h"
#include "dialects/dfg/DeviceName.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace tfc;

/// A check for CLI11: returns an error text, or "" for success.
static std::string checkDevice(const std::string &text) {
  std::string reason;
  std::optional<dfg::DeviceName> name = dfg::DeviceName::parse(text, reason);
  if (!name)
    return fmt::format("'{}' is not a device: {}", text, reason);
  if (name->isOpen())
    return fmt::format("'{}' names no device", text);
  return placement::isKnownKind(*name) ? "" : placement::Machine().refusalOf(*name);
}

static void setPlacement(const std::vector<std::string> &words, PipelineOptions &options) {
  auto has = [&](const char *word) { return llvm::is_contained(words, word); };
  if (has("strict") && has("soft"))
    throw CLI::ValidationError("--placement", "'strict' and 'soft' exclude each other");
  options.movesUnsupported = has("soft");
  options.explainsPlacement = has("explain");
}

void tfc::addPlacementFlags(CLI::App &app, PipelineOptions &options) {
  app.add_option("--device", options.device,
                 "The device of what says nothing about it, as in cpu:1")
      ->check(CLI::Validator(checkDevice, ""))
      ->type_name("NAME");
  app.add_option("--cluster", options.cluster,
                 "The tasks of the program by jobs, each a process, or a file with them")
      ->type_name("JOB=TASKS,...|FILE");
  app.add_option("--devices", options.devicesFile,
                 "A description of devices, on which what says nothing is distributed")
      ->type_name("FILE.json");
  app.add_option_function<std::vector<std::string>>(
         "--placement",
         [&options](const std::vector<std::string> &words) { setPlacement(words, options); },
         "Refuse what a device cannot run (strict), or move it (soft); print why everything is "
         "where it is (explain)")
      ->delimiter(',')
      ->check(CLI::IsMember({"strict", "soft", "explain"}))
      ->type_name("strict|soft|explain,...");
}
