// Reads and writes files of measured schedules, in JSON. They only say which of its own ways the
// compiler uses, and it ignores others, so a file from anywhere makes no code wrong.
#include "tools/tfc/Schedules.h"
#include "compiler/emission/OutputFile.h"
#include "compiler/kernels/Target.h"
#include "tools/tfc/Message.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;
using namespace tfc;

/// The version of the form of files and of the names of ways.
static constexpr int64_t kVersion = 1;
static constexpr StringLiteral kSuffix = "schedules.json", kNone = "none";

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static bool readKernels(const json::Value &value, std::map<std::string, std::string> &kernels,
                        json::Path path) {
  if (!fromJSON(value, kernels, path))
    return false;
  for (const auto &[hash, way] : kernels) {
    if (hash.size() != 16 || !all_of(hash, isHexDigit)) {
      path.field(hash).report("expected a hash of 16 hexadecimal digits");
      return false;
    }
    if (way.empty() || !all_of(way, [](char c) { return isAlnum(c) || c == ':'; })) {
      path.field(hash).report("expected the name of a way");
      return false;
    }
  }
  return true;
}

namespace tfc {
static bool fromJSON(const json::Value &value, TargetSchedules &target, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("triple", target.triple) || !map.map("processor", target.processor) ||
      !map.map("features", target.features))
    return false;
  const json::Value *kernels = value.getAsObject()->get("kernels");
  if (!kernels) {
    path.field("kernels").report("missing value");
    return false;
  }
  return readKernels(*kernels, target.kernels, path.field("kernels"));
}
} // namespace tfc

Expected<ScheduleFile> tfc::readSchedules(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return makeError("{}: {}", path, buffer.getError().message());
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return makeError("{}: {}", path, toString(value.takeError()));
  ScheduleFile file;
  json::Path::Root root("schedules");
  json::ObjectMapper map(*value, root);
  int64_t version = 0;
  if (!map || !map.map("version", version))
    return makeError("{}: {}", path, toString(root.getError()));
  if (version != kVersion) {
    file.unusable =
        fmt::format("it has version {}, and this tfc reads version {}", version, kVersion);
    return file;
  }
  if (!map.map("targets", file.targets))
    return makeError("{}: {}", path, toString(root.getError()));
  return file;
}

Error tfc::writeSchedules(StringRef path, const ScheduleFile &file) {
  return emission::writeFile(path, [&](raw_ostream &os) {
    json::OStream json(os, /*IndentSize=*/2);
    json.object([&] {
      json.attribute("version", kVersion);
      json.attributeArray("targets", [&] {
        for (const TargetSchedules &target : file.targets)
          json.object([&] {
            json.attribute("triple", target.triple);
            json.attribute("processor", target.processor);
            json.attribute("features", target.features);
            json.attributeObject("kernels", [&] {
              for (const auto &[hash, way] : target.kernels)
                json.attribute(hash, way);
            });
          });
      });
    });
    os << '\n';
  });
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

TargetSchedules tfc::targetOf(const PipelineOptions &options) {
  Triple triple = *kernels::findTriple(options.triple);
  kernels::Processor processor = *kernels::findProcessor(options.cpu, triple);
  return {triple.str(), processor.name, processor.features, {}};
}

std::string tfc::schedulePath(const CompileRequest &request) {
  if (!request.schedules.empty())
    return request.schedules;
  SmallString<128> path(request.input);
  sys::path::replace_extension(path, kSuffix);
  return path.str().str();
}

static void warn(StringRef path, const std::string &why) {
  errs() << "tfc: warning: " << path << " is ignored: " << why << '\n';
}

Error tfc::applySchedules(CompileRequest &request) {
  std::string path = schedulePath(request);
  bool isAsked = !request.schedules.empty();
  if (path == kNone || request.pipeline.candidate >= 0 || (!isAsked && !sys::fs::exists(path)))
    return Error::success();
  Expected<ScheduleFile> file = readSchedules(path);
  if (!file)
    return file.takeError();
  if (!file->unusable.empty()) {
    warn(path, file->unusable);
    return Error::success();
  }
  TargetSchedules target = targetOf(request.pipeline);
  std::set<std::string> others;
  for (const TargetSchedules &measured : file->targets) {
    others.insert(measured.processor);
    if (!measured.isOfSameTarget(target))
      continue;
    for (const auto &[hash, way] : measured.kernels)
      request.pipeline.schedules.push_back(hash + "=" + way);
    return Error::success();
  }
  warn(path, fmt::format("it has schedules for {}, but none for {}",
                         others.empty() ? "no processor" : join(others, ", "), target.processor));
  return Error::success();
}
