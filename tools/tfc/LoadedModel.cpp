// Loads a compiled library and calls it through the C API.
#include "tools/tfc/LoadedModel.h"
#include "runtime/Model.h"
#include "tools/tfc/Message.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include <cstddef>
#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using namespace tfc;

std::string tfc::findRuntimeLibrary(const Triple &triple) {
  std::string program =
      sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findRuntimeLibrary));
  SmallString<128> path(sys::path::parent_path(sys::path::parent_path(program)));
  sys::path::append(path, "lib");
  if (triple.getArch() != Triple(sys::getDefaultTargetTriple()).getArch())
    sys::path::append(path, triple.getArchName() + "-linux-gnu");
  sys::path::append(path, "libtfcrt.a");
  return path.str().str();
}

LoadedModel::LoadedModel(LoadedModel &&other)
    : CallableModel(std::move(other)), handle(std::exchange(other.handle, nullptr)),
      library(other.library), instance(std::exchange(other.instance, nullptr)),
      threads(other.threads), memory(std::move(other.memory)),
      functions(std::move(other.functions)), compileTime(other.compileTime) {}

LoadedModel::~LoadedModel() {
  if (instance)
    library->api->destroy(instance);
  if (handle)
    dlclose(handle);
}

Expected<LoadedModel> LoadedModel::load(StringRef path, int32_t threads) {
  SmallString<128> absolute(path);
  sys::fs::make_absolute(absolute); // dlopen searches for names without a slash
  LoadedModel model;
  if (sys::fs::exists(absolute) && !sys::fs::is_regular_file(absolute))
    return makeError("cannot load {}: expected a regular file", path);
  model.handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!model.handle)
    return makeError("cannot load {}: {}", path, dlerror());
  using GetLibrary = const tfc_library *(*)();
  auto get = reinterpret_cast<GetLibrary>(dlsym(model.handle, "tfc_library_get"));
  if (!get)
    return makeError("{} is not a library that tfc wrote", path);
  model.library = get();
  if (model.library->api->abi_version != TFC_ABI_VERSION)
    return makeError("{} was written by another version of tfc", path);
  model.threads = threads;
  if (Error error = model.restart())
    return error;
  model.describe();
  model.functions = FunctionTable::read(absolute); // the file may not stay
  return model;
}

Error LoadedModel::restart() {
  if (instance)
    library->api->destroy(std::exchange(instance, nullptr));
  tfc_options options = {};
  options.size = sizeof(options);
  options.threads = threads;
  options.allocate = Memory::take;
  options.release = Memory::give;
  options.allocator_context = memory.get();
  return check(library->api->create(library->model, &options, &instance));
}

std::vector<std::string> LoadedModel::getVariables() const {
  std::vector<std::string> names;
  tfc_value value;
  for (int32_t i = 0; library->api->variable(library->model, i, &value) == TFC_OK; ++i)
    names.push_back(value.name);
  return names;
}

Expected<Array> LoadedModel::getVariable(StringRef name) {
  tfc_value value;
  for (int32_t i = 0; library->api->variable(library->model, i, &value) == TFC_OK; ++i) {
    if (value.name != name)
      continue;
    Array array{static_cast<tfc_dtype>(value.dtype), {value.dims, value.dims + value.rank}, {}};
    if (Error error = array.allocate())
      return std::move(error);
    tfc_tensor out = array.view();
    if (Error error = check(library->api->get(instance, value.name, &out)))
      return std::move(error);
    return array;
  }
  return makeError("there is no variable '{}'", name);
}

Error LoadedModel::setVariable(const std::string &name, Array value) {
  tfc_tensor in = value.view();
  return check(library->api->set(instance, name.c_str(), &in));
}

Error LoadedModel::check(tfc_status status) const {
  if (status == TFC_OK)
    return Error::success();
  StringRef message = library->api->message(instance);
  StringRef name = library->api->status_name(status);
  return createStringError(message.empty() ? name.str() : message.str());
}

SizeFacts LoadedModel::describeSizeFacts(int32_t entry) const {
  const tfc_api &api = *library->api;
  SizeFacts facts;
  // Libraries of earlier versions do not describe facts.
  if (api.size < offsetof(tfc_api, site) + sizeof(api.site))
    return facts;
  if (const char *site = api.site(library->model, entry))
    facts.site = site;
  tfc_fact info;
  for (int32_t i = 0; api.fact(library->model, entry, i, &info) == TFC_OK; ++i) {
    std::optional<dfg::Fact> fact = dfg::Fact::parse(info.text);
    if (!fact)
      continue;
    fact->site = info.site ? info.site : "";
    (info.defines ? facts.solved : facts.where).push_back(*fact);
  }
  return facts;
}

void LoadedModel::describe() {
  const tfc_api &api = *library->api;
  tfc_entry info;
  for (int32_t i = 0; api.entry(library->model, i, &info) == TFC_OK; ++i) {
    Entry entry{info.name, i, {}, {}, {}};
    tfc_value value;
    auto port = [&] {
      return Port{value.name, value.type, static_cast<tfc_dtype>(value.dtype), value.rank};
    };
    for (int32_t k = 0; api.feed(library->model, i, k, &value) == TFC_OK; ++k)
      entry.feeds.push_back(port());
    for (int32_t k = 0; api.fetch(library->model, i, k, &value) == TFC_OK; ++k)
      entry.fetches.push_back(port());
    tfc_symbol symbol;
    for (int32_t k = 0; api.symbol(library->model, i, k, &symbol) == TFC_OK; ++k)
      entry.symbols.push_back({symbol.name, symbol.lower, symbol.upper});
    entry.sizes = describeSizeFacts(i);
    entries.push_back(std::move(entry));
  }
}

void CallableModel::setSizeFacts(const std::map<std::string, SizeFacts> &facts) {
  for (Entry &entry : entries)
    if (auto found = facts.find(entry.name); found != facts.end())
      entry.sizes = found->second;
}

Expected<const Entry *> CallableModel::findEntry(StringRef name) const {
  if (name.empty() && entries.size() == 1)
    return &entries.front();
  for (const Entry &entry : entries)
    if (entry.name == name)
      return &entry;
  if (entries.empty())
    return createStringError("the graph has no entry to call");
  std::string known = join(map_range(entries, [](const Entry &e) { return e.name; }), ", ");
  if (name.empty())
    return makeError("the graph has several entries; choose one with --entry: {}", known);
  return makeError("the graph has no entry '{}'; it has: {}", name, known);
}

static std::vector<tfc_tensor> viewAll(std::vector<Array> &arrays) {
  std::vector<tfc_tensor> views;
  for (Array &array : arrays)
    views.push_back(array.view());
  return views;
}

Expected<std::vector<Array>> LoadedModel::makeFetches(const Entry &entry,
                                                      std::vector<Array> &feeds) {
  std::vector<tfc_tensor> inputs = viewAll(feeds), outputs(entry.fetches.size());
  if (Error error = check(library->api->infer(instance, entry.name.c_str(), inputs.data(),
                                              inputs.size(), outputs.data(), outputs.size())))
    return error;
  std::vector<Array> fetches;
  for (const tfc_tensor &tensor : outputs) {
    Array array;
    array.dtype = static_cast<tfc_dtype>(tensor.dtype);
    array.shape.assign(tensor.dims, tensor.dims + tensor.rank);
    if (Error error = array.allocate())
      return std::move(error);
    fetches.push_back(std::move(array));
  }
  return fetches;
}

Error LoadedModel::call(const Entry &entry, std::vector<Array> &feeds,
                        std::vector<Array> &fetches) {
  std::vector<tfc_tensor> inputs = viewAll(feeds), outputs = viewAll(fetches);
  return check(library->api->call(instance, entry.name.c_str(), inputs.data(), inputs.size(),
                                  outputs.data(), outputs.size()));
}

Expected<std::vector<Array>> LoadedModel::run(const Entry &entry, std::vector<Array> &feeds) {
  Expected<std::vector<Array>> fetches = makeFetches(entry, feeds);
  if (!fetches)
    return fetches.takeError();
  if (Error error = call(entry, feeds, *fetches))
    return error;
  if (Error error = cutToFound(*fetches))
    return error;
  return fetches;
}

Error LoadedModel::cutToFound(std::vector<Array> &fetches) {
  std::vector<tfc_tensor> found(fetches.size());
  if (Error error = check(library->api->found(instance, found.data(), found.size())))
    return error;
  for (auto [array, tensor] : zip(fetches, found)) {
    array.shape.assign(tensor.dims, tensor.dims + tensor.rank);
    array.data.resize(array.elementCount() * array.elementBytes());
  }
  return Error::success();
}

Expected<std::vector<std::vector<int64_t>>> LoadedModel::feedShapes(const Entry &entry,
                                                                    ArrayRef<int64_t> symbols) {
  size_t axes = 0;
  for (const Port &port : concat<const Port>(entry.feeds, entry.fetches))
    axes += port.rank;
  std::vector<int64_t> dims(axes + 1);
  if (tfc_status status =
          library->api->shapes(library->model, entry.index, symbols.data(), dims.data()))
    return makeError("{}: these sizes are {}", entry.name, library->api->status_name(status));
  std::vector<std::vector<int64_t>> shapes;
  auto next = dims.begin();
  for (const Port &feed : entry.feeds) {
    shapes.emplace_back(next, next + feed.rank);
    next += feed.rank;
  }
  return shapes;
}

void *LoadedModel::Memory::take(void *memory, size_t bytes, size_t alignment) {
  void *block = nullptr;
  if (posix_memalign(&block, std::max(alignment, sizeof(void *)), bytes))
    return nullptr;
  auto &counted = *static_cast<Memory *>(memory);
  int64_t now = counted.bytes += bytes, peak = counted.peak;
  while (peak < now && !counted.peak.compare_exchange_weak(peak, now)) {
  }
  return block;
}

void LoadedModel::Memory::give(void *memory, void *block, size_t bytes) {
  static_cast<Memory *>(memory)->bytes -= bytes;
  free(block);
}

/// The mapped bytes of the shared library that contains `address`.
static int64_t mappedBytes(const void *address) {
  struct Search {
    uintptr_t address;
    int64_t bytes;
  } search{reinterpret_cast<uintptr_t>(address), 0};
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto &search = *static_cast<Search *>(data);
    int64_t bytes = 0;
    bool isHere = false;
    for (const ElfW(Phdr) &segment : ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
      if (segment.p_type != PT_LOAD)
        continue;
      uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      isHere |= search.address - begin < segment.p_memsz;
      bytes += segment.p_memsz;
    }
    search.bytes = isHere ? bytes : search.bytes;
    return int(isHere);
  };
  dl_iterate_phdr(visit, &search);
  return search.bytes;
}

std::vector<std::string> LoadedModel::getDevices() const {
  std::vector<std::string> names;
  const tfc_model &model = *library->model;
  for (const tfc_device_info &device : ArrayRef(model.devices, model.device_count))
    names.push_back(device.task >= 0 ? std::string(device.name)
                                     : fmt::format("{}:{}", device.kind, device.index));
  if (names.empty())
    names.push_back("cpu:0");
  return names;
}

/// Returns the address at which the library was loaded.
static uintptr_t baseOf(const tfc_library *library) {
  Dl_info info;
  dladdr(library, &info);
  return reinterpret_cast<uintptr_t>(info.dli_fbase);
}

void *LoadedModel::findFunction(StringRef name) const {
  std::optional<uint64_t> address = functions.addressOf(name);
  return address ? reinterpret_cast<void *>(baseOf(library) + *address) : nullptr;
}

int64_t LoadedModel::peakBytes() const { return memory->peak + mappedBytes(library); }

Expected<std::vector<std::pair<StringRef, double>>>
LoadedModel::shareByFunction(ArrayRef<uintptr_t> samples) const {
  if (functions.isEmpty())
    return createStringError(
        "the library has no symbols: pass the graph, or compile it with --symbols");
  uintptr_t base = baseOf(library);
  std::map<StringRef, size_t> counts;
  for (uintptr_t sample : samples)
    ++counts[functions.find(sample - base)];
  std::vector<std::pair<StringRef, double>> shares;
  for (auto [name, count] : counts)
    shares.emplace_back(name, double(count) / samples.size());
  llvm::stable_sort(shares, [](auto &a, auto &b) { return a.second > b.second; });
  return shares;
}
