#pragma once

namespace orrery {

/// All pairs of tiles, a tile with itself included, in rounds: every tile is in exactly one pair of each round. So
/// threads can evaluate the pairs of a round at the same time, and each tile's order of partners depends only on the
/// number of tiles. Round r holds the pairs a + b = r or r + tiles.
class TileRounds {
 public:
  struct Pair {
    int a, b;  ///< a <= b; otherwise the slot is empty
  };

  explicit TileRounds(int tiles) : tiles_{tiles} {}

  int rounds() const { return tiles_; }
  int slots() const { return tiles_ / 2 + 1; }  ///< of one round; one may be empty

  Pair pair(int round, int slot) const {
    const int below = round / 2 + 1;  // pairs with a + b = round
    if (slot < below) return {slot, round - slot};
    const int a = round + 1 + slot - below;
    return {a, round + tiles_ - a};
  }

 private:
  int tiles_;
};

}  // namespace orrery
