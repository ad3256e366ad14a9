// Random feeds that a model accepts.
#pragma once

#include "tools/tfc/LoadedModel.h"

namespace tfc {

struct RandomFeeds {
  std::vector<Array> arrays;
  std::vector<int64_t> sizes; // in the order of the entry's symbols
  /// The exclusive upper limits of the integers, by the names of the feeds.
  std::map<std::string, int64_t> limits;
};

/// Feeds of the sizes that `chooseSizes` finds for `dims`: floats from the standard normal
/// distribution, booleans that are true half of the time, integers from 0 to a limit found by
/// calls, which may change the model's variables: below 64 if the model accepts more than a
/// million, so that they are not indices; never more than `mostIntegers`.
llvm::Expected<RandomFeeds> makeFeeds(LoadedModel &model, const Entry &entry,
                                      llvm::ArrayRef<std::string> dims,
                                      int64_t mostIntegers = INT64_MAX);

} // namespace tfc
