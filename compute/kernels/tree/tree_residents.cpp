// Bodies that the devices of cuda-tree hold, each those of its domain.
#include "compute/kernels/parts/scratch.h"
#include "compute/kernels/tree/tree_domains.h"

namespace orrery {

void TreeDomains::prepare_residence(int count, int index, std::span<const Part> parts) {
  const auto devices = static_cast<int>(parts.size());
  sums_ = {}, received_ = {}, others_flags_ = {}, owners_ = {};
  prepare(count, index, devices, /*holds=*/true);
  migration_.prepare(DomainLayout::most_bodies(count, devices), index, devices, work_.arrays.arrived());
  gives_needed_ = true;  // before begin_tree()
  layout_ = DomainLayout{count, parts, work_.settings.leaf()};
  begin_tree(count);
}

void TreeDomains::connect(std::span<PeerFacet* const> all) {
  gives_needed_ = true;
  std::vector<const EssentialTrees*> essential;
  std::vector<Octree> arrays(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& other = static_cast<const TreeDomains&>(*all[i]);
    essential.push_back(&other.essential_);
    other.work_.arrays.apply_to(arrays[i], /*has_whole_arrays=*/true);
  }
  essential_.connect(essential, arrays);
  if (!holds_) return;
  std::vector<const DomainMigration*> migrations;
  for (const PeerFacet* const each : all) migrations.push_back(&static_cast<const TreeDomains&>(*each).migration_);
  migration_.connect(migrations);
  all_counts_.devices = static_cast<int>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) all_counts_.of[i] = &arrays[i].state->found;
}

ResidentBodies TreeDomains::held() {
  const Octree& tree = work_.tree;
  return {.count = tree.count,
          .positions = tree.bodies + tree.first_body,
          .velocities = migration_.velocities(),
          .accelerations = tree.accelerations ? tree.accelerations + tree.first_body : nullptr,
          .ids = migration_.ids()};
}

/// As few steps of the search for borders as an evaluation before needed. If they are not enough, domains overlap in
/// this evaluation, and a later one makes all steps.
int TreeDomains::begin_residents(const ForceArgs& args) {
  work_.begin(args);
  if (work_.keeps_cells) return 0;
  const int needed = border_steps_.value();
  return migration_.rounds(needed > 0 ? needed : DomainMigration::most_steps);
}

void TreeDomains::divide(const ForceArgs& args, std::span<const Part> parts, int rounds) {
  work_.keeps_cells = rounds == 0;
  if (rounds == 0) return;
  before_ = held();
  earlier_ = layout_.first_body(index_);
  begin_layout(args, parts);
  migration_.begin(rounds);
}

void TreeDomains::round(int number, const ForceArgs& args) {
  migration_.round(number,
                   {.from = before_,
                    .earlier = earlier_,
                    .to = layout_,
                    .of_all = args.count,
                    .keys = work_.arrays.keys(),
                    .steps_needed = is_first() ? border_steps_.place() : nullptr},
                   args.stream);
}

void TreeDomains::prepare_shipment() {
  migration_.prepare_copies();
  take_scratch(work_.device, counts_, most_devices, "cuda-tree: the counters", "fewer ranks");
  all_counts_ = {.of = {&work_.arrays.states()->found}, .devices = devices_};
  for (int i = 1; i < devices_; ++i) all_counts_.of[i] = counts_.data() + i;
}

}  // namespace orrery
