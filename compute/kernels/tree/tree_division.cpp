#include "compute/kernels/tree/tree_division.h"

#include <algorithm>
#include <cstddef>

namespace orrery {
namespace {

/// From one key of a sample to the next, among so many.
std::size_t stride_of_sample(std::size_t all) {
  constexpr std::size_t most = 2048;
  return (all + most - 1) / most;
}

/// A place between two neighbours of the sample that lie in different cells of `level`.
struct Border {
  std::uint64_t key;
  int level;
};

/// The borders of the cells on both sides of the place before keys[place], if they have more than `least` bodies.
/// Bodies that are not in the sample may lie between these cells.
template <class Use>
void for_each_border(std::span<const std::uint64_t> keys, std::size_t place, int least, const Use& use) {
  const int level = common_level(keys[place - 1], keys[place]) + 1;
  if (level > key_levels) return;  // equal keys
  const auto place_of = [&](std::uint64_t key) { return std::ranges::lower_bound(keys, key) - keys.begin(); };
  const auto at = static_cast<std::ptrdiff_t>(place);
  const std::uint64_t left = first_key_in_cell(keys[place - 1], level), right = first_key_in_cell(keys[place], level);
  const std::uint64_t size = keys_in_cell(level);
  if (place_of(right + size) - at > least) use(Border{right, level});
  if (at - place_of(left) > least) use(Border{left + size, level});
}

/// The border at the highest level within `window` of a place in the sample, or the nearest one; none: the end of all
/// keys.
std::uint64_t border_near(std::span<const std::uint64_t> keys, double wanted, double window, int least) {
  Border best{KeyRange{}.end, key_levels + 1};
  const auto size = static_cast<std::ptrdiff_t>(keys.size());
  const auto middle = static_cast<std::ptrdiff_t>(wanted);
  for (std::ptrdiff_t distance = 0; distance < size; ++distance) {
    if (static_cast<double>(distance) > window && best.level <= key_levels) break;
    for (const std::ptrdiff_t place : {middle - distance, middle + distance}) {
      if (place < 1 || place >= size) continue;
      for_each_border(keys, static_cast<std::size_t>(place), least, [&](const Border& border) {
        if (border.level < best.level) best = border;
      });
    }
  }
  return best.key;
}

}  // namespace

std::vector<std::uint64_t> borders_of_parts(std::span<const KeyedBody> bodies, std::span<const Part> parts, int least) {
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < bodies.size(); i += stride_of_sample(bodies.size())) sample.push_back(bodies[i].key);
  std::ranges::sort(sample);
  return borders_of_parts(sample, parts, least);
}

std::vector<std::uint64_t> sample_of_keys(std::span<const std::uint64_t> keys, std::size_t all) {
  std::vector<std::uint64_t> sample;
  for (std::size_t i = 0; i < keys.size(); i += stride_of_sample(all)) sample.push_back(keys[i]);
  return sample;
}

std::vector<std::uint64_t> borders_of_parts(std::span<const std::uint64_t> keys, std::span<const Part> parts,
                                            int least) {
  constexpr double window = 0.02;  // of a mean part
  const auto all = static_cast<double>(keys.size());
  std::vector<std::uint64_t> borders(1, 0);
  for (const Part& part : parts.first(parts.size() - 1)) {
    const std::uint64_t border =
        border_near(keys, part.end * all, window * all / static_cast<double>(parts.size()), least);
    borders.push_back(std::max(borders.back(), border));
  }
  borders.push_back(KeyRange{}.end);
  return borders;
}

}  // namespace orrery
