// Random feeds that a model accepts.
#pragma once

#include "tools/tfc/LoadedModel.h"

namespace tfc {

struct RandomFeeds {
  std::vector<Array> arrays;
  /// What the integers of a feed are less than, by the names of the feeds.
  std::map<std::string, int64_t> limits;
};

/// The sizes of an entry for random feeds: what `dims` (NAME=SIZE, of --dim) say, else the bound,
/// else 64.
llvm::Expected<std::vector<int64_t>> chooseSizes(llvm::ArrayRef<std::string> dims,
                                                 const Entry &entry);

/// Feeds of these sizes: floats from the standard normal distribution, booleans that are true half
/// of the time, integers from 0 to what the model takes. Which that is the model is asked, by calls
/// that may change its variables: 64 numbers where it takes more than a million, which are then no
/// indices; never more than `mostIntegers`.
llvm::Expected<RandomFeeds> makeFeeds(LoadedModel &model, const Entry &entry,
                                      llvm::ArrayRef<int64_t> sizes,
                                      int64_t mostIntegers = INT64_MAX);

} // namespace tfc
