#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compute/snapshots/snapshot.h"

namespace orrery {

/// The last words of records, which may be ids by version 1 of Bonsai: all different, those of dark records from
/// 200,000,000, those of stars below. As floats they would be above 0 and below 1e-23, which no potential is. Takes
/// memory only as long as they may be.
class BonsaiIds {
 public:
  void add(Species species, std::uint32_t word) {
    constexpr std::uint32_t first_dark = 200'000'000, end = 2 * first_dark;
    if (!possible_) return;
    const bool in_range = species == Species::dark ? word >= first_dark && word < end : word < first_dark;
    possible_ = in_range && (words_.empty() || word != words_.back());
    if (possible_) {
      words_.push_back(word);
    } else {
      words_ = {};
    }
  }
  /// Empty if they are none.
  std::vector<std::uint64_t> ids() {
    if (words_.size() < 2) return {};
    std::vector<std::uint64_t> ids{words_.begin(), words_.end()};
    std::ranges::sort(words_);
    const bool different = std::ranges::adjacent_find(words_) == words_.end();
    words_ = {};
    return different ? std::move(ids) : std::vector<std::uint64_t>{};
  }

 private:
  bool possible_ = true;
  std::vector<std::uint32_t> words_;
};

}  // namespace orrery
