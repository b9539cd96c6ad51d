#include "compute/kernels/tree/host_sort.h"

#include <algorithm>
#include <cstddef>

#include "compute/core/threads.h"

namespace orrery {
namespace {

constexpr int digit_bits = 9;  ///< seven digits make the 63 bits of a key; 512 counters stay in the first cache
constexpr int digits = 7;
constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

std::size_t digit_of(std::uint64_t key, int digit) {
  return static_cast<std::size_t>(key >> (digit * digit_bits)) & (digit_values - 1);
}

/// Turns the counts of each slice's digits into the places of their first bodies. False where all bodies have one
/// digit: then nothing needs to move.
bool place_digits(std::vector<std::uint32_t>& counts, std::size_t slices, std::size_t count) {
  std::uint32_t place = 0;
  for (std::size_t value = 0; value < digit_values; ++value) {
    const std::uint32_t before = place;
    for (std::size_t slice = 0; slice < slices; ++slice) {
      std::uint32_t& entry = counts[slice * digit_values + value];
      const std::uint32_t here = entry;
      entry = place;
      place += here;
    }
    if (place - before == count) return false;
  }
  return true;
}

}  // namespace

void KeySort::sort(std::vector<KeyedBody>& bodies, int threads, const std::atomic<bool>* cancelled) {
  const std::size_t count = bodies.size();
  constexpr std::size_t least_slice = 1 << 13;  // below, threads cost more than they save
  const std::size_t slices = std::clamp<std::size_t>(count / least_slice, 1, static_cast<std::size_t>(threads));
  other_.resize(count);
  // All slices, also once `cancelled` is set: the places are made of the counts of all.
  const auto for_each_slice = [&](const auto& work) {
    for_each_chunk(static_cast<int>(slices), 1, threads, nullptr,
                   [&](int first, int /*last*/) { work(static_cast<std::size_t>(first)); });
  };
  for (int digit = 0; digit < digits; ++digit) {
    if (cancelled && *cancelled) return;
    places_.assign(slices * digit_values, 0);
    const auto slice_begin = [&](std::size_t slice) { return count * slice / slices; };
    for_each_slice([&](std::size_t slice) {
      std::uint32_t* counts = &places_[slice * digit_values];
      for (std::size_t i = slice_begin(slice); i < slice_begin(slice + 1); ++i)
        ++counts[digit_of(bodies[i].key, digit)];
    });
    if (!place_digits(places_, slices, count)) continue;
    for_each_slice([&](std::size_t slice) {
      std::uint32_t* places = &places_[slice * digit_values];
      for (std::size_t i = slice_begin(slice); i < slice_begin(slice + 1); ++i) {
        other_[places[digit_of(bodies[i].key, digit)]++] = bodies[i];
      }
    });
    std::swap(bodies, other_);
  }
}

}  // namespace orrery
