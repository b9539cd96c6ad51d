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

namespace {

/// Removes the notes on a value that was suggested for the bodies, if another one is used.
void keep_the_used(std::vector<std::string>& notes, const std::string& name, double used) {
  std::erase_if(notes, [&](const std::string& note) {
    return note.starts_with(name + " ") && !note.starts_with(name + " " + short_number(used) + " ");
  });
}

}  // namespace

std::string print_scene_notes(const Simulation& simulation) {
  std::vector<std::string> notes = simulation.scene_notes();
  const double softening = simulation.status().law.softening;
  keep_the_used(notes, "softening", softening);
  keep_the_used(notes, "dt", simulation.status().time_step);
  std::string coarse = coarse_softening(softening, simulation.smallest_orbit());
  if (!coarse.empty() && std::ranges::find(notes, coarse) == notes.end()) notes.push_back(std::move(coarse));
  if (notes.empty()) return {};
  const std::string name = printable(simulation.status().scene_name);
  for (const std::string& note : notes) console::print_error("note: {}: {}\n", name, note);
  return fmt::format("{}: {}", name, printable(fmt::format("{}", fmt::join(notes, "; "))));
}

}  // namespace orrery
