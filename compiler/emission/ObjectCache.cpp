// Keeps objects in files whose names are hashes of their sources. A file ends with a hash of its
// content, so that a damaged one is compiled again rather than linked.
#include "compiler/emission/ObjectCache.h"

#include "compiler/emission/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;
using namespace tfc::emission;

namespace {
using Digest = BLAKE3Result<>;
} // namespace

static Digest hashOf(StringRef first, StringRef second) {
  BLAKE3 hasher;
  hasher.update(first);
  hasher.update(second);
  return hasher.final();
}

static StringRef textOf(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

/// Identifies this build of the compiler: another one may generate other code.
static std::string identifyCompiler() {
  static int anchor;
  std::string path = sys::fs::getMainExecutable(nullptr, &anchor);
  sys::fs::file_status status;
  std::string id = LLVM_VERSION_STRING;
  if (!sys::fs::status(path, status))
    id += formatv(" {0} {1}", status.getSize(),
                  status.getLastModificationTime().time_since_epoch().count());
  return id;
}

Expected<ObjectCache> ObjectCache::open(const EmissionOptions &options) {
  if (std::error_code error = sys::fs::create_directories(options.cacheFolder))
    return createFileError(options.cacheFolder, error);
  kernel::TargetAttr target = options.target;
  std::string origin = formatv("{0};{1};{2};{3};{4};", identifyCompiler(), target.getTriple(),
                               target.getProcessor(), target.getFeatures(), options.optLevel);
  return ObjectCache(options.cacheFolder, std::move(origin));
}

std::string ObjectCache::pathOf(StringRef key) const {
  SmallString<128> path(folder);
  sys::path::append(path, "llvmcache-" + key); // the prefix of files that `pruneCache` considers
  return path.str().str();
}

std::string ObjectCache::keyOf(const Module &unit) const {
  SmallString<0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(unit, stream);
  return toHex(textOf(hashOf(origin, bitcode)), /*LowerCase=*/true);
}

std::unique_ptr<MemoryBuffer> ObjectCache::find(StringRef key) const {
  std::string path = pathOf(key);
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path, sys::fs::OF_UpdateAtime);
  if (!file) {
    consumeError(file.takeError());
    return nullptr;
  }
  auto buffer = MemoryBuffer::getOpenFile(*file, path, /*FileSize=*/-1,
                                          /*RequiresNullTerminator=*/false);
  sys::fs::closeFile(*file);
  StringRef content = buffer ? (*buffer)->getBuffer() : StringRef();
  if (content.size() < sizeof(Digest))
    return nullptr;
  StringRef object = content.drop_back(sizeof(Digest));
  if (content.take_back(sizeof(Digest)) != textOf(hashOf(key, object)))
    return nullptr;
  return MemoryBuffer::getMemBufferCopy(object);
}

void ObjectCache::add(StringRef key, StringRef object) const {
  auto content = [&](raw_ostream &os) { os << object << textOf(hashOf(key, object)); };
  consumeError(writeFile(pathOf(key), content));
}

void ObjectCache::prune() const { pruneCache(folder, CachePruningPolicy()); }
