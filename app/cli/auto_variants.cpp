#include "app/cli/auto_variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/lab/tuning/auto_chooser.h"
#include "app/text/console.h"
#include "compute/core/text.h"

namespace orrery {

Law law_of(const Commands& setup, const Scene& scene) {
  Law law{.softening = scene.softening};
  for (const Command& command : setup) {
    if (const auto* select = std::get_if<SelectLaw>(&command)) law.id = find_law(select->id);
    if (const auto* set = std::get_if<SetSoftening>(&command)) law.softening = set->softening;
    if (const auto* set = std::get_if<SetRepulsion>(&command)) law.repulsion = set->repulsion;
    if (const auto* set = std::get_if<SetDrag>(&command)) law.drag = set->drag;
  }
  return law;
}

Variant auto_variant(const Backends& backends, const AutoRequest& request) {
  AutoChooser chooser{AutoChooser::this_machine(backends)};
  const Scene scene = load_scene(request.scene);
  const Bodies& bodies = scene.bodies;
  const Law law = law_of(request.setup, scene);
  const KernelChoice choice = chooser.choose({.count = bodies.count(),
                                              .law = law.id,
                                              .equal_masses = mass_range(bodies.positions).equal(),
                                              .accuracy = request.accuracy,
                                              .jerks = request.jerks},
                                             {bodies, law}, {});
  const std::optional<Candidate>& chosen = chooser.chosen();
  console::print_error("note: {}, {}: {}{}\n", counted_bodies(bodies.count()), law_info(law.id).id, name_of(choice),
                       chosen && chosen->median_error ? ", " + error_words(*chosen) : "");
  return {choice.kernel, choice.settings};
}

void add_auto_variant(VariantPlan& plan, const Backends& backends, const AutoRequest& request) {
  Variant chosen = auto_variant(backends, request);
  const auto same = [&](const Variant& each) {
    return same_kernel(*each.kernel, *chosen.kernel) && each.settings == chosen.settings;
  };
  if (std::ranges::none_of(plan.variants, same)) plan.variants.insert(plan.variants.begin(), std::move(chosen));
}

}  // namespace orrery
