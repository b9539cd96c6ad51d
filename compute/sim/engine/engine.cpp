#include "compute/sim/engine/engine.h"

#include <algorithm>
#include <utility>

namespace orrery {

StepTiming batch_timing(std::int64_t tag, int steps, int evaluations, double all_steps_ms, double evaluation_ms,
                        double interactions_per_evaluation) {
  StepTiming timing{.tag = tag, .steps = steps, .evaluations = evaluations};
  if (steps == 0) return timing;
  timing.step_ms = all_steps_ms / steps;
  timing.force_ms = std::min(evaluation_ms * evaluations / steps, timing.step_ms);  // a sample's mean may exceed it
  timing.integrate_ms = timing.step_ms - timing.force_ms;
  timing.interactions_per_evaluation = interactions_per_evaluation;
  timing.interactions_per_s = interactions_per_evaluation * evaluations / all_steps_ms * 1e3;
  return timing;
}

std::shared_ptr<const Domains> domains_of(const ForceKernel& kernel, std::int64_t step, int count) {
  std::optional<BodyOwners> owners = owners_of(kernel, count);
  if (!owners) return nullptr;
  return std::make_shared<const Domains>(Domains{step, std::move(*owners)});
}

std::shared_ptr<const TreeCells> tree_cells_of(const TreeFacet& tree, std::int64_t step, const CellRequest& asked) {
  std::optional<PickedCells> picked = tree.cells();
  if (!picked) return nullptr;
  return std::make_shared<const TreeCells>(TreeCells{std::move(*picked), step, asked});
}

}  // namespace orrery
