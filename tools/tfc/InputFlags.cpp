// Declares the options for files that name their inputs. They are in a file of their own because
// their values have a form of their own.
#include "tools/tfc/InputFlags.h"
#include "dialects/dfg/DimExpr.h"
#include "frontend/Fmt.h"
#include "frontend/Import.h"
#include <fmt/format.h>

using namespace tfc;
using llvm::StringRef;

using Texts = std::vector<std::string>;

static std::pair<std::string, std::string> splitOption(const char *option, StringRef text) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    throw CLI::ValidationError(option, fmt::format("expected NAME=VALUE, but got '{}'", text));
  return {name.str(), value.str()};
}

static void addBound(StringRef text, ImportOptions &options) {
  auto [name, value] = splitOption("--bound", text);
  int64_t bound;
  if (StringRef(value).getAsInteger(10, bound) || bound < 0)
    throw CLI::ValidationError("--bound", fmt::format("'{}' is not a size", value));
  options.bounds.emplace_back(name, bound);
}

/// The sizes are numbers, "1x128", or in brackets, "[n, 128]".
static void addShape(StringRef text, ImportOptions &options) {
  auto [name, value] = splitOption("--shape", text);
  StringRef sizes = value;
  bool isList = sizes.consume_front("[");
  if (isList && !sizes.consume_back("]"))
    throw CLI::ValidationError("--shape", fmt::format("'{}' lacks a closing bracket", value));
  llvm::SmallVector<StringRef> parts;
  if (!sizes.trim().empty())
    sizes.split(parts, isList ? ',' : 'x');
  Texts &shape = options.shapes.emplace_back(name, Texts()).second;
  for (StringRef part : parts) {
    std::optional<dfg::DimExpr> size = dfg::DimExpr::parse(part.trim());
    if (!size || (!isList && !size->constant()) || (size->constant() && *size->constant() < 0))
      throw CLI::ValidationError("--shape", fmt::format("'{}' is not a size", part));
    shape.push_back(part.trim().str());
  }
}

void tfc::addInputFlags(CLI::App &app, ImportOptions &options) {
  auto add = [&](const char *flag, const char *type, const std::string &help, auto addOne) {
    app.add_option_function<Texts>(
           flag,
           [&options, addOne](const Texts &texts) {
             for (const std::string &text : texts)
               addOne(text, options);
           },
           help)
        ->type_name(type)
        ->take_all();
  };
  app.add_option("--tags", options.tags,
                 "The tags of the graph to read from a SavedModel (default: the only one, else "
                 "that for serving)")
      ->delimiter(',')
      ->type_name("TAG,...");
  std::string model = "a model (" + inputSuffixes() + ")";
  add("--bound", "NAME=SIZE", "The largest value of a named size of " + model, addBound);
  add("--shape", "NAME=SIZES",
      "The sizes of an input of " + model + ", as in x=1x128 and x=[n, 128]", addShape);
  add("--fix", "NAME=FILE", "An input of " + model + " that becomes a constant, from a .npy file",
      [](StringRef text, ImportOptions &options) {
        options.fixed.push_back(splitOption("--fix", text));
      });
}

void tfc::checkInputFlags(StringRef input, const ImportOptions &options) {
  std::pair<const char *, bool> given[] = {{"--bound", !options.bounds.empty()},
                                           {"--shape", !options.shapes.empty()},
                                           {"--fix", !options.fixed.empty()},
                                           {"--trainable", options.isTrainable}};
  for (auto [option, isGiven] : given)
    if (isGiven && !namesInputs(input) && (StringRef(option) != "--bound" || !needsEntries(input)))
      throw CLI::ValidationError(option, "only a model (" + inputSuffixes() +
                                             ") has inputs and weights to specify");
  if (!options.tags.empty() && !isSavedModel(input))
    throw CLI::ValidationError("--tags", "only a SavedModel has graphs with tags");
}
