#include "app/viewer/shown_pause.h"

#include <utility>

namespace orrery {

void ShownPause::begin(Simulation& shown) {
  resume_ = !shown.status().paused;
  shown.apply(SetPaused{true});
}

void ShownPause::end(Simulation& shown) {
  if (std::exchange(resume_, false)) shown.apply(SetPaused{false});
}

std::vector<Command> shown_physics(const Status& shown) {
  return {SelectLaw{law_info(shown.law.id).id},
          SetTimeStep{shown.time_step},
          SetSoftening{shown.law.softening},
          SetRepulsion{shown.law.repulsion},
          SetDrag{shown.law.drag},
          SetEta{shown.eta},
          SetDigits{shown.digits}};
}

}  // namespace orrery
