//===- MutateTable.cpp - Tables of LevelDB with right checksums -----------===//
//
// Damaged bytes end at the checksum of their block. So most mutations change
// bytes of blocks and then write the checksums of all blocks again.
//
//===----------------------------------------------------------------------===//

#include "Mutate.h"
#include "runtime/Crc32c.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace tfc::fuzz {

static constexpr size_t kFooter = 48, kTrailer = 5;

namespace {
struct Block {
  size_t offset, size; // without the trailer
};
} // namespace

static uint64_t takeNumber(StringRef &text) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    uint64_t byte = uint8_t(text.front());
    text = text.drop_front();
    value |= (byte & 127) << shift;
    if (byte < 128)
      break;
  }
  return value;
}

/// Adds the block at the front of the text if it is inside of the file.
static void takeBlock(StringRef &text, StringRef file, std::vector<Block> &blocks) {
  uint64_t offset = takeNumber(text), size = takeNumber(text);
  if (offset <= file.size() && size <= file.size() - offset &&
      file.size() - offset - size >= kTrailer)
    blocks.push_back({offset, size});
}

/// Returns the blocks of a table: the index block first, then those of data.
static std::vector<Block> blocksOf(StringRef file) {
  std::vector<Block> blocks, ends;
  StringRef footer = file.take_back(kFooter);
  takeBlock(footer, file, ends);
  takeBlock(footer, file, ends);
  if (ends.size() < 2)
    return {};
  blocks.push_back(ends.back());
  StringRef index = file.substr(ends.back().offset, ends.back().size);
  uint64_t restarts = index.size() < 4 ? 0 : support::endian::read32le(index.end() - 4);
  index = index.drop_back(std::min<uint64_t>(index.size(), 4 + 4 * restarts));
  while (!index.empty()) {
    takeNumber(index);
    uint64_t own = takeNumber(index), value = takeNumber(index);
    StringRef handle = index.substr(own, value);
    takeBlock(handle, file, blocks);
    index = index.drop_front(std::min<uint64_t>(index.size(), own + value));
  }
  return blocks;
}

std::string mutateTable(StringRef input, Corpus corpus, Draw &draw) {
  static constexpr uint8_t kBytes[] = {0, 1, 2, 4, 8, 16, 63, 64, 127, 128, 129, 254, 255};
  std::vector<Block> blocks = blocksOf(input);
  if (blocks.empty() || draw.chance(20))
    return mutateBytes(input, corpus, draw);
  std::string file = input.str();
  for (size_t rounds = 1 + draw.below(4); rounds > 0; --rounds) {
    const Block &block = draw.of(blocks);
    char &byte = file[block.offset + draw.below(block.size + 1)]; // or the compression
    byte = draw.chance(50) ? char(draw.of(kBytes)) : char(byte + char(draw.below(5)) - 2);
  }
  for (const Block &block : blocks) {
    uint32_t crc = runtime::extendCrc32c(0, file.data() + block.offset, block.size + 1);
    uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8;
    support::endian::write32le(file.data() + block.offset + block.size + 1, masked);
  }
  return file;
}

} // namespace tfc::fuzz
