#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/kernels/division_facet.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/tree/morton.h"

namespace orrery {

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
