//===- CheckpointTest.cpp - save and load, and every kind of damage -------===//
//
// Tests saving and loading, also with damaged files, full disks and processes that are killed.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Crc32c.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace toy;
namespace fs = std::filesystem;

namespace {

/// A directory of its own for each test, with a file `path` that tests write and load.
class Checkpoint : public testing::Test {
protected:
  void SetUp() override {
    const char *name = testing::UnitTest::GetInstance()->current_test_info()->name();
    directory = fs::path(testing::TempDir()) / ("tfc-" + std::to_string(getpid()) + "-" + name);
    fs::create_directories(directory);
    path = directory / "c.safetensors";
  }
  void TearDown() override { fs::remove_all(directory); }

  void save(const Values &values) {
    Instance instance;
    write(instance, values);
    ASSERT_EQ(tfc_instance_save(instance, path.c_str()), TFC_OK) << instance.message();
  }

  std::string bytes() {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void setBytes(const std::string &bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
  }
  std::string header() {
    std::string all = bytes();
    uint64_t length;
    memcpy(&length, all.data(), 8);
    return all.substr(8, length);
  }
  /// Writes the file from a header and the bytes after it.
  void setFile(const std::string &header, const std::string &data) {
    uint64_t length = header.size();
    setBytes(std::string(reinterpret_cast<char *>(&length), 8) + header + data);
  }
  /// Replaces a part of the header by one of the same length or another.
  void editHeader(const std::string &from, const std::string &to) {
    std::string all = bytes(), text = header(), data = all.substr(8 + text.size());
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    setFile(text.replace(at, from.size(), to), data);
  }

  /// Loads into an instance, expects the status and that nothing changed; returns the message
  /// without the directory.
  std::string refuse(tfc_status expected, const tfc_model &model = kModel) {
    Instance instance(model);
    Values before = read(instance);
    EXPECT_EQ(tfc_instance_load(instance, path.c_str()), expected) << instance.message();
    std::string message = instance.message();
    EXPECT_EQ(read(instance), before);
    std::string prefix = directory.string() + "/";
    if (size_t at = message.find(prefix); at != std::string::npos)
      message.erase(at, prefix.size());
    return message;
  }

  /// Expects that nothing can be saved to `path`, and returns the message without the directory.
  std::string refuseToSave() {
    Instance instance;
    EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_IO_ERROR);
    std::string message = instance.message(), prefix = directory.string() + "/";
    if (size_t at = message.find(prefix); at != std::string::npos)
      message.erase(at, prefix.size());
    return message;
  }

  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(directory))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  mode_t mode(const fs::path &file) {
    struct stat info = {};
    EXPECT_EQ(stat(file.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  fs::path directory, path;
};

/// A process that saves to `path` until it is killed, or `count` times.
pid_t startSaving(const fs::path &path, int count) {
  pid_t child = fork();
  if (child != 0)
    return child;
  Instance instance;
  write(instance, someValues());
  for (int i = 0; i != count; ++i)
    if (tfc_instance_save(instance, path.c_str()) != TFC_OK)
      _exit(1);
  _exit(0);
}

/// The toy model with one variable changed.
struct Variant {
  Variant(int32_t index, tfc_variable_info changed) {
    std::copy_n(kModel.variables, 5, variables);
    variables[index] = changed;
    model.variables = variables;
  }
  tfc_variable_info variables[5];
  tfc_model model = kModel;
};

} // namespace

TEST_F(Checkpoint, RestoresEveryBit) {
  save(someValues());
  Instance instance;
  ASSERT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  EXPECT_EQ(read(instance), someValues());
  // The instance continues with them.
  write(instance, Values{});
  EXPECT_EQ(read(instance), Values{});
}

TEST_F(Checkpoint, HasAHeaderThatOthersRead) {
  save(someValues());
  std::string text = header();
  EXPECT_EQ((8 + text.size()) % 64, 0u);
  EXPECT_NE(text.find(R"("steps":{"dtype":"I64","shape":[],"data_offsets":[0,8]})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("empty":{"dtype":"F32","shape":[0,7],"data_offsets":[32,32]})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("net.half":{"dtype":"BF16","shape":[3],"data_offsets":[32,38]})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("mask":{"dtype":"BOOL","shape":[5],"data_offsets":[38,43]})"),
            std::string::npos);
  EXPECT_EQ(bytes().size(), 8 + text.size() + 43);
}

TEST_F(Checkpoint, ReplacesTheFileAndLeavesNoOther) {
  save(Values{});
  save(someValues());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
  Instance instance;
  ASSERT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK);
  EXPECT_EQ(read(instance), someValues());
}

TEST_F(Checkpoint, SavesByARelativePath) {
  fs::path before = fs::current_path();
  fs::current_path(directory);
  Instance instance;
  EXPECT_EQ(tfc_instance_save(instance, "here.safetensors"), TFC_OK) << instance.message();
  EXPECT_TRUE(fs::exists("here.safetensors"));
  fs::current_path(before);
}

TEST_F(Checkpoint, ReportsWhatTheSystemRefuses) {
  Instance instance;
  path = directory / "missing" / "c";
  EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_NOT_FOUND);
  EXPECT_EQ(instance.message(), "cannot write '" + path.string() + "': No such file or directory");
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_NOT_FOUND);
  EXPECT_EQ(instance.message(), "cannot open '" + path.string() + "': No such file or directory");
  EXPECT_EQ(tfc_instance_load(instance, directory.c_str()), TFC_IO_ERROR);
  EXPECT_EQ(tfc_instance_save(instance, directory.c_str()), TFC_IO_ERROR);
  EXPECT_EQ(tfc_instance_save(instance, nullptr), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(tfc_instance_load(instance, ""), TFC_INVALID_ARGUMENT);
}

TEST_F(Checkpoint, KeepsTheOldFileWhenTheDiskIsFull) {
  save(someValues());
  std::string before = bytes();
  signal(SIGXFSZ, SIG_IGN);
  rlimit old, small = {100, 100};
  getrlimit(RLIMIT_FSIZE, &old);
  small.rlim_max = old.rlim_max;
  setrlimit(RLIMIT_FSIZE, &small);
  Instance instance;
  EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_IO_ERROR);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory), {}), 1);
}

TEST_F(Checkpoint, RefusesFilesThatAreNotRegular) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const char *message = "cannot write 'c.safetensors': it exists and is not a regular file";
  EXPECT_EQ(refuseToSave(), message);
  EXPECT_TRUE(fs::is_fifo(path));
  // Nor by a link.
  fs::rename(path, directory / "fifo");
  fs::create_symlink("fifo", path);
  EXPECT_EQ(refuseToSave(), message);
  EXPECT_TRUE(fs::is_fifo(directory / "fifo"));
  EXPECT_TRUE(fs::is_symlink(path));
  // A pipe that only a link of /proc names.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  path = "/proc/self/fd/" + std::to_string(ends[1]);
  EXPECT_EQ(refuseToSave(),
            "cannot write '" + path.string() + "': it exists and is not a regular file");
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(files(), (std::vector<std::string>{"c.safetensors", "fifo"}));
}

TEST_F(Checkpoint, RefusesDevices) {
  if (mknod(path.c_str(), S_IFCHR | 0600, /*/dev/null*/ 1 << 8 | 3) != 0)
    GTEST_SKIP() << "only the superuser makes devices";
  EXPECT_EQ(refuseToSave(), "cannot write 'c.safetensors': it exists and is not a regular file");
  EXPECT_TRUE(fs::is_character_file(path));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Checkpoint, LoadsNoFifo) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refuse(TFC_IO_ERROR), "c.safetensors: not a regular file; nothing was loaded");
}

TEST_F(Checkpoint, ReplacesTheFileThatALinkLeadsTo) {
  fs::create_directories(directory / "data" / "far");
  fs::create_symlink("data/link", path);
  fs::create_symlink("far/real", directory / "data" / "link");
  fs::path real = directory / "data" / "far" / "real";
  for (int i = 0; i < 2; ++i) { // the first time the link dangles
    save(someValues());
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_TRUE(fs::is_symlink(directory / "data" / "link"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(real)));
  }
  fs::create_symlink(real, directory / "absolute");
  path = directory / "absolute";
  save(Values{});
  EXPECT_TRUE(fs::is_symlink(path));
  path = real;
  Instance instance;
  ASSERT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  EXPECT_EQ(read(instance), Values{});
  EXPECT_EQ(std::distance(fs::directory_iterator(directory / "data" / "far"), {}), 1);
}

TEST_F(Checkpoint, RefusesLinksThatLeadNowhere) {
  fs::create_symlink("c.safetensors", path);
  EXPECT_EQ(refuseToSave(), "cannot write 'c.safetensors': Too many levels of symbolic links");
  fs::remove(path);
  fs::create_symlink("missing/c", path);
  Instance instance;
  EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_NOT_FOUND);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Checkpoint, KeepsTheModeOfTheFile) {
  mode_t before = umask(027);
  save(someValues());
  EXPECT_EQ(mode(path), 0640u);
  umask(022);
  for (mode_t wanted : {0600, 0660, 0644, 0444}) {
    chmod(path.c_str(), wanted);
    save(someValues());
    EXPECT_EQ(mode(path), wanted);
  }
  umask(before);
}

TEST_F(Checkpoint, KeepsTheOwnerOfTheFile) {
  save(someValues());
  if (chown(path.c_str(), 12345, 54321) != 0)
    GTEST_SKIP() << "only the superuser gives files away";
  save(Values{});
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345u);
  EXPECT_EQ(info.st_gid, 54321u);
}

TEST_F(Checkpoint, SavesUnderLongNames) {
  path = directory / std::string(255, 'x');
  save(someValues());
  save(someValues());
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Checkpoint, RemovesFilesThatKilledSavesLeft) {
  auto make = [&](const char *name) { std::ofstream(directory / name) << "half"; };
  make("c.safetensors.tfc-4711-0.tmp");
  make("c.safetensors.tfc-1-99.tmp");
  chmod((directory / "c.safetensors.tfc-1-99.tmp").c_str(), 0400);
  // A file that another process is writing, files with other names, and a FIFO are kept.
  make("c.safetensors.tfc-4711-1.tmp");
  int held = open((directory / "c.safetensors.tfc-4711-1.tmp").c_str(), O_WRONLY);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  for (const char *name : {"c.safetensors.tfc-1-1.tmp.gz", "c.safetensors.tfc--1.tmp", "c.tmp",
                           "c.safetensors2.tfc-1-1.tmp", "d.safetensors.tfc-1-1.tmp"})
    make(name);
  ASSERT_EQ(mkfifo((directory / "c.safetensors.tfc-1-2.tmp").c_str(), 0600), 0);
  save(someValues());
  EXPECT_EQ(files(),
            (std::vector<std::string>{"c.safetensors", "c.safetensors.tfc--1.tmp",
                                      "c.safetensors.tfc-1-1.tmp.gz", "c.safetensors.tfc-1-2.tmp",
                                      "c.safetensors.tfc-4711-1.tmp", "c.safetensors2.tfc-1-1.tmp",
                                      "c.tmp", "d.safetensors.tfc-1-1.tmp"}));
  close(held);
  save(someValues());
  EXPECT_FALSE(fs::exists(directory / "c.safetensors.tfc-4711-1.tmp"));
}

TEST_F(Checkpoint, SurvivesKillsWhileSaving) {
  save(someValues());
  for (int i = 0; i < 200; ++i) {
    pid_t child = startSaving(path, -1);
    usleep(500 + i * 37 % 3000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    Instance instance;
    ASSERT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  }
  save(someValues());
  EXPECT_EQ(files(), std::vector<std::string>{"c.safetensors"});
}

TEST_F(Checkpoint, LetsSeveralProcessesSaveToOnePath) {
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i)
    children.push_back(startSaving(path, 40));
  for (pid_t child : children) {
    int status;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files(), std::vector<std::string>{"c.safetensors"});
  Instance instance;
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
}

TEST_F(Checkpoint, RefusesEveryTruncation) {
  save(someValues());
  std::string all = bytes();
  for (size_t length = 0; length < all.size(); ++length) {
    setBytes(all.substr(0, length));
    refuse(TFC_DATA_LOSS);
  }
  EXPECT_EQ(refuse(TFC_DATA_LOSS), "c.safetensors: truncated: tensor 'mask' ends at byte 43 of the "
                                   "data, but the file has 42; nothing was loaded");
}

TEST_F(Checkpoint, RefusesEveryFlippedBitOfTheData) {
  save(someValues());
  std::string all = bytes();
  size_t start = 8 + header().size();
  for (size_t at = start; at < all.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = all;
      damaged[at] ^= 1 << bit;
      setBytes(damaged);
      refuse(TFC_DATA_LOSS);
    }
  std::string message = refuse(TFC_DATA_LOSS);
  EXPECT_EQ(message.substr(0, 57), "c.safetensors: tensor 'mask' is damaged: its checksum is ");
}

TEST_F(Checkpoint, SurvivesEveryChangedByteOfTheHeader) {
  save(someValues());
  std::string all = bytes();
  size_t end = 8 + header().size();
  for (size_t at = 0; at < end; ++at)
    for (char c : {'\0', '"', '}', ']', '9', 'x', '\\', '\xff', ' '}) {
      std::string damaged = all;
      damaged[at] = c;
      setBytes(damaged);
      Instance instance;
      Values before = read(instance);
      tfc_status status = tfc_instance_load(instance, path.c_str());
      EXPECT_EQ(read(instance), status ? before : someValues()) << at << c;
    }
}

TEST_F(Checkpoint, RefusesBytesAfterTheLastTensor) {
  save(someValues());
  setBytes(bytes() + "abc");
  EXPECT_EQ(refuse(TFC_DATA_LOSS),
            "c.safetensors: damaged: 3 bytes after the last tensor; nothing was loaded");
}

TEST_F(Checkpoint, RefusesFilesThatAreSomethingElse) {
  setBytes("PK\x03\x04 this is an archive, not a checkpoint");
  EXPECT_EQ(refuse(TFC_DATA_LOSS).substr(0, 52),
            "c.safetensors: damaged, or not a safetensors file: a");
  setBytes("");
  EXPECT_EQ(refuse(TFC_DATA_LOSS),
            "c.safetensors: truncated: 0 bytes are not a safetensors file; nothing was loaded");
}

TEST_F(Checkpoint, RefusesPipesAndDevicesAtOnce) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refuse(TFC_IO_ERROR), "c.safetensors: not a regular file; nothing was loaded");
  fs::remove(path);
  fs::create_symlink("/dev/zero", path);
  EXPECT_EQ(refuse(TFC_IO_ERROR), "c.safetensors: not a regular file; nothing was loaded");
}

TEST_F(Checkpoint, MatchesManyChecksumsInTime) {
  save(someValues());
  std::string text = header(), data = bytes().substr(8 + text.size());
  std::string checksums, tensors;
  for (int i = 0; i < 200'000; ++i) {
    checksums += ",\"crc32c/missing" + std::to_string(i) + "\":\"00000000\"";
    tensors +=
        ",\"t" + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[43,43]})";
  }
  text.resize(text.find_last_of('}'));
  text.insert(text.find('}'), checksums);
  setFile(text + tensors + "}", data);
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(refuse(TFC_FAILED_PRECONDITION).substr(0, 44),
            "c.safetensors: no variable matches tensor 't");
  // A search through all tensors for each of them would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(Checkpoint, RefusesOverlapsAndGaps) {
  save(someValues());
  editHeader("[38,43]", "[33,38]");
  EXPECT_EQ(
      refuse(TFC_DATA_LOSS),
      "c.safetensors: damaged header: tensor 'mask' begins at 33 and ends at 38, but expected "
      "it to begin at 38; nothing was loaded");
  save(someValues());
  editHeader("[38,43]", "[39,44]");
  refuse(TFC_DATA_LOSS);
}

TEST_F(Checkpoint, RefusesSizesThatDoNotFitTheShape) {
  save(someValues());
  editHeader("\"shape\":[2,3]", "\"shape\":[2,4]");
  EXPECT_EQ(refuse(TFC_DATA_LOSS), "c.safetensors: damaged header: tensor 'w' has 24 bytes, which "
                                   "do not fit its shape; nothing was loaded");
  save(someValues());
  editHeader("\"shape\":[2,3]", "\"shape\":[4611686018427387904,4611686018427387904]");
  refuse(TFC_DATA_LOSS);
}

TEST_F(Checkpoint, RefusesMalformedHeaders) {
  for (const char *text :
       {"", "[]", "{", "{}x", R"({"w")", R"({"w":})", R"({"w":{"dtype":"F32"}})",
        R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0]}})",
        R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24,48]}})",
        R"({"w":{"dtype":"F32","shape":[-2,3],"data_offsets":[0,24]}})",
        R"({"w":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,24]}})",
        R"({"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})",
        R"({"\ud800":{}})", R"({"__metadata__":{"a":1}})", "{\"a\\u0000b\":{}}"}) {
    setFile(text, "");
    EXPECT_EQ(refuse(TFC_DATA_LOSS).substr(0, 40), "c.safetensors: damaged header: expected ")
        << text;
  }
  std::string deep = R"({"w":{"x":)" + std::string(100000, '[');
  setFile(deep, "");
  refuse(TFC_DATA_LOSS);
}

TEST_F(Checkpoint, ReadsFilesOfOthers) {
  // Another order, white space, escapes, unknown keys, no checksums.
  std::string data(43, '\0');
  data[0] = 1;
  data[5] = 7;
  setFile(
      R"( {"m\u0061sk": {"data_offsets": [0, 5], "dtype": "BOOL", "shape": [ 5 ], "x": [{}, 1e3]},
    "steps": {"dtype": "I64", "shape": [], "data_offsets": [5, 13]},
    "net.half": {"dtype": "BF16", "shape": [3], "data_offsets": [13, 19]},
    "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [19, 43]},
    "empty": {"dtype": "F32", "shape": [0, 7], "data_offsets": [43, 43]}}  )",
      data);
  Instance instance;
  ASSERT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  EXPECT_EQ(read(instance).steps, 7);
  EXPECT_EQ(read(instance).mask[0], 1);
  EXPECT_EQ(read(instance).mask[1], 0);
}

TEST_F(Checkpoint, RefusesInvalidBooleans) {
  std::string data(43, '\0');
  data[3] = 2;
  setFile(R"({"mask":{"data_offsets":[0,5],"dtype":"BOOL","shape":[5]},
    "steps":{"dtype":"I64","shape":[],"data_offsets":[5,13]},
    "net.half":{"dtype":"BF16","shape":[3],"data_offsets":[13,19]},
    "w":{"dtype":"F32","shape":[2,3],"data_offsets":[19,43]},
    "empty":{"dtype":"F32","shape":[0,7],"data_offsets":[43,43]}})",
          data);
  EXPECT_EQ(refuse(TFC_DATA_LOSS), "c.safetensors: tensor 'mask' is BOOL, but a byte is neither 0 "
                                   "nor 1; nothing was loaded");
}

TEST_F(Checkpoint, RefusesAMissingChecksumAmongOthers) {
  save(someValues());
  editHeader("crc32c/w\"", "crc32c/v\"");
  EXPECT_NE(refuse(TFC_DATA_LOSS).find("tensor 'w' is damaged"), std::string::npos);
}

TEST_F(Checkpoint, NamesAMissingTensorAndTheOneThatMayBeIt) {
  save(someValues());
  Variant renamed(kW, {"v", nullptr, TFC_F32, 2, kModel.variables[kW].dims, 24});
  Instance instance(renamed.model);
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(instance.message(),
            path.string() + ": no tensor 'v' for the variable f32[2, 3]; nothing was loaded; it "
                            "holds 'w' f32[2, 3], which matches no variable; if it is the same "
                            "variable, add @was to the graph");
}

TEST_F(Checkpoint, LoadsARenamedTensor) {
  save(someValues());
  editHeader("\"net.half\"", "\"old.half\"");
  editHeader("crc32c/net.half\"", "crc32c/old.half\"");
  Instance instance;
  ASSERT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  EXPECT_EQ(read(instance), someValues());
}

TEST_F(Checkpoint, PrefersThePresentNameToAFormerOne) {
  save(someValues());
  // 'mask' is still there for 'mask', so 'net.half', once 'mask', is missing.
  Variant variant(kHalf, {"new", "mask", TFC_BF16, 1, kModel.variables[kHalf].dims, 6});
  Instance instance(variant.model);
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_FAILED_PRECONDITION);
  EXPECT_NE(instance.message().find("no tensor 'new' for the variable bf16[3]"), std::string::npos);
}

TEST_F(Checkpoint, NamesATensorThatMatchesNoVariable) {
  save(someValues());
  tfc_model smaller = kModel;
  smaller.variable_count = 4;
  EXPECT_EQ(refuse(TFC_FAILED_PRECONDITION, smaller),
            "c.safetensors: no variable matches tensor 'empty'; nothing was loaded");
}

TEST_F(Checkpoint, NamesAShapeThatDiffers) {
  save(someValues());
  static const int64_t dims[] = {3, 2};
  Variant variant(kW, {"w", nullptr, TFC_F32, 2, dims, 24});
  Instance instance(variant.model);
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(instance.message(), path.string() + ": tensor 'w' is f32[2, 3], but the variable 'w' "
                                                "is f32[3, 2]; nothing was loaded");
}

TEST_F(Checkpoint, EscapesNames) {
  Variant variant(kSteps, {"a \"b\"\\\n\xc3\xa9", nullptr, TFC_I64, 0, nullptr, 8});
  Instance first(variant.model), second(variant.model);
  int64_t steps = 42;
  tfc_tensor tensor = {TFC_I64, 0, nullptr, &steps};
  const char *name = variant.variables[kSteps].name;
  ASSERT_EQ(tfc_instance_set(first, name, &tensor), TFC_OK);
  ASSERT_EQ(tfc_instance_save(first, path.c_str()), TFC_OK);
  ASSERT_EQ(tfc_instance_load(second, path.c_str()), TFC_OK) << second.message();
  steps = 0;
  ASSERT_EQ(tfc_instance_get(second, name, &tensor), TFC_OK);
  EXPECT_EQ(steps, 42);
}

TEST(Crc32c, AgreesWithThePublishedValues) {
  using tfc::runtime::extendCrc32c;
  EXPECT_EQ(extendCrc32c(0, "123456789", 9), 0xe3069283u);
  uint8_t zeros[32] = {};
  EXPECT_EQ(extendCrc32c(0, zeros, 32), 0x8a9136aau);
  EXPECT_EQ(extendCrc32c(extendCrc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}
