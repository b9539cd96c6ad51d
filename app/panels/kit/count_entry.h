#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

/// A whole number of bodies as it is typed, perhaps with a unit as in "16k" or "1M"; nothing for anything else.
std::optional<std::int64_t> count_of(std::string_view entry);

/// "4k, 16k": numbers of bodies > 0 with commas between. Nothing where one of them is no such number; none of none.
std::optional<std::vector<int>> counts_of(std::string_view entry);

/// A seed as it is typed: a whole number from 0 to the largest that the command line takes; nothing for anything else.
std::optional<std::uint64_t> seed_of(std::string_view entry);

}  // namespace orrery
