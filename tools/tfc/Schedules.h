// Files of measured schedules: for processors, the ways in which kernels are computed fastest.
#pragma once

#include "tools/tfc/Compiler.h"
#include <map>

namespace tfc {

/// The schedules that were measured on a processor.
struct TargetSchedules {
  std::string triple, processor, features;
  std::map<std::string, std::string> kernels; // the way of each, by the hash of what it computes

  bool isOfSameTarget(const TargetSchedules &other) const {
    return triple == other.triple && processor == other.processor && features == other.features;
  }
};

struct ScheduleFile {
  std::vector<TargetSchedules> targets;
  /// Why nothing of the file can be used although it is none of another kind; empty if it can.
  std::string unusable;
};

llvm::Expected<ScheduleFile> readSchedules(llvm::StringRef path);
llvm::Error writeSchedules(llvm::StringRef path, const ScheduleFile &file);

/// The target of a request, without schedules.
TargetSchedules targetOf(const PipelineOptions &options);

/// Where the schedules of a request are: in the file that it names, or beside its input.
std::string schedulePath(const CompileRequest &request);

/// Adds the schedules of the request's file, or of one beside its input, to its options. Warns of a
/// file that has none for the target. Fails for a file that is damaged, or that is named and
/// absent.
llvm::Error applySchedules(CompileRequest &request);

} // namespace tfc
