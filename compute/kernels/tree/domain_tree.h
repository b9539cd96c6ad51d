#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compute/kernels/division.h"
#include "compute/kernels/joint_work.h"
#include "compute/kernels/tree/host_octree.h"
#include "compute/kernels/tree/host_walk.h"

namespace orrery {

/// Returns the bounds of the ranks' key ranges: one more than there are ranks, ascending. Each inner border lies
/// between two octree cells, one of which has more than `least` bodies. So no leaf and no group of up to `least` bodies
/// spans two ranks. If no such border is near the end of a part, a rank gets fewer bodies, or none.
std::vector<std::uint64_t> borders_of_parts(std::span<const KeyedBody> bodies, std::span<const Part> parts, int least);

/// Returns a sample of these keys, in their order: enough of `all` keys to find borders near the wanted ones.
std::vector<std::uint64_t> sample_of_keys(std::span<const std::uint64_t> keys, std::size_t all);

/// Returns the same borders from a sample of all keys, ascending.
std::vector<std::uint64_t> borders_of_parts(std::span<const std::uint64_t> sample, std::span<const Part> parts,
                                            int least);

/// Division of bodies that stay with their ranks between evaluations. No rank sees all bodies. The borders stay fixed
/// in the root cube until other parts are requested, or a border no longer suits the bodies.
class OwnDivision {
 public:
  /// See DomainFacet::divide_own(). `least`: see borders_of_parts().
  MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew, int least, JointWork& work,
                       std::vector<int>& owners);

 private:
  // Each of these returns whether all ranks continue.
  bool find_cube(std::span<const Vec4> bodies, JointWork& work);
  bool borders_suit(int least, JointWork& work, std::vector<int>& owners, bool& suit);
  bool find_borders(std::span<const Part> parts, int least, JointWork& work, std::vector<int>& owners);
  /// Finds the rank of each key by the borders. `own`: this rank, which has most of the keys.
  void find_owners(int own, std::vector<int>& owners) const;

  TreeCube cube_;
  std::int64_t count_ = 0;           // number of all bodies
  std::vector<std::uint64_t> keys_;  // keys of this rank's bodies
  std::vector<std::uint64_t> borders_;
  std::vector<std::int64_t> beside_, of_other_;  // see borders_suit()
};

/// Evaluations by ranks that each have a part of the bodies. Each rank builds the octree of its bodies and gets the
/// cells and bodies of others that its groups meet (a locally essential tree: Salmon 1990, PhD thesis, Caltech; Warren
/// & Salmon 1992). It gets all cells that the walk of one tree of all bodies may open, so walks and accelerations equal
/// those of one process.
class DomainTree {
 public:
  /// All must outlive this. `group`: maximum number of bodies that walk together.
  DomainTree(HostOctree& tree, const HostOctree::Shape& shape, int group) : tree_{tree}, shape_{shape}, group_{group} {}

  // Every rank calls these in this order. All but the first two exchange messages, whatever failed.
  /// Begins an evaluation, during which `work` must live.
  void begin(JointWork& work);
  /// `ids`: see DomainFacet::evaluate_domain().
  void build(const Vec4* bodies, int count, std::span<const int> ids, MessageReader& division);
  void exchange_pieces();
  /// Marks, by index, the cells of this rank that some group of these targets may open.
  using Mark = std::function<void(const std::vector<DistantTarget>& targets, std::vector<char>& opened)>;
  /// Exchanges the coarse cells for estimates.
  void exchange_for_estimates(const Mark& mark);
  /// Completes the errors of shared cells.
  void exchange_errors(WalkPlan& plan, const std::vector<BodyGroup>& groups);
  /// Exchanges what the groups' walks need. `plan`: with the errors of shared cells; only its errors are read.
  void exchange_for_walk(const WalkPlan& plan, const Mark& mark);

  /// Exchanges what this rank's bodies that walk alone need. Returns false, on all ranks, if all ranks together have
  /// none or too many such bodies; only one exchange has then taken place.
  bool exchange_for_bodies(const std::vector<LeftBody>& bodies, const Mark& mark);

  /// Returns how many cells of the tree of all bodies this rank counts. Each cell is counted by one rank.
  std::int64_t own_cells() const;

 private:
  void find_targets(int first, int count, int most);
  float least_size_limit(int cell) const;
  void exchange_opened(const Mark& mark, const std::vector<DistantTarget>& shared, bool moments);

  HostOctree& tree_;
  const HostOctree::Shape& shape_;
  int group_;
  JointWork* work_ = nullptr;
  std::vector<DistantTarget> targets_;              // targets of this rank
  std::vector<BodyRange> of_targets_;               // bodies of each of these targets
  std::vector<std::vector<DistantTarget>> others_;  // by rank
  std::vector<BodyRange> pieces_;                   // pieces of each rank, as a range among all ranks' pieces
};

}  // namespace orrery
