//===- DatasetsTest.cpp - Reading ahead on several threads ----------------===//
//
// Tests that rows come from the file in which a call began to read, whoever reads ahead or opens
// another one meanwhile.
//
//===----------------------------------------------------------------------===//

#include "runtime/Datasets.h"

#include <atomic>
#include <gtest/gtest.h>
#include <random>
#include <stdio.h>
#include <string>
#include <thread>
#include <vector>

using namespace tfc::runtime;

namespace {
constexpr int64_t kRows = 1000, kWidth = 3;
constexpr int64_t kDims[] = {kWidth};
constexpr tfc_variable_info kComponents[] = {
    {"x", nullptr, TFC_I32, 1, kDims, kWidth * sizeof(int32_t), 0},
    {"k", nullptr, TFC_I64, 0, nullptr, sizeof(int64_t), 0},
};

struct __attribute__((packed)) Row {
  int32_t x[kWidth];
  int64_t k;
};

/// Row `i` of a file begins with `first + i`.
std::string writeFile(const char *name, int32_t first) {
  std::string path = testing::TempDir() + name;
  FILE *file = fopen(path.c_str(), "wb");
  for (int32_t i = 0; i < kRows; ++i) {
    Row row = {{first + i, first, i}, int64_t(first) * i};
    fwrite(&row, sizeof(row), 1, file);
  }
  fclose(file);
  return path;
}

/// A dataset on two files with the same rows and other numbers.
struct Files {
  explicit Files(int32_t threads = 1) : threads(threads) {}

  int32_t threads;
  std::string paths[2] = {writeFile("rows-0.bin", 10000), writeFile("rows-1.bin", 20000)};
  const char *names[1] = {paths[0].c_str()};
  tfc_dataset_info info = {"rows", TFC_DATASET_RAW, 2, kComponents, names, 1, 0};
  Dataset dataset{defaultAllocator(), info, threads};

  /// Reads rows; returns the first number of the file, or -1 if they are not all of one.
  int32_t read(const std::vector<int64_t> &rows, const std::vector<int64_t> &next) {
    size_t n = rows.size();
    std::vector<int32_t> x(n * kWidth);
    std::vector<int64_t> k(n);
    char *values[] = {reinterpret_cast<char *>(x.data()), reinterpret_cast<char *>(k.data())};
    Message message;
    if (dataset.read(values, rows.data(), n, next.data(), next.size(), message) != TFC_OK)
      return -1;
    int32_t first = 0;
    for (size_t i = 0; i < n; ++i) {
      auto row = static_cast<int32_t>(rows[i]);
      first = first ? first : x[i * kWidth + 1];
      bool isRight = row < 0 ? x[i * kWidth] == 0 && k[i] == 0
                             : x[i * kWidth] == first + row && x[i * kWidth + 2] == row &&
                                   k[i] == int64_t(first) * row;
      if (!isRight)
        return -1;
    }
    return first;
  }
};
} // namespace

TEST(Datasets, rowsAreReadAheadForOthersAndForNobody) {
  Files files;
  std::vector<int64_t> rows(64), next(64), none;
  for (int64_t step = 0; step < 200; ++step) {
    for (int64_t i = 0; i < 64; ++i) {
      rows[i] = (step * 64 + i * 7) % kRows;
      next[i] = ((step + 1) * 64 + i * 7) % kRows;
    }
    EXPECT_EQ(files.read(rows, step % 3 ? next : rows), 10000);
    EXPECT_EQ(files.read(rows, none), 10000);
  }
  // More than there is room for.
  for (int64_t k = 0; k < 100; ++k)
    EXPECT_EQ(files.read({k}, {k, k + 1}), 10000);
}

TEST(Datasets, aFailedReadAheadIsReportedByTheReadThatWantsIt) {
  Files files;
  EXPECT_EQ(files.read({1}, {kRows}), 10000);
  EXPECT_EQ(files.read({kRows}, {}), -1);
  EXPECT_EQ(files.read({2}, {}), 10000);
  const char *missing[] = {"/no/such/file"};
  Message message;
  EXPECT_EQ(files.dataset.open(missing, 1, message), TFC_NOT_FOUND);
  EXPECT_EQ(files.read({3}, {}), 10000);
}

TEST(Datasets, threadsShareTheRowsOfARead) {
  for (int32_t threads : {2, 3, 7, kMostReaderThreads}) {
    Files files(threads);
    std::mt19937 random(threads);
    std::vector<int64_t> rows, next;
    for (int step = 0; step < 300; ++step) {
      next.resize(random() % 150);
      for (int64_t &row : next)
        row = static_cast<int64_t>(random() % (kRows + 1)) - 1;
      int32_t first = files.read(rows, next);
      bool isEmpty = true;
      for (int64_t row : rows)
        isEmpty &= row < 0;
      EXPECT_EQ(first, isEmpty ? 0 : 10000) << "with " << threads;
      rows = next;
    }
    // A part of the rows cannot be read.
    next.assign(100, 5);
    next[70] = kRows;
    EXPECT_EQ(files.read(rows, next), files.read(rows, {}));
    EXPECT_EQ(files.read(next, {}), -1);
    EXPECT_EQ(files.read({2}, {}), 10000);
  }
}

TEST(Datasets, threadsReadTheOldFileOrTheNewOne) {
  Files files(2);
  std::atomic<bool> isDone = false;
  std::atomic<int64_t> wrong = 0, reads = 0;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      std::mt19937 random(number);
      std::vector<int64_t> rows, next;
      auto draw = [&](std::vector<int64_t> &numbers) {
        numbers.resize(1 + random() % 8);
        // Few different ones, so that threads want the same.
        int64_t first = random() % 16;
        for (int64_t &row : numbers)
          row = first == 0 ? -1 : first++;
      };
      draw(next);
      while (!isDone) {
        rows = next;
        draw(next);
        int32_t first = files.read(rows, next);
        wrong += first != 10000 && first != 20000 && (first != 0 || rows[0] >= 0);
        ++reads;
      }
    });
  Message message;
  for (int i = 0; i < 200; ++i) {
    const char *paths[] = {files.paths[i % 2].c_str()};
    EXPECT_EQ(files.dataset.open(paths, 1, message), TFC_OK);
  }
  while (reads < 2000)
    std::this_thread::yield();
  isDone = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
