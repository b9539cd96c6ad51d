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

/// Evaluations by ranks that have a part of the bodies each. Each builds the octree of its bodies, and gets those cells
/// and bodies of the others that its groups meet (a locally essential tree: Salmon 1990, PhD thesis, Caltech; Warren &
/// Salmon 1992). Here it gets all cells that may be opened on the walk of one tree of all bodies, so that walks, and
/// the accelerations, are those of one process.
class DomainTree {
 public:
  /// All must outlive this. `group`: bodies that walk together, at most.
  DomainTree(HostOctree& tree, const HostOctree::Shape& shape, int group) : tree_{tree}, shape_{shape}, group_{group} {}

  // What every rank calls in this order. Each function but the first two exchanges messages, whatever failed.
  /// Begins an evaluation, during which `work` must live.
  void begin(JointWork& work);
  /// `ids`: see DomainFacet::evaluate_domain().
  void build(const Vec4* bodies, int count, std::span<const int> ids, MessageReader& division);
  void exchange_pieces();
  /// Marks, by number, the cells of this rank that some group of these targets may open.
  using Mark = std::function<void(const std::vector<DistantTarget>& targets, std::vector<char>& opened)>;
  /// What coarse cells are needed for estimates.
  void exchange_for_estimates(const Mark& mark);
  /// Completes the errors of cells that are shared.
  void exchange_errors(WalkPlan& plan, const std::vector<BodyGroup>& groups);
  /// What the walks of the groups need. `plan`: with the errors of shared cells; only its errors are read.
  void exchange_for_walk(const WalkPlan& plan, const Mark& mark);

  /// Exchanges what this rank's bodies that walk alone need. Returns false, on all ranks, if all ranks together have
  /// too many such bodies, or none: then no messages follow the first.
  bool exchange_for_bodies(const std::vector<LeftBody>& bodies, const Mark& mark);

  /// Of the tree of all bodies, those that this rank counts: each is counted by one rank.
  std::int64_t own_cells() const;

 private:
  void find_targets(int first, int count, int most);
  float least_size_limit(int cell) const;
  void exchange_opened(const Mark& mark, const std::vector<DistantTarget>& shared, bool moments);

  HostOctree& tree_;
  const HostOctree::Shape& shape_;
  int group_;
  JointWork* work_ = nullptr;
  std::vector<DistantTarget> targets_;              // of this rank
  std::vector<BodyRange> of_targets_;               // their bodies
  std::vector<std::vector<DistantTarget>> others_;  // by rank
  std::vector<BodyRange> pieces_;                   // by rank, among those of all ranks
};

}  // namespace orrery
