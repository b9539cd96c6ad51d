#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

/// "4k, 16k": numbers of bodies > 0, separated by commas. Nothing if one is not such a number; an empty list for an
/// empty text.
std::optional<std::vector<int>> counts_of(std::string_view entry);

/// "0.01, 0.005": numbers > 0, separated by commas; likewise.
std::optional<std::vector<float>> positive_numbers_of(std::string_view entry);

/// A seed as it is typed: a whole number from 0 to the largest that the command line takes; nothing for anything else.
std::optional<std::uint64_t> seed_of(std::string_view entry);

}  // namespace orrery
