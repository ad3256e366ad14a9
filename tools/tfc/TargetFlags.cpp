// Declares the options about the processor that code is for, and checks them together: whether a
// processor exists depends on the architecture.
#include "tools/tfc/TargetFlags.h"
#include "compiler/kernels/Target.h"
#include <fmt/format.h>

using namespace tfc;

void tfc::addProcessorFlag(CLI::App &app, CompileRequest &request) {
  app.add_option("--mcpu", request.pipeline.cpu,
                 "The processor to compile for, by LLVM's name (default: native; with another "
                 "--target what all its processors have)")
      ->type_name("CPU");
}

void tfc::addTargetFlags(CLI::App &app, CompileRequest &request) {
  app.add_option("--target", request.pipeline.triple,
                 "The architecture and system to compile for (default: those of this machine)")
      ->type_name("x86_64-linux-gnu|aarch64-linux-gnu");
  app.add_option("--sysroot", request.sysroot,
                 "The folder of the C library that a library is linked with (default: that of "
                 "this machine, or of Debian's and Fedora's packages for other targets)")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
}

void tfc::addScheduleFlag(CLI::App &app, CompileRequest &request) {
  app.add_option("--schedules", request.schedules,
                 "A file of measured schedules, or none (default: FILE.schedules.json in place of "
                 "the suffix of FILE, if there is one)")
      ->type_name("FILE.json|none");
}

void tfc::addTuneFlags(CLI::App &app, CompileRequest &request) {
  app.add_flag("--tune", request.tunes,
               "Measure schedules of the kernels on this machine first, and write their file")
      ->excludes("--target");
  app.add_option("--threads", request.tuneThreads,
                 "Threads of the calls that --tune measures (default: one for each processor)")
      ->check(CLI::Range(0, 4096))
      ->needs("--tune")
      ->type_name("N");
}

void tfc::checkTarget(const CompileRequest &request) {
  if (request.tunes && request.schedules == "none")
    throw CLI::ValidationError("--schedules", "'none' is no file for the schedules of --tune");
  const PipelineOptions &options = request.pipeline;
  std::optional<llvm::Triple> triple = kernels::findTriple(options.triple);
  if (!triple)
    throw CLI::ValidationError(
        "--target",
        fmt::format("there is no code generator for '{}': code is for x86_64-linux-gnu and "
                    "aarch64-linux-gnu",
                    options.triple));
  if (!kernels::findProcessor(options.cpu, *triple))
    throw CLI::ValidationError(
        "--mcpu", fmt::format("'{}' is not a 64-bit processor{} that LLVM supports", options.cpu,
                              options.triple.empty() ? "" : " of " + options.triple));
}
