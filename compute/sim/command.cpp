#include "compute/sim/command.h"

#include "compute/integrators/integrator.h"
#include "compute/sim/command_row.h"

namespace orrery {

template struct OneOf<SimulationCommands>;

void check_integrator(const std::string& id) {
  (void)find_integrator(id);
}

void check_law(const std::string& id) {
  (void)find_law(id);
}

void check_scene(const std::string& id) {
  if (!id.empty()) (void)find_scene(id);  // the id is empty if the scene is a file
}

std::vector<std::pair<LawId, std::string_view>> EnumWords<LawId>::all() {
  std::vector<std::pair<LawId, std::string_view>> words;
  for (const LawInfo& info : laws()) words.emplace_back(info.law, info.id);
  return words;
}

}  // namespace orrery
