// The parsed command line.
#pragma once

#include "tools/tfc/Compiler.h"
#include <optional>

namespace tfc {

struct RunOptions {
  CompileRequest compile;
  std::string entry;
  std::vector<std::string> feeds; // NAME=VALUE
  std::string fetchFolder;
  std::string caseFile;
  double rtol = 1e-5, atol = 1e-5;
  int threads = 0;
  bool isReference = false;      // execute the graph op by op instead of compiling it
  std::string compareWith;       // "reference": do both and compare
  std::vector<std::string> dims; // NAME=SIZE, of generated feeds
  uint64_t seed = 0;             // of random feeds
};

struct BenchOptions {
  CompileRequest compile;
  std::string entry;
  std::vector<std::string> dims; // NAME=SIZE
  int threads = 0;
  double seconds = 2;
  bool kernels = false; // print which kernels take the time
};

struct ProfileOptions {
  RunOptions run; // without feeds, they are random
  std::string output = "trace.json";
  int calls = 10;
};

struct ShowOptions {
  CompileRequest compile;
  std::string entry;
};

struct FormatOptions {
  std::vector<std::string> files;
  bool inPlace = false, check = false;
};

struct CommandLine {
  enum class Command { Compile, Check, Run, Bench, Show, Profile, Format, Explain } command;
  CompileRequest compile;
  RunOptions run;
  BenchOptions bench;
  ShowOptions show;
  ProfileOptions profile;
  FormatOptions format;
  std::string slug;
};

/// Parses the arguments. Returns std::nullopt if there is nothing to do: `exitCode` is then 0 (help
/// was requested and printed) or 2 (a usage error was printed).
std::optional<CommandLine> parseCommandLine(int argc, char **argv, int &exitCode);

} // namespace tfc
