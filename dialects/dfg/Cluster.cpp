//===- Cluster.cpp - The tasks of a program -------------------------------===//
//
// Reads descriptions of clusters and the attribute of a module that has one.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Cluster.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace tfc::dfg {

/// All tasks of a cluster: numbers of tasks are ranks, of which each process keeps a table.
static constexpr int64_t kMaxTasks = 4096;

/// Says what is wrong with a job; empty for none.
static std::string faultOf(StringRef name, int64_t tasks) {
  std::string reason;
  std::optional<DeviceName> device = DeviceName::parse("/job:" + name.str(), reason);
  if (!device || device->job != name)
    return "expected the name of a job, but got '" + name.str() + "'";
  if (name == "local")
    return "the job 'local' is that of the process that makes a call";
  if (tasks < 1 || tasks > kMaxTasks)
    return "expected 1 to " + std::to_string(kMaxTasks) + " tasks of the job '" + name.str() + "'";
  return "";
}

bool Cluster::add(StringRef text, std::string &reason) {
  auto [name, count] = text.split('=');
  name = name.trim();
  int64_t tasks = 0;
  if (count.trim().getAsInteger(10, tasks)) {
    reason = "expected a job and the number of its tasks, as in 'worker=4', but got '" +
             text.trim().str() + "'";
    return false;
  }
  reason = faultOf(name, tasks);
  if (reason.empty() && llvm::any_of(jobs, [&](const Job &job) { return job.name == name; }))
    reason = "the job '" + name.str() + "' is there twice";
  jobs.push_back({name.str(), tasks});
  int64_t total = 0;
  for (const Job &job : jobs)
    total += reason.empty() ? job.tasks : 0;
  if (total > kMaxTasks)
    reason = "expected at most " + std::to_string(kMaxTasks) + " tasks";
  return reason.empty();
}

std::optional<Cluster> Cluster::parse(StringRef text, std::string &reason) {
  Cluster cluster;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    llvm::SmallVector<StringRef> parts;
    line.split('#').first.split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (!part.trim().empty() && !cluster.add(part, reason))
        return std::nullopt;
  }
  if (!cluster.isEmpty())
    return cluster;
  reason = "expected jobs and the numbers of their tasks, as in 'ps=2,worker=6'";
  return std::nullopt;
}

Cluster Cluster::of(ModuleOp module) {
  Cluster cluster;
  if (auto jobs = module->getAttrOfType<ArrayAttr>(kClusterAttr))
    for (JobAttr job : jobs.getAsRange<JobAttr>())
      cluster.jobs.push_back({job.getName().str(), job.getTasks()});
  return cluster;
}

void Cluster::write(ModuleOp module) const {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> attributes;
  for (const Job &job : jobs)
    attributes.push_back(JobAttr::get(context, StringAttr::get(context, job.name), job.tasks));
  module->setAttr(kClusterAttr, ArrayAttr::get(context, attributes));
}

bool Cluster::has(const DeviceName &name) const {
  return llvm::any_of(jobs, [&](const Job &job) {
    return job.name == name.job && name.task.value_or(0) < job.tasks;
  });
}

std::optional<int64_t> Cluster::taskOf(const DeviceName &name) const {
  int64_t first = 0;
  for (const Job &job : jobs) {
    if (job.name == name.job)
      return first + name.task.value_or(0);
    first += job.tasks;
  }
  return std::nullopt;
}

std::vector<std::string> Cluster::taskNames() const {
  std::vector<std::string> names;
  for (const Job &job : jobs)
    for (int64_t task = 0; task < job.tasks; ++task)
      names.push_back(DeviceName{job.name, task, "", {}}.str());
  return names;
}

std::string Cluster::str() const {
  return llvm::join(
      llvm::map_range(jobs,
                      [](const Job &job) { return job.name + "=" + std::to_string(job.tasks); }),
      ",");
}

LogicalResult JobAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                              int64_t tasks) {
  std::string fault = faultOf(name.getValue(), tasks);
  return fault.empty() ? success() : emitError() << fault;
}

} // namespace tfc::dfg
