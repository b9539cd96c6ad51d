#include "app/runs/scene_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/text/console.h"
#include "app/text/printable.h"
#include "compute/scenes/natural_scales.h"

namespace orrery {

std::string print_scene_notes(const Simulation& simulation) {
  std::vector<std::string> notes = simulation.scene_notes();
  const double softening = simulation.status().law.softening;
  std::string coarse = coarse_softening(softening, simulation.smallest_orbit());
  if (!coarse.empty() && std::ranges::find(notes, coarse) == notes.end()) notes.push_back(std::move(coarse));
  if (notes.empty()) return {};
  const std::string name = printable(simulation.status().scene_name);
  for (const std::string& note : notes) console::print_error("note: {}: {}\n", name, note);
  return fmt::format("{}: {}", name, printable(fmt::format("{}", fmt::join(notes, "; "))));
}

}  // namespace orrery
