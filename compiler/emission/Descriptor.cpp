// Writes the tables of runtime/Model.h and the typed C functions as LLVM IR. This file knows the
// layout of the tables; the host functions that they refer to come from the module.
#include "compiler/emission/Descriptor.h"
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/Types.h"
#include "dialects/rt/Names.h"
#include "runtime/Model.h"
#include "llvm/IR/IRBuilder.h"

using namespace tfc;
using namespace tfc::emission;
using llvm::ArrayRef;
using llvm::Constant;
using llvm::StringRef;
using llvm::Value;

namespace {

/// The parameters of a typed C function after the instance: sizes, then pointers, all of 64 bits.
/// Those that are not in registers become one array, which is where the caller has put them: a
/// function with thousands of parameters would take LLVM minutes.
struct Words {
  unsigned symbols, count, inRegisters;
};

/// Builds the structures of runtime/Model.h field by field; the assertions below check their
/// layout.
class DescriptorBuilder {
public:
  DescriptorBuilder(const ModelInfo &model, const ModelNames &names, llvm::Module &module)
      : model(model), names(names), module(module), b(module.getContext()) {}

  llvm::GlobalVariable *buildModel(StringRef cpu, StringRef features);
  llvm::GlobalVariable *buildLibrary(Constant *descriptor);
  void buildInstanceFunctions(Constant *descriptor);
  void buildEntryFunction(unsigned index);
  void buildLibraryFunction(StringRef name, Constant *library);

private:
  Constant *null() { return llvm::ConstantPointerNull::get(b.getPtrTy()); }
  Constant *i32(int64_t value) { return b.getInt32(static_cast<uint32_t>(value)); }
  Constant *i64(int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }

  llvm::GlobalVariable *makeGlobal(Constant *value, const llvm::Twine &name = "",
                                   bool isPrivate = true);
  Constant *text(StringRef value);
  Constant *site(StringRef value);
  Constant *structure(ArrayRef<Constant *> fields);
  /// A private array; null if it is empty.
  Constant *array(ArrayRef<Constant *> elements);
  Constant *dims(ArrayRef<int64_t> sizes);

  Constant *slice(dfg::SliceAttr slice);
  Constant *variable(const VariableInfo &info);
  Constant *components(ArrayRef<VariableInfo> infos);
  Constant *queue(const QueueInfo &info);
  Constant *dataset(const DatasetInfo &info);
  Constant *value(const ValueInfo &info);
  Constant *symbol(const SymbolInfo &info);
  Constant *facts(const EntryInfo &info);
  Constant *partitioning(const EntryInfo &info, unsigned number);
  Constant *device(StringRef name);
  Constant *image(const ImageInfo &info);
  Constant *copiedConstants();
  Constant *entry(const EntryInfo &info, unsigned number);
  Constant *hostFunction(unsigned number, StringRef what, llvm::FunctionType *type);

  /// Begins a function whose first parameter is an instance (or a replacement) and that has further
  /// parameters.
  llvm::Function *beginFunction(StringRef name, llvm::Type *result, ArrayRef<llvm::Type *> more);
  /// Defines `name`, which passes its arguments, after `first` if given, to `callee`.
  void forward(StringRef name, StringRef callee, llvm::Type *result, ArrayRef<llvm::Type *> more,
               Constant *first = nullptr);
  Words wordsOf(const EntryInfo &info) const;
  /// Begins the typed function of an entry, which takes the instance and then `words`.
  llvm::Function *beginEntryFunction(StringRef name, const Words &words);
  Value *arrayOf(llvm::Function *function, const Words &words, unsigned begin, unsigned count);

  const ModelInfo &model;
  const ModelNames &names;
  llvm::Module &module;
  llvm::IRBuilder<> b;
};

} // namespace

// The layouts that the functions below rely on.
static_assert(sizeof(tfc_variable_info) == 56 && offsetof(tfc_variable_info, dims) == 24);
static_assert(sizeof(tfc_value_info) == 32 && offsetof(tfc_value_info, on_gpu) == 24);
static_assert(sizeof(tfc_symbol_info) == 64 && offsetof(tfc_symbol_info, lower_site) == 48);
static_assert(sizeof(tfc_entry_info) == 120 && offsetof(tfc_entry_info, facts) == 88 &&
              offsetof(tfc_entry_info, partitioning) == 112);
static_assert(sizeof(tfc_partition_info) == 32 && sizeof(tfc_slot_info) == 8 &&
              sizeof(tfc_partitioning) == 32 && sizeof(tfc_device_info) == 32);
static_assert(sizeof(tfc_fact) == 24 && offsetof(tfc_fact, defines) == 16);
static_assert(sizeof(tfc_grid_info) == 16 && sizeof(tfc_binary_info) == 16 &&
              sizeof(tfc_image_info) == 48);
static_assert(sizeof(tfc_constant_info) == 24);
static_assert(sizeof(tfc_model) == 160 && offsetof(tfc_model, init) == 56 &&
              offsetof(tfc_model, queue_count) == 72 && offsetof(tfc_model, device_count) == 88);
static_assert(sizeof(tfc_queue_info) == 48 && offsetof(tfc_queue_info, components) == 16);
static_assert(sizeof(tfc_dataset_info) == 48 && offsetof(tfc_dataset_info, components) == 16);
static_assert(sizeof(tfc_library) == 16);

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

llvm::GlobalVariable *DescriptorBuilder::makeGlobal(Constant *value, const llvm::Twine &name,
                                                    bool isPrivate) {
  auto linkage = isPrivate ? llvm::GlobalValue::PrivateLinkage : llvm::GlobalValue::ExternalLinkage;
  auto *global = new llvm::GlobalVariable(module, value->getType(), true, linkage, value, name);
  if (!isPrivate)
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return global;
}

Constant *DescriptorBuilder::text(StringRef value) {
  return makeGlobal(llvm::ConstantDataArray::getString(module.getContext(), value));
}

Constant *DescriptorBuilder::site(StringRef value) { return value.empty() ? null() : text(value); }

Constant *DescriptorBuilder::structure(ArrayRef<Constant *> fields) {
  return llvm::ConstantStruct::getAnon(fields);
}

Constant *DescriptorBuilder::array(ArrayRef<Constant *> elements) {
  if (elements.empty())
    return null();
  auto *type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
  return makeGlobal(llvm::ConstantArray::get(type, elements));
}

Constant *DescriptorBuilder::dims(ArrayRef<int64_t> sizes) {
  llvm::SmallVector<Constant *> values;
  for (int64_t size : sizes)
    values.push_back(i64(size));
  return array(values);
}

Constant *DescriptorBuilder::slice(dfg::SliceAttr slice) {
  return makeGlobal(structure({text(slice.getWhole()), i64(slice.getAxis()), i64(slice.getFirst()),
                               i64(slice.getStep()), i64(slice.getSize())}));
}

Constant *DescriptorBuilder::variable(const VariableInfo &info) {
  const dfg::Dtype &dtype = dfg::dtypeOf(info.type.getElementType());
  return structure({text(info.name), info.formerly ? text(*info.formerly) : null(), i32(dtype.code),
                    i32(info.type.getRank()), dims(info.type.getShape()),
                    i64(info.type.getNumElements() * dtype.bytes), i64(info.device),
                    info.slice ? slice(info.slice) : null()});
}

static int32_t kindOf(dfg::QueueKind kind) {
  switch (kind) {
  case dfg::QueueKind::Fifo:
    return TFC_QUEUE_FIFO;
  case dfg::QueueKind::Shuffle:
    return TFC_QUEUE_SHUFFLE;
  case dfg::QueueKind::Priority:
    return TFC_QUEUE_PRIORITY;
  }
  llvm_unreachable("unknown kind of queue");
}

Constant *DescriptorBuilder::components(ArrayRef<VariableInfo> infos) {
  llvm::SmallVector<Constant *> components;
  for (const VariableInfo &component : infos)
    components.push_back(variable(component));
  return array(components);
}

Constant *DescriptorBuilder::queue(const QueueInfo &info) {
  return structure({text(info.name), i32(kindOf(info.kind)), i32(info.components.size()),
                    components(info.components), i64(info.capacity), i64(info.minReady),
                    i64(info.seed)});
}

// The numbers of the formats are those of the runtime.
static_assert(int(dfg::DatasetFormat::Csv) == TFC_DATASET_CSV &&
              int(dfg::DatasetFormat::Npy) == TFC_DATASET_NPY &&
              int(dfg::DatasetFormat::Safetensors) == TFC_DATASET_SAFETENSORS &&
              int(dfg::DatasetFormat::Tfrecord) == TFC_DATASET_TFRECORD &&
              int(dfg::DatasetFormat::Raw) == TFC_DATASET_RAW);

Constant *DescriptorBuilder::dataset(const DatasetInfo &info) {
  llvm::SmallVector<Constant *> paths;
  for (const std::string &path : info.paths)
    paths.push_back(text(path));
  return structure({text(info.name), i32(int(info.format)), i32(info.components.size()),
                    components(info.components), array(paths), i64(paths.size()), i64(info.skip)});
}

Constant *DescriptorBuilder::value(const ValueInfo &info) {
  return structure({text(info.name), text(dfg::toText(info.type)),
                    i32(dfg::dtypeOf(info.type.getElementType()).code), i32(info.type.getRank()),
                    i64(info.onGpu)});
}

Constant *DescriptorBuilder::symbol(const SymbolInfo &info) {
  return structure({text(info.name), i64(info.lower), i64(info.upper), i32(info.feed),
                    i32(info.axis), i64(info.scale), i64(info.offset), site(info.lowerSite),
                    site(info.upperSite)});
}

Constant *DescriptorBuilder::facts(const EntryInfo &info) {
  llvm::SmallVector<Constant *> all;
  auto add = [&](ArrayRef<dfg::Fact> facts, int32_t defines) {
    for (const dfg::Fact &fact : facts)
      all.push_back(structure({text(fact.str()), site(fact.site), i32(defines)}));
  };
  add(info.where, 0);
  add(info.solved, 1);
  return array(all);
}

Constant *DescriptorBuilder::hostFunction(unsigned number, StringRef what,
                                          llvm::FunctionType *type) {
  std::string name = names.prefix + "." + rt::entryFunctionName(number, what);
  auto *function = cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return function;
}

Constant *DescriptorBuilder::entry(const EntryInfo &info, unsigned number) {
  llvm::SmallVector<Constant *> feeds, fetches, symbols;
  for (const ValueInfo &feed : info.feeds)
    feeds.push_back(value(feed));
  for (const ValueInfo &fetch : info.fetches)
    fetches.push_back(value(fetch));
  for (const SymbolInfo &info : info.symbols)
    symbols.push_back(symbol(info));
  llvm::Type *ptr = b.getPtrTy();
  auto *shapes = llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr}, false);
  auto *arena = llvm::FunctionType::get(b.getInt64Ty(), {ptr}, false);
  auto *run = llvm::FunctionType::get(b.getInt32Ty(), {ptr}, false);
  auto *found = llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr, ptr}, false);
  return structure({text(info.name), i32(feeds.size()), i32(fetches.size()), i32(symbols.size()),
                    i32(info.writes), array(feeds), array(fetches), array(symbols),
                    hostFunction(number, "shapes", shapes), hostFunction(number, "arena", arena),
                    hostFunction(number, "run", run),
                    info.found.empty() ? null() : hostFunction(number, "found", found),
                    i64(info.found.size()), facts(info),
                    i64(info.where.size() + info.solved.size()), site(info.site),
                    partitioning(info, number)});
}

Constant *DescriptorBuilder::partitioning(const EntryInfo &info, unsigned number) {
  if (!info.partitioning)
    return null();
  llvm::SmallVector<Constant *> partitions, slots;
  auto *run = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false);
  auto *arena = llvm::FunctionType::get(b.getInt64Ty(), {b.getPtrTy()}, false);
  for (auto [i, device] : llvm::enumerate(info.partitioning->devices))
    partitions.push_back(structure({hostFunction(number, rt::partitionName(i), run),
                                    hostFunction(number, rt::arenaName(i), arena), i64(device),
                                    i64(info.partitioning->accesses[i])}));
  for (auto [sender, receiver] : info.partitioning->slots)
    slots.push_back(structure({i32(sender), i32(receiver)}));
  return makeGlobal(structure({array(partitions), array(slots), i32(partitions.size()),
                               i32(slots.size()), i64(info.partitioning->commits)}));
}

Constant *DescriptorBuilder::device(StringRef name) {
  std::string reason;
  dfg::DeviceName device = *dfg::DeviceName::parse(name, reason);
  std::optional<int64_t> task = model.cluster.taskOf(device);
  return structure({text(name), text(device.kind), i64(*device.index), i64(task.value_or(-1))});
}

Constant *DescriptorBuilder::image(const ImageInfo &info) {
  llvm::SmallVector<Constant *> grids, binaries;
  for (auto &[name, block] : info.grids)
    grids.push_back(structure({text(name), i64(block)}));
  for (auto &[capability, code] : info.binaries) {
    llvm::GlobalVariable *bytes = makeGlobal(
        llvm::ConstantDataArray::getString(module.getContext(), code, /*AddNull=*/false));
    bytes->setAlignment(llvm::Align(16));
    binaries.push_back(structure({bytes, i64(capability)}));
  }
  return makeGlobal(structure({text(info.kind), text(info.code), array(grids), i64(grids.size()),
                               array(binaries), i64(binaries.size())}));
}

Constant *DescriptorBuilder::copiedConstants() {
  if (model.copiedConstants.empty())
    return null();
  auto *weights = new llvm::GlobalVariable(module, llvm::ArrayType::get(b.getInt8Ty(), 0), true,
                                           llvm::GlobalValue::ExternalLinkage, nullptr,
                                           names.prefix + "." + rt::kWeightsName.str());
  weights->setVisibility(llvm::GlobalValue::HiddenVisibility);
  llvm::SmallVector<Constant *> constants;
  for (const CopiedConstant &constant : model.copiedConstants) {
    Constant *data =
        llvm::ConstantExpr::getGetElementPtr(b.getInt8Ty(), weights, i64(constant.offset));
    constants.push_back(structure({data, i64(constant.bytes), i64(constant.device)}));
  }
  return array(constants);
}

llvm::GlobalVariable *DescriptorBuilder::buildModel(StringRef cpu, StringRef features) {
  llvm::SmallVector<Constant *> variables, entries, queues, datasets, devices, tasks;
  for (const std::string &name : model.cluster.taskNames())
    tasks.push_back(text(name));
  for (StringRef name : model.devices)
    devices.push_back(device(name));
  for (const VariableInfo &info : model.variables)
    variables.push_back(variable(info));
  for (auto [number, info] : llvm::enumerate(model.entries))
    entries.push_back(entry(info, number));
  for (const QueueInfo &info : model.queues)
    queues.push_back(queue(info));
  for (const DatasetInfo &info : model.datasets)
    datasets.push_back(dataset(info));
  EntryInfo noInit;
  const EntryInfo &init = model.init ? *model.init : noInit;
  Constant *initializer = model.init ? makeGlobal(entry(init, model.entries.size())) : null();
  StringRef name = model.name.empty() ? StringRef(names.prefix) : StringRef(model.name);
  return makeGlobal(structure({i32(TFC_ABI_VERSION),
                               i32(variables.size()),
                               i32(entries.size()),
                               i32(model.chunks),
                               text(name),
                               text(cpu),
                               text(features),
                               array(variables),
                               array(entries),
                               initializer,
                               array(queues),
                               i64(queues.size()),
                               array(devices),
                               i64(devices.size()),
                               model.image ? image(*model.image) : null(),
                               copiedConstants(),
                               i64(model.copiedConstants.size()),
                               array(tasks),
                               i64(tasks.size()),
                               array(datasets),
                               i64(datasets.size()),
                               i64(model.fingerprint)}),
                    names.prefix + ".model", false);
}

llvm::GlobalVariable *DescriptorBuilder::buildLibrary(Constant *descriptor) {
  auto *api = new llvm::GlobalVariable(
      module, b.getPtrTy(), true, llvm::GlobalValue::ExternalLinkage, nullptr, "tfc_runtime_api");
  api->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return makeGlobal(structure({api, descriptor}), names.prefix + ".library", false);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

llvm::Function *DescriptorBuilder::beginFunction(StringRef name, llvm::Type *result,
                                                 ArrayRef<llvm::Type *> more) {
  llvm::SmallVector<llvm::Type *> types{b.getPtrTy()};
  llvm::append_range(types, more);
  auto *type = llvm::FunctionType::get(result, types, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->setDoesNotThrow();
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  return function;
}

void DescriptorBuilder::forward(StringRef name, StringRef callee, llvm::Type *result,
                                ArrayRef<llvm::Type *> more, Constant *first) {
  llvm::Function *function = beginFunction(name, result, more);
  llvm::SmallVector<Value *> arguments;
  if (first)
    arguments.push_back(first);
  for (llvm::Argument &argument : function->args())
    arguments.push_back(&argument);
  auto types = llvm::map_to_vector(arguments, [](Value *v) { return v->getType(); });
  auto *type = llvm::FunctionType::get(result, types, false);
  llvm::CallInst *call = b.CreateCall(module.getOrInsertFunction(callee, type), arguments);
  call->setTailCall();
  if (result->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
}

void DescriptorBuilder::buildInstanceFunctions(Constant *descriptor) {
  llvm::Type *status = b.getInt32Ty(), *ptr = b.getPtrTy();
  forward(names.of("create"), "tfc_instance_create", status, ptr, descriptor);
  forward(names.of("fork"), "tfc_instance_fork", status, ptr);
  forward(names.of("destroy"), "tfc_instance_destroy", b.getVoidTy(), {});
  forward(names.of("message"), "tfc_instance_message", ptr, {});
  forward(names.of("save"), "tfc_instance_save", status, ptr);
  forward(names.of("load"), "tfc_instance_load", status, ptr);
  forward(names.of("get"), "tfc_instance_get", status, {ptr, ptr});
  forward(names.of("set"), "tfc_instance_set", status, {ptr, ptr});
  if (!model.cluster.isEmpty())
    forward(names.of("serve"), "tfc_instance_serve", status, {});
  if (!model.datasets.empty())
    forward(names.of("open_dataset"), "tfc_instance_open_dataset", status,
            {ptr, ptr, b.getInt64Ty()});
  if (model.queues.empty())
    return;
  forward(names.of("queue_size"), "tfc_instance_queue_size", status, {ptr, ptr});
  forward(names.of("queue_close"), "tfc_instance_queue_close", status, {ptr, b.getInt32Ty()});
  forward(names.of("cancel"), "tfc_instance_cancel", b.getVoidTy(), {});
}

/// The number of arguments that the C calling convention passes in registers before it passes each
/// of the following in 8 bytes of the stack, in order, so that they form an array. If that is not
/// known, arguments can be passed one by one.
static unsigned argumentsInRegisters(const llvm::Triple &triple) {
  bool isSystemV = triple.isX86_64() && !triple.isX32() && !triple.isOSWindows();
  return isSystemV ? 6 : UINT_MAX;
}

Words DescriptorBuilder::wordsOf(const EntryInfo &info) const {
  unsigned symbols = info.symbols.size();
  unsigned count = symbols + info.feeds.size() + info.fetches.size() + info.found.size();
  unsigned registers = argumentsInRegisters(module.getTargetTriple());
  return {symbols, count, std::min(count, registers - 1)};
}

llvm::Function *DescriptorBuilder::beginEntryFunction(StringRef name, const Words &words) {
  llvm::SmallVector<llvm::Type *> types(words.inRegisters, b.getPtrTy());
  std::fill_n(types.begin(), std::min(words.symbols, words.inRegisters), b.getInt64Ty());
  if (words.inRegisters == words.count)
    return beginFunction(name, b.getInt32Ty(), types);
  types.push_back(b.getPtrTy());
  llvm::Function *function = beginFunction(name, b.getInt32Ty(), types);
  llvm::AttrBuilder attributes(module.getContext());
  attributes.addByValAttr(llvm::ArrayType::get(b.getInt64Ty(), words.count - words.inRegisters));
  attributes.addAlignmentAttr(8);
  function->addParamAttrs(types.size(), attributes);
  return function;
}

/// Returns an array of `count` words from number `begin` on. Those on the stack are one already.
Value *DescriptorBuilder::arrayOf(llvm::Function *function, const Words &words, unsigned begin,
                                  unsigned count) {
  if (count == 0)
    return null();
  llvm::Type *word = b.getInt64Ty();
  llvm::Argument *last = function->getArg(function->arg_size() - 1);
  if (begin >= words.inRegisters)
    return b.CreateConstGEP1_64(word, last, begin - words.inRegisters);
  Value *list = b.CreateAlloca(llvm::ArrayType::get(word, count));
  unsigned stored = std::min(count, words.inRegisters - begin);
  for (unsigned i = 0; i < stored; ++i)
    b.CreateStore(function->getArg(1 + begin + i), b.CreateConstGEP1_64(word, list, i));
  if (stored < count)
    b.CreateMemCpy(b.CreateConstGEP1_64(word, list, stored), llvm::Align(8), last, llvm::Align(8),
                   uint64_t(8) * (count - stored));
  return list;
}

void DescriptorBuilder::buildEntryFunction(unsigned index) {
  const EntryInfo &info = model.entries[index];
  Words words = wordsOf(info);
  llvm::Function *function = beginEntryFunction(names.entries[index].function, words);
  llvm::SmallVector<Value *> arguments{function->getArg(0), i32(index)};
  unsigned next = 0;
  auto pass = [&](size_t count) {
    arguments.push_back(arrayOf(function, words, next, count));
    next += count;
  };
  pass(info.symbols.size());
  pass(info.feeds.size());
  pass(info.fetches.size());
  bool finds = !info.found.empty();
  if (finds)
    pass(info.found.size());
  llvm::Type *ptr = b.getPtrTy();
  llvm::SmallVector<llvm::Type *> parameters{ptr, b.getInt32Ty(), ptr, ptr, ptr};
  parameters.resize(arguments.size(), ptr);
  auto *type = llvm::FunctionType::get(b.getInt32Ty(), parameters, false);
  StringRef callee = finds ? "tfc_instance_call_and_find" : "tfc_instance_call";
  b.CreateRet(b.CreateCall(module.getOrInsertFunction(callee, type), arguments));
}

void DescriptorBuilder::buildLibraryFunction(StringRef name, Constant *library) {
  auto *type = llvm::FunctionType::get(b.getPtrTy(), {}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->setDoesNotThrow();
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  b.CreateRet(library);
}

/// The features in "+avx2,-avx512f,..." that the code requires.
static std::string neededFeatures(StringRef features) {
  llvm::SmallVector<StringRef> all, needed;
  features.split(all, ',', -1, false);
  llvm::copy_if(all, std::back_inserter(needed), [](StringRef f) { return f.starts_with("+"); });
  return llvm::join(needed, ",");
}

CodeUnit tfc::emission::makeDescriptor(const ModelInfo &model, const ModelNames &names,
                                       const llvm::TargetMachine &target, bool isLibrary) {
  CodeUnit unit = makeUnit("descriptor", target);
  DescriptorBuilder builder(model, names, *unit.module);
  Constant *descriptor =
      builder.buildModel(target.getTargetCPU(), neededFeatures(target.getTargetFeatureString()));
  Constant *library = builder.buildLibrary(descriptor);
  builder.buildInstanceFunctions(descriptor);
  for (unsigned i = 0; i < model.entries.size(); ++i)
    builder.buildEntryFunction(i);
  builder.buildLibraryFunction(names.of("library"), library);
  if (isLibrary)
    builder.buildLibraryFunction("tfc_library_get", library);
  return unit;
}
