// The interface of a compiled model, read from a module in entry form before the stages transform
// it.
#pragma once

#include "dialects/dfg/Cluster.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Enums.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc {

struct VariableInfo {
  std::string name; // checkpoint name
  mlir::RankedTensorType type;
  std::optional<std::string> formerly;
  int64_t device = 0;        // by number in the model; see `describeCode`
  dfg::SliceAttr slice = {}; // or null
};

/// The code for devices that have memory of their own, and the functions in it by name with the
/// threads of their blocks.
struct ImageInfo {
  std::string kind; // of the devices
  std::string code;
  std::vector<std::pair<int64_t, std::string>> binaries; // by capability, see kernel.binary
  std::vector<std::pair<std::string, int64_t>> grids;
};

/// A part of the constants of which a device, by number in the model, has a copy.
struct CopiedConstant {
  int64_t offset, bytes, device;
};

struct QueueInfo {
  std::string name;
  dfg::QueueKind kind = dfg::QueueKind::Fifo;
  int64_t capacity = 0, minReady = 0, seed = 0;
  std::vector<VariableInfo> components; // of an element
};

struct DatasetInfo {
  std::string name;
  dfg::DatasetFormat format = dfg::DatasetFormat::Csv;
  int64_t skip = 0;
  std::vector<std::string> paths;
  std::vector<VariableInfo> components; // of a row
};

/// A feed or fetch; dynamic sizes are named by the type's encoding.
struct ValueInfo {
  std::string name;
  mlir::RankedTensorType type;
  int64_t onGpu = 0; // tfc_value_info::on_gpu
};

/// A named dimension. Its value in a call follows from size(feed, axis) = scale * value + offset.
struct SymbolInfo {
  std::string name;
  int64_t lower = 0;
  int64_t upper = -1; // -1: no bound
  unsigned feed = 0;
  unsigned axis = 0;
  int64_t scale = 1;
  int64_t offset = 0;
  std::string lowerSite = {}, upperSite = {}; // where the graph states the bounds, or empty
};

/// A data-dependent size.
struct RunTimeSizeInfo {
  std::string name;
  dfg::DimExpr bound; // over names known before it
};

/// How an entry is divided among devices.
struct PartitioningInfo {
  std::vector<int64_t> devices;                     // of the partitions, by number in the model
  std::vector<int64_t> accesses;                    // see tfc_partition_info
  std::vector<std::pair<unsigned, unsigned>> slots; // from one partition to another
  bool commits = false;                             // the partitions agree on failed checks
};

struct EntryInfo {
  std::string name;
  std::string doc;
  std::vector<ValueInfo> feeds, fetches;
  std::vector<SymbolInfo> symbols;              // in order of first appearance
  std::vector<RunTimeSizeInfo> runTimeSizes;    // in program order
  std::vector<std::string> found;               // the run-time sizes that occur in fetches
  std::vector<dfg::Fact> where;                 // facts that the symbols' bounds do not express
  std::vector<dfg::Fact> solved;                // `name == size` for names that are no symbols
  std::string site;                             // "model.graph:12", or empty
  bool writes = false;                          // changes variables
  std::optional<PartitioningInfo> partitioning; // see `describeCode`; of entries on several devices

  /// Where the lists above have a name, as the describing functions fill them.
  llvm::StringMap<size_t> symbolNumbers, runTimeNumbers;

  /// Returns the size that an operation binds under this name, or null.
  const RunTimeSizeInfo *findRunTimeSize(llvm::StringRef name) const;
  /// The smallest and largest value of a named size.
  dfg::DimExpr::Interval boundsOf(llvm::StringRef name) const;
  /// The size for the largest values of data-dependent sizes: an upper bound for every call, over
  /// the symbols alone.
  dfg::DimExpr atMost(const dfg::DimExpr &size) const;
};

/// Entry number i of the generated functions is entries[i]; the initializer's number is
/// entries.size().
struct ModelInfo {
  std::string name; // of the graph; empty if it has none
  std::vector<VariableInfo> variables;
  std::vector<QueueInfo> queues;
  std::vector<DatasetInfo> datasets;
  std::vector<EntryInfo> entries;
  std::optional<EntryInfo> init;
  unsigned chunks = 0;              // pieces of memory that grow during calls; see `describeCode`
  std::vector<std::string> devices; // that the entries use, the caller's first; see `describeCode`
  dfg::Cluster cluster;             // see `describeCode`
  int64_t fingerprint = 0;          // of the program of a cluster
  std::optional<ImageInfo> image;   // see `describeCode`
  std::vector<CopiedConstant> copiedConstants; // see `describeCode`

  /// The number of an entry, or of the one of which it is a partition.
  unsigned numberOf(dfg::EntryOp entry) const;
  const EntryInfo &infoOf(dfg::EntryOp entry) const {
    unsigned number = numberOf(entry);
    return number < entries.size() ? entries[number] : *init;
  }
};

/// Adds `size >= 0` to the facts of each entry for every size in it that may be negative, such as
/// `n - 1`. Must run before `describeModel`, and before stages after which the sizes are no longer
/// visible.
void requireSizes(mlir::ModuleOp module);

/// Describes the model of a module in entry form. A dimension that no feed determines is an error.
mlir::FailureOr<ModelInfo> describeModel(mlir::ModuleOp module);

/// Adds what the codegen stage says of a module.
void describeCode(mlir::ModuleOp module, ModelInfo &model);

} // namespace tfc
