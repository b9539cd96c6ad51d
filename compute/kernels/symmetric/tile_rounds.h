#pragma once

namespace orrery {

/// Schedule of all pairs of tiles, including a tile with itself, in rounds. Round r has the pairs (a, b) with a + b = r
/// or r + tiles. Every tile is in exactly one pair of each round, so threads can evaluate the pairs of a round
/// concurrently. The order of a tile's partners depends only on the number of tiles.
class TileRounds {
 public:
  struct Pair {
    int a, b;  ///< a <= b; otherwise the slot is empty
  };

  explicit TileRounds(int tiles) : tiles_{tiles} {}

  int rounds() const { return tiles_; }
  int slots() const { return tiles_ / 2 + 1; }  ///< number of slots in a round; one of them may be empty

  Pair pair(int round, int slot) const {
    const int below = round / 2 + 1;  // number of pairs with a + b = round
    if (slot < below) return {slot, round - slot};
    const int a = round + 1 + slot - below;
    return {a, round + tiles_ - a};
  }

 private:
  int tiles_;
};

}  // namespace orrery
