// Writes the C header of a model, the text that its users read.
#include "compiler/emission/Header.h"
#include "compiler/emission/Emission.h"
#include "compiler/emission/RuntimeHeader.h"
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tfc;
using namespace tfc::emission;
using llvm::raw_ostream;
using llvm::StringRef;

/// Writes the author's text as comment lines, such that nothing in it can end or splice them.
static void writeComment(raw_ostream &os, StringRef text, StringRef indent = "") {
  llvm::SmallVector<StringRef> lines;
  text.trim().split(lines, '\n');
  for (StringRef line : lines) {
    std::string clean;
    for (char c : line.rtrim())
      clean += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    while (!clean.empty() && (clean.back() == '\\' || clean.back() == '/' || clean.back() == ' '))
      clean.pop_back(); // "\" and "??/" would continue the comment
    os << (clean.empty() ? "///" : "/// ") << (clean.empty() ? "" : indent) << clean << '\n';
  }
}

/// A comment that documents no declaration: "//" is enough.
static void writePlainComment(raw_ostream &os, StringRef text) {
  std::string comment;
  llvm::raw_string_ostream stream(comment);
  writeComment(stream, text, "  ");
  os << StringRef(comment).drop_front();
}

static void writeValues(raw_ostream &os, StringRef title, llvm::ArrayRef<ValueInfo> values,
                        llvm::ArrayRef<std::string> names) {
  for (auto [value, name] : llvm::zip(values, names)) {
    std::string line = name + ": " + dfg::toText(value.type);
    if (value.name != name)
      line += " (" + value.name + ")";
    writeComment(os, (title + " " + line).str());
  }
}

static void writeSymbol(raw_ostream &os, const SymbolInfo &symbol, StringRef name) {
  std::string line = name.str() + ": a size, at least " + std::to_string(symbol.lower);
  if (symbol.upper >= 0)
    line += " and at most " + std::to_string(symbol.upper);
  writeComment(os, line);
}

static void writeFound(raw_ostream &os, const EntryInfo &entry, StringRef size, StringRef name) {
  auto it = llvm::find_if(entry.runTimeSizes, [&](auto &known) { return known.name == size; });
  writeComment(os, "out " + name.str() + ": a data-dependent size, at most " +
                       entry.atMost(it->bound).str() + "; may be null");
}

static std::string pointerTo(const ValueInfo &value, StringRef name) {
  return (dfg::dtypeOf(value.type.getElementType()).cType + llvm::Twine(" *") + name).str();
}

/// Declares a function, in lines of at most 100 columns if the names allow it.
static void writeFunction(raw_ostream &os, StringRef begin,
                          llvm::ArrayRef<std::string> parameters) {
  std::string line = (begin + "(").str();
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    bool isLast = i + 1 == parameters.size();
    if (i > 0 && line.size() + parameter.size() + 3 > 100) {
      os << StringRef(line).rtrim() << '\n';
      line = "    ";
    }
    line += parameter + (isLast ? ");" : ", ");
  }
  os << line << "\n\n";
}

static void writeEntry(raw_ostream &os, const EntryInfo &entry, const EntryNames &names,
                       StringRef instance) {
  if (!StringRef(entry.doc).trim().empty()) {
    writeComment(os, entry.doc);
    os << "///\n";
  }
  for (auto [symbol, name] : llvm::zip(entry.symbols, names.symbols))
    writeSymbol(os, symbol, name);
  writeValues(os, "in ", entry.feeds, names.feeds);
  writeValues(os, "out", entry.fetches, names.fetches);
  for (auto [size, name] : llvm::zip(entry.found, names.found))
    writeFound(os, entry, size, name);
  for (const dfg::Fact &fact : llvm::concat<const dfg::Fact>(entry.solved, entry.where))
    writeComment(os, "where " + fact.str());
  if (entry.writes)
    writeComment(os, "Changes variables; none if it fails.");
  std::vector<std::string> parameters{instance.str() + " *"};
  for (const std::string &name : names.symbols)
    parameters.push_back("int64_t " + name);
  for (auto [value, name] : llvm::zip(entry.feeds, names.feeds))
    parameters.push_back("const " + pointerTo(value, name));
  for (auto [value, name] : llvm::zip(entry.fetches, names.fetches))
    parameters.push_back(pointerTo(value, name));
  for (const std::string &name : names.found)
    parameters.push_back("int64_t *" + name);
  writeFunction(os, "tfc_status " + names.function, parameters);
}

/// The functions that every model has, with @ for the prefix.
static constexpr StringRef kInstanceFunctions =
    R"(/// One copy of the model's variables, with memory for one call at a time. Functions that return a
/// tfc_status return TFC_OK or leave all variables unchanged; `@_message` then returns the reason.
/// Calls on different instances may run at the same time; an instance may be used by one thread at
/// a time.
typedef struct @ @;

/// Creates an instance with its variables at their initial values. `options` may be null.
tfc_status @_create(const tfc_options *options, @ **out);

/// Creates another handle on the same variables, for another thread.
tfc_status @_fork(@ *, @ **out);

/// Frees the instance; null is allowed.
void @_destroy(@ *);

/// Returns why the last function failed on this instance, or "". With null: why the last create
/// failed.
const char *@_message(const @ *);

/// Writes all variables to a safetensors file, which appears whole or not at all.
tfc_status @_save(@ *, const char *path);

/// Replaces all variables by those of a file that `@_save` wrote.
tfc_status @_load(@ *, const char *path);

/// Copies a variable to `out->data` or from `in->data`; dtype and shape must be the variable's.
tfc_status @_get(@ *, const char *variable, const tfc_tensor *out);
tfc_status @_set(@ *, const char *variable, const tfc_tensor *in);

/// The model and the functions of tfc.h, to call entries by name: `@ *` is a `tfc_instance *`.
const tfc_library *@_library(void);

)";

/// Additional functions of models with a cluster.
static constexpr StringRef kClusterFunctions =
    R"(/// If processes call entries alone: takes part in calls of others until all are here, or have
/// destroyed their instances.
tfc_status @_serve(@ *);

)";

/// Additional functions of models with queues.
static constexpr StringRef kQueueFunctions =
    R"(/// Returns the current number of elements in a queue.
tfc_status @_queue_size(@ *, const char *queue, int64_t *size);

/// Closes a queue for all handles: it accepts no more elements; those in it can still be taken.
/// Calls that wait to put elements in finish, or fail with TFC_CANCELLED if `cancel_pending` is not
/// 0.
tfc_status @_queue_close(@ *, const char *queue, int32_t cancel_pending);

/// Makes all current and future waits of this handle at queues fail with TFC_CANCELLED. Any thread
/// may call it, even while another uses the handle.
void @_cancel(@ *);

)";

static void writeFunctions(raw_ostream &os, StringRef functions, StringRef prefix) {
  for (char c : functions)
    if (c == '@')
      os << prefix;
    else
      os << c;
}

/// The additional function of models with datasets.
static constexpr StringRef kDatasetFunctions =
    R"(/// Lets a dataset read these files instead of those that the graph names. They are opened at once;
/// if that fails, the dataset keeps its files.
tfc_status @_open_dataset(@ *, const char *dataset, const char *const *paths, int64_t path_count);

)";

/// Returns the components of an element or a row as "(name: type, ..)".
static std::string componentsOf(llvm::ArrayRef<VariableInfo> components) {
  std::string text = "(";
  for (auto [i, component] : llvm::enumerate(components))
    text += (i ? ", " : "") + component.name + ": " + dfg::toText(component.type);
  return text + ")";
}

/// Writes the datasets with the components of their rows.
static void writeDatasets(raw_ostream &os, const ModelInfo &model) {
  os << "// Datasets:\n";
  for (const DatasetInfo &dataset : model.datasets)
    writePlainComment(os, "  " + dataset.name + ": " + componentsOf(dataset.components) + " in " +
                              llvm::join(dataset.paths, ", "));
  os << '\n';
}

/// Writes the queues with the components of their elements.
static void writeQueues(raw_ostream &os, const ModelInfo &model) {
  os << "// Queues:\n";
  for (const QueueInfo &queue : model.queues)
    writePlainComment(os, "  " + queue.name + ": " + stringifyQueueKind(queue.kind).str() +
                              " of up to " + std::to_string(queue.capacity) + " " +
                              componentsOf(queue.components));
  os << '\n';
}

/// Writes the devices of a model that needs more than the caller's.
static void writeDevices(raw_ostream &os, const ModelInfo &model) {
  if (model.devices.size() < 2)
    return;
  os << "// Devices, see tfc_options: the entries need\n";
  for (auto [i, device] : llvm::enumerate(model.devices))
    writePlainComment(os, "  " + device + (i ? "" : ", on the thread of the caller"));
  os << '\n';
}

static void writeVariables(raw_ostream &os, const ModelInfo &model) {
  if (model.variables.empty())
    return;
  os << "// Variables:\n";
  for (const VariableInfo &variable : model.variables) {
    std::string line;
    llvm::raw_string_ostream stream(line);
    stream << "  " << variable.name << ": " << dfg::toText(variable.type);
    writePlainComment(os, line);
  }
  os << '\n';
}

std::string tfc::emission::makeHeader(const ModelInfo &model, const ModelNames &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Prefixes that differ only in case need different guards.
  bool hasCapitals = llvm::any_of(names.prefix, llvm::isUpper);
  std::string guard = hasCapitals ? names.prefix + "_h" : StringRef(names.prefix).upper() + "_H";
  os << kHeaderMark << names.prefix << "', written by tfc.\n\n";
  os << "#ifndef TFC_MODEL_" << guard << "\n#define TFC_MODEL_" << guard << "\n\n";
  os << "#include <stdbool.h>\n\n" << StringRef(kRuntimeHeader) << '\n';
  os << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  writeFunctions(os, kInstanceFunctions, names.prefix);
  if (!model.cluster.isEmpty())
    writeFunctions(os, kClusterFunctions, names.prefix);
  if (!model.queues.empty())
    writeFunctions(os, kQueueFunctions, names.prefix);
  if (!model.datasets.empty())
    writeFunctions(os, kDatasetFunctions, names.prefix);
  writeDevices(os, model);
  writeVariables(os, model);
  if (!model.queues.empty())
    writeQueues(os, model);
  if (!model.datasets.empty())
    writeDatasets(os, model);
  for (auto [entry, entryNames] : llvm::zip(model.entries, names.entries))
    writeEntry(os, entry, entryNames, names.prefix);
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif // TFC_MODEL_" << guard << '\n';
  return text;
}
