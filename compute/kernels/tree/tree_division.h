#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/kernels/division.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/tree/host_octree.h"

namespace orrery {

/// Where the ranges of the ranks begin and end: one more than there are ranks, ascending. Each border between two is
/// one between two cells of the octree, and a cell beside it has more than `least` bodies: so no leaf and no group of
/// that many bodies has bodies of two ranks. Where no border near the end of a part is such, a rank gets fewer bodies,
/// or none.
std::vector<std::uint64_t> borders_of_parts(std::span<const KeyedBody> bodies, std::span<const Part> parts, int least);

/// Some of these keys, in their order: enough of `all` keys to find borders near those that are wanted.
std::vector<std::uint64_t> sample_of_keys(std::span<const std::uint64_t> keys, std::size_t all);

/// The same from a sample of all keys, ascending.
std::vector<std::uint64_t> borders_of_parts(std::span<const std::uint64_t> sample, std::span<const Part> parts,
                                            int least);

/// The division of bodies that stay with their ranks between evaluations: no rank sees all of them. The borders stay
/// where they are in the root cube until other parts are asked for, or a border no longer suits the bodies.
class OwnDivision {
 public:
  /// See DomainFacet::divide_own(). `least`: see borders_of_parts().
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, int least, JointWork& work,
                       std::vector<int>& owners);

 private:
  // Each returns whether all ranks go on.
  bool find_cube(std::span<const Vec4> bodies, JointWork& work);
  bool borders_suit(int least, JointWork& work, std::vector<int>& owners, bool& suit);
  bool find_borders(std::span<const Part> parts, int least, JointWork& work, std::vector<int>& owners);
  /// The rank, by the borders, of each key of rank `own`.
  void find_owners(int own, std::vector<int>& owners) const;

  TreeCube cube_;
  std::int64_t count_ = 0;           // of all bodies
  std::vector<std::uint64_t> keys_;  // of this rank's bodies
  std::vector<std::uint64_t> borders_;
  std::vector<std::int64_t> beside_, of_other_;  // see borders_suit()
};

}  // namespace orrery
