// Describes the interface of a model: entries, sizes with their bounds, variables, queues and
// datasets.
#include "compiler/pipeline/ModelInfo.h"
#include "dialects/dfg/BoundSite.h"
#include "dialects/dfg/DataChecks.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Partitions.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/Types.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/rt/Names.h"
#include "dialects/rt/Rt.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc;
using dfg::DimExpr;

//===----------------------------------------------------------------------===//
// Bounds of sizes
//===----------------------------------------------------------------------===//

const RunTimeSizeInfo *EntryInfo::findRunTimeSize(StringRef name) const {
  auto number = runTimeNumbers.find(name);
  return number == runTimeNumbers.end() ? nullptr : &runTimeSizes[number->second];
}

DimExpr::Interval EntryInfo::boundsOf(StringRef name) const {
  if (auto number = symbolNumbers.find(name); number != symbolNumbers.end()) {
    const SymbolInfo &symbol = symbols[number->second];
    return {symbol.lower, symbol.upper < 0 ? std::nullopt : std::optional(symbol.upper)};
  }
  if (const RunTimeSizeInfo *size = findRunTimeSize(name))
    return {0, size->bound.interval([&](StringRef other) { return boundsOf(other); }).second};
  return {};
}

DimExpr EntryInfo::atMost(const DimExpr &size) const {
  auto range = [&](StringRef name) -> std::pair<DimExpr, DimExpr> {
    if (const RunTimeSizeInfo *known = findRunTimeSize(name))
      return {DimExpr(0), atMost(known->bound)};
    return {DimExpr::symbol(name), DimExpr::symbol(name)};
  };
  return runTimeSizes.empty() ? size : size.limits(range).second;
}

//===----------------------------------------------------------------------===//
// Looking entries up
//===----------------------------------------------------------------------===//

unsigned ModelInfo::numberOf(dfg::EntryOp entry) const {
  StringRef name = entry.isPartition() ? *entry.getPartitionOf() : entry.getSymName();
  auto isIt = [&](const EntryInfo &info) { return info.name == name; };
  bool isInit = init && init->name == name;
  return isInit ? entries.size() : llvm::find_if(entries, isIt) - entries.begin();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Tightens a symbol's bounds by `size >= 0`; false if that is no bound of one symbol.
static bool applyBound(const DimExpr &size, StringRef site, EntryInfo &entry) {
  std::optional<dfg::SizeBound> bound = dfg::boundOfNonNegative(size);
  if (!bound || (bound->isUpper && bound->limit < 0))
    return false;
  auto number = entry.symbolNumbers.find(bound->name);
  if (number == entry.symbolNumbers.end())
    return false;
  SymbolInfo &symbol = entry.symbols[number->second];
  if (!bound->isUpper && bound->limit > symbol.lower) {
    symbol.lower = bound->limit;
    symbol.lowerSite = site;
  } else if (bound->isUpper && (symbol.upper < 0 || bound->limit < symbol.upper)) {
    symbol.upper = bound->limit;
    symbol.upperSite = site;
  }
  return true;
}

/// Tightens the symbols' bounds by a fact; false if they cannot express it.
static bool applyFact(const dfg::Fact &fact, EntryInfo &entry) {
  std::optional<SmallVector<DimExpr>> sizes = fact.asNonNegative();
  return sizes && llvm::all_of(*sizes, [&](const DimExpr &size) {
           return applyBound(size, fact.site, entry);
         });
}

/// Finds the axis of a feed that determines each size, by name: the first that is the size itself,
/// else the first that is a multiple of it or differs by a constant.
static llvm::StringMap<SymbolInfo> locateSymbols(const EntryInfo &entry) {
  llvm::StringMap<SymbolInfo> located;
  auto isPlain = [](const SymbolInfo &symbol) { return symbol.scale == 1 && symbol.offset == 0; };
  for (auto [feedIndex, feed] : llvm::enumerate(entry.feeds))
    for (auto [axis, size] : llvm::enumerate(dfg::shapeOf(feed.type))) {
      std::optional<DimExpr::Linear> linear = size.asLinear();
      if (!linear)
        continue;
      SymbolInfo symbol{.name = linear->name,
                        .feed = unsigned(feedIndex),
                        .axis = unsigned(axis),
                        .scale = linear->scale,
                        .offset = linear->offset};
      auto [known, isNew] = located.try_emplace(linear->name, symbol);
      if (!isNew && isPlain(symbol) && !isPlain(known->second))
        known->second = symbol;
    }
  return located;
}

static std::vector<ValueInfo> describeValues(TypeRange types, ArrayAttr attributes,
                                             StringRef fallback) {
  std::vector<ValueInfo> values;
  for (auto [i, type] : llvm::enumerate(types)) {
    StringAttr name;
    if (attributes)
      name = cast<DictionaryAttr>(attributes[i]).getAs<StringAttr>(dfg::kNameAttr);
    values.push_back(
        {name ? name.str() : (fallback + Twine(i)).str(), cast<RankedTensorType>(type)});
  }
  return values;
}

static bool writesVariables(ArrayRef<dfg::EntryOp> partitions) {
  return llvm::any_of(partitions, [](dfg::EntryOp op) {
    return op.walk([](dfg::AssignOp) { return WalkResult::interrupt(); }).wasInterrupted();
  });
}

static LogicalResult describeSymbols(dfg::EntryOp op, EntryInfo &entry) {
  if (!op.getSymbols())
    return success();
  llvm::StringMap<SymbolInfo> located = locateSymbols(entry);
  dfg::BoundSites sites(op);
  for (StringRef name : op.getSymbolsAttr().getAsValueRange<StringAttr>()) {
    auto known = located.find(name);
    if (known == located.end())
      return op.emitError() << "no feed of entry '" << entry.name << "' determines the size '"
                            << name
                            << "'; expected a feed with a dimension that is a multiple of it";
    SymbolInfo symbol = known->second;
    if (DictionaryAttr bounds = op.getBoundsAttr())
      if (auto bound = bounds.getAs<IntegerAttr>(name)) {
        symbol.upper = bound.getInt();
        symbol.upperSite = sites.of(name);
      }
    entry.symbolNumbers.try_emplace(name, entry.symbols.size());
    entry.symbols.push_back(symbol);
  }
  if (op.getWhere())
    for (auto attribute : op.getWhereAttr().getAsRange<dfg::FactAttr>())
      if (dfg::Fact fact = dfg::withSite(attribute.getFact(), op); !applyFact(fact, entry))
        entry.where.push_back(fact);
  return success();
}

/// Describes the sizes that operations of the entry bind, and those that occur in its results.
static LogicalResult describeRunTimeSizes(ArrayRef<dfg::EntryOp> partitions, EntryInfo &entry) {
  dfg::EntryOp op = partitions.front();
  llvm::StringSet<> known;
  for (const SymbolInfo &symbol : entry.symbols)
    known.insert(symbol.name);
  auto describe = [&](dfg::BindSizeOp binder) {
    if (!known.insert(binder.getName()).second)
      return;
    entry.runTimeNumbers.try_emplace(binder.getName(), entry.runTimeSizes.size());
    entry.runTimeSizes.push_back({binder.getName(), binder.getBoundExpr()});
  };
  for (dfg::EntryOp partition : partitions)
    partition.walk<WalkOrder::PreOrder>(describe);
  dfg::NameSet names;
  for (const ValueInfo &fetch : entry.fetches)
    for (const DimExpr &size : dfg::shapeOf(fetch.type))
      size.collectSymbols(names);
  for (const std::string &name : names) {
    if (!known.contains(name))
      return op.emitError() << "nothing in entry '" << entry.name << "' determines the size '"
                            << name << "' of its results";
    if (entry.findRunTimeSize(name))
      entry.found.push_back(name);
  }
  return success();
}

/// The named tensors of an element of a queue, or of a row.
template <typename Op> static std::vector<VariableInfo> describeComponents(Op op) {
  std::vector<VariableInfo> components;
  for (auto [name, type] :
       llvm::zip_equal(op.getNames().template getAsValueRange<StringAttr>(), op.getTensorTypes()))
    components.push_back({name.str(), type, std::nullopt});
  return components;
}

static QueueInfo describeQueue(dfg::QueueOp op) {
  QueueInfo queue{op.getSymName().str(),     op.getKind(),          int64_t(op.getCapacity()),
                  int64_t(op.getMinReady()), int64_t(op.getSeed()), {}};
  queue.components = describeComponents(op);
  return queue;
}

static DatasetInfo describeDataset(dfg::DatasetOp op) {
  DatasetInfo dataset{op.getSymName().str(), op.getFormat(), int64_t(op.getSkip()), {}, {}};
  for (StringRef path : op.getPaths().getAsValueRange<StringAttr>())
    dataset.paths.push_back(path.str());
  dataset.components = describeComponents(op);
  return dataset;
}

static FailureOr<EntryInfo> describeEntry(dfg::EntryOp op, SymbolTable &symbols) {
  SmallVector<dfg::EntryOp> partitions = dfg::partitionsOf(op, symbols);
  EntryInfo entry;
  entry.name = op.getSymName().str();
  entry.doc = op.getDoc().value_or("").str();
  entry.site = dfg::siteOf(op.getLoc());
  entry.feeds = describeValues(op.getArgumentTypes(), op.getArgAttrsAttr(), "feed");
  entry.fetches = describeValues(op.getResultTypes(), op.getResAttrsAttr(), "fetch");
  entry.writes = writesVariables(partitions);
  if (op.getSolved())
    for (auto attribute : op.getSolvedAttr().getAsRange<dfg::FactAttr>())
      entry.solved.push_back(attribute.getFact());
  if (failed(describeSymbols(op, entry)) || failed(describeRunTimeSizes(partitions, entry)))
    return failure();
  return entry;
}

void tfc::requireSizes(ModuleOp module) {
  for (auto entry : module.getOps<dfg::EntryOp>()) {
    SmallVector<dfg::FactAttr> facts = dfg::requiredFacts(entry);
    if (!facts.empty())
      entry.setWhereAttr(ArrayAttr::get(module.getContext(), llvm::to_vector_of<Attribute>(facts)));
  }
}

FailureOr<ModelInfo> tfc::describeModel(ModuleOp module) {
  ModelInfo model;
  model.name = module.getSymName().value_or("").str();
  for (auto variable : module.getOps<dfg::VariableOp>()) {
    VariableInfo info{variable.getSymName().str(), variable.getTensorType(), std::nullopt};
    if (variable.getFormerly())
      info.formerly = variable.getFormerly()->str();
    info.slice = variable.getSliceAttr();
    model.variables.push_back(std::move(info));
  }
  for (auto queue : module.getOps<dfg::QueueOp>())
    model.queues.push_back(describeQueue(queue));
  for (auto dataset : module.getOps<dfg::DatasetOp>())
    model.datasets.push_back(describeDataset(dataset));
  SymbolTable symbols(module);
  bool failedOnce = false;
  for (auto op : module.getOps<dfg::EntryOp>()) {
    if (op.isPartition())
      continue;
    FailureOr<EntryInfo> entry = describeEntry(op, symbols);
    if (failed(entry))
      failedOnce = true;
    else if (op.getInitializer())
      model.init = std::move(*entry);
    else
      model.entries.push_back(std::move(*entry));
  }
  if (failedOnce)
    return failure();
  return model;
}

void tfc::describeCode(ModuleOp module, ModelInfo &model) {
  if (IntegerAttr chunks = dfg::DfgDialect::ChunksAttrHelper(module.getContext()).getAttr(module))
    model.chunks = chunks.getInt();
  for (dfg::DeviceAttr device : dfg::devicesOf(module))
    model.devices.push_back(device.getName().str());
  model.cluster = dfg::Cluster::of(module);
  if (auto fingerprint = module->getAttrOfType<IntegerAttr>(dfg::kFingerprintAttr))
    model.fingerprint = fingerprint.getInt();
  if (auto numbers = module->getAttrOfType<DenseI64ArrayAttr>(rt::kVariableDevicesAttr))
    for (auto [variable, device] : llvm::zip(model.variables, numbers.asArrayRef()))
      variable.device = device;
  if (auto constants = module->getAttrOfType<ArrayAttr>(rt::kCopiedConstantsAttr))
    for (auto constant : constants.getAsRange<rt::CopiedConstantAttr>())
      model.copiedConstants.push_back(
          {constant.getOffset(), constant.getBytes(), constant.getDevice()});
  for (auto image : module.getOps<kernel::ImageOp>()) {
    ImageInfo &info = model.image.emplace();
    info.kind = image.getTarget();
    info.code = image.getCode();
    for (kernel::BinaryAttr binary : image.getKnownBinaries())
      info.binaries.emplace_back(binary.getCapability(), binary.getCode().str());
    for (kernel::GridAttr grid : kernel::gridsOf(module))
      info.grids.emplace_back(grid.getName().str(), grid.getBlock());
  }
  auto describe = [&](EntryInfo &info, unsigned number) {
    auto run = module.lookupSymbol(rt::entryFunctionName(number, "run"));
    auto partitioning =
        run ? run->getAttrOfType<rt::PartitioningAttr>(rt::kPartitioningAttr) : nullptr;
    if (!partitioning)
      return;
    PartitioningInfo &known = info.partitioning.emplace();
    known.devices = partitioning.getDevices().vec();
    known.accesses = partitioning.getAccesses().vec();
    for (auto slot : partitioning.getSlots().getAsRange<dfg::SlotAttr>())
      known.slots.emplace_back(slot.getSender(), slot.getReceiver());
    known.commits = partitioning.getCommits();
    auto onGpu = run->getAttrOfType<DenseI64ArrayAttr>(rt::kOnGpuAttr);
    if (!onGpu || onGpu.size() != int64_t(info.feeds.size() + info.fetches.size()))
      return;
    ArrayRef<int64_t> rest = onGpu.asArrayRef();
    for (std::vector<ValueInfo> *values : {&info.feeds, &info.fetches})
      for (ValueInfo &value : *values) {
        value.onGpu = rest.front();
        rest = rest.drop_front();
      }
  };
  for (auto [number, info] : llvm::enumerate(model.entries))
    describe(info, number);
  if (model.init)
    describe(*model.init, model.entries.size());
}
