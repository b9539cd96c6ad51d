#include "app/runs/scene_notes.h"

#include <fmt/format.h>

#include "app/text/console.h"
#include "app/text/printable.h"

namespace orrery {

std::string print_scene_notes(const Simulation& simulation) {
  const std::vector<std::string>& notes = simulation.scene_notes();
  if (notes.empty()) return {};
  const std::string name = printable(simulation.status().scene_name);
  for (const std::string& note : notes) console::print_error("note: {}: {}\n", name, note);
  return fmt::format("{}: {}", name, printable(fmt::format("{}", fmt::join(notes, "; "))));
}

}  // namespace orrery
