// Runs the linker, and keeps intermediate files in a folder of their own.
#include "compiler/emission/Link.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace tfc::emission;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Intermediate files
//===----------------------------------------------------------------------===//

Expected<WorkFolder> WorkFolder::create() {
  SmallString<128> path;
  if (std::error_code error = sys::fs::createUniqueDirectory("tfc", path))
    return createStringError(error, "cannot make a temporary folder: " + error.message());
  return WorkFolder(path.str().str());
}

WorkFolder::~WorkFolder() {
  if (!path.empty())
    sys::fs::remove_directories(path);
}

std::string WorkFolder::file(const Twine &name) const { return path + "/" + name.str(); }

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

namespace {

/// LLVM's linker, or a C compiler that calls the system's linker.
struct Linker {
  std::string program;
  bool isCompiler;
};

} // namespace

static bool isOfHost(const Triple &triple) {
  return triple.getArch() == Triple(sys::getDefaultTargetTriple()).getArch();
}

/// The triple as Linux distributions write it: in the names of folders and of programs.
static std::string shortTriple(const Triple &triple) {
  return (triple.getArchName() + "-linux-gnu").str();
}

static Expected<Linker> findLinker(const Triple &triple) {
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (ErrorOr<std::string> program = sys::findProgramByName(name))
      return Linker{*program, false};
  if (ErrorOr<std::string> program = sys::findProgramByName("ld.lld", {"/usr/lib/llvm-22/bin"}))
    return Linker{*program, false};
  std::vector<std::string> compilers = {"cc", "gcc", "clang-22", "clang"};
  if (!isOfHost(triple))
    compilers = {shortTriple(triple) + "-gcc"};
  for (StringRef name : compilers)
    if (ErrorOr<std::string> program = sys::findProgramByName(name))
      return Linker{*program, true};
  return createStringError("no linker found: install lld-22 or a C compiler");
}

/// Runs the linker; its output becomes the error.
static Error runLinker(const Linker &linker, ArrayRef<std::string> arguments,
                       const WorkFolder &folder) {
  std::vector<StringRef> command{linker.program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::string log = folder.file("linker.log"), message;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  int result =
      sys::ExecuteAndWait(linker.program, command, std::nullopt, redirects, 0, 0, &message);
  if (result == 0)
    return Error::success();
  if (auto buffer = MemoryBuffer::getFile(log))
    message += (*buffer)->getBuffer();
  return createStringError("the linker " + linker.program +
                           " failed: " + StringRef(message).trim().str());
}

/// The folders that may hold the target's C library. Those of packages for cross compilers come
/// without a sysroot.
static std::vector<std::string> systemFolders(const LinkJob &job) {
  std::string name = shortTriple(job.triple);
  std::vector<std::string> folders;
  for (StringRef root : {"/lib", "/usr/lib"}) {
    folders.push_back((job.sysroot + root + "/" + name).str());
    if (isOfHost(job.triple) || !job.sysroot.empty())
      for (StringRef folder : {"64", ""})
        folders.push_back((job.sysroot + root + folder).str());
  }
  if (job.sysroot.empty() && !isOfHost(job.triple))
    for (StringRef folder : {"/lib", "/lib64", "/sys-root/lib64", "/sys-root/usr/lib64"})
      folders.push_back(("/usr/" + name + folder).str());
  return folders;
}

/// Adds the C library and its folders, which ld does not find without a C compiler.
static Error appendSystemLibraries(const LinkJob &job, std::vector<std::string> &arguments) {
  bool isFound = false;
  for (const std::string &folder : systemFolders(job)) {
    isFound |= sys::fs::exists(folder + "/libc.so.6");
    if (sys::fs::is_directory(folder))
      arguments.push_back("-L" + folder);
  }
  if (!isFound)
    return createStringError("no C library found for '" + job.triple.str() +
                             "': install one or name its folder with --sysroot");
  // By their run-time names, so that development files are not needed.
  arguments.insert(arguments.end(), {"--as-needed", "-l:libm.so.6", "-l:libc.so.6"});
  return Error::success();
}

static Error writeVersionScript(StringRef path, StringRef prefix) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (error)
    return createFileError(path, error);
  os << "{ global: " << prefix << "_*; tfc_library_get; local: *; };\n";
  return Error::success();
}

Error tfc::emission::linkLibrary(const LinkJob &job, const WorkFolder &folder) {
  Expected<Linker> linker = findLinker(job.triple);
  if (!linker)
    return linker.takeError();
  std::string script = folder.file("exports.map");
  if (Error error = writeVersionScript(script, job.prefix))
    return error;
  // `cc` takes the linker's options after -Wl.
  std::string wl = linker->isCompiler ? "-Wl," : "";
  std::string comma = linker->isCompiler ? "," : "=";
  std::vector<std::string> arguments = {"-shared", "-o", job.output};
  for (const char *option : {"--gc-sections", "--no-undefined", "--build-id=none"})
    arguments.push_back(wl + option);
  arguments.push_back(wl + "-soname" + comma + job.soname);
  arguments.push_back(wl + "--version-script" + comma + script);
  arguments.insert(arguments.end(), {wl + "-z", wl + "relro", wl + "-z", wl + "now"});
  if (!linker->isCompiler)
    arguments.insert(arguments.end(), {"--eh-frame-hdr", "-O2"});
  if (!job.keepSymbols)
    arguments.push_back(wl + "--strip-all");
  arguments.insert(arguments.end(), job.objects.begin(), job.objects.end());
  arguments.push_back(job.runtimeLibrary);
  if (!job.weights.empty())
    arguments.push_back(job.weights);
  if (linker->isCompiler)
    arguments.insert(arguments.end(), {"-lm", "-lpthread"});
  else if (Error error = appendSystemLibraries(job, arguments))
    return error;
  if (linker->isCompiler && !job.sysroot.empty())
    arguments.push_back("--sysroot=" + job.sysroot);
  return runLinker(*linker, arguments, folder);
}

Error tfc::emission::linkObject(const Triple &triple, ArrayRef<std::string> objects,
                                StringRef output, const WorkFolder &folder) {
  Expected<Linker> linker = findLinker(triple);
  if (!linker)
    return linker.takeError();
  std::vector<std::string> arguments = {"-r", "-o", output.str()};
  if (linker->isCompiler)
    arguments.push_back("-nostdlib");
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  return runLinker(*linker, arguments, folder);
}

Error tfc::emission::writeArchive(ArrayRef<std::string> objects, StringRef output) {
  std::vector<NewArchiveMember> members;
  for (const std::string &object : objects) {
    Expected<NewArchiveMember> member = NewArchiveMember::getFile(object, /*Deterministic=*/true);
    if (!member)
      return member.takeError();
    member->MemberName = sys::path::filename(object);
    members.push_back(std::move(*member));
  }
  return llvm::writeArchive(output, members, SymtabWritingMode::NormalSymtab,
                            object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
}
