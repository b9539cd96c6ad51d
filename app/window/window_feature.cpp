#include "app/window/window_feature.h"

#include <utility>
#include <variant>

#include "app/window/session.h"

namespace orrery {

std::vector<std::unique_ptr<WindowFeature>> make_features(Session& session) {
  std::vector<std::unique_ptr<WindowFeature>> made;
#define X(feature) made.push_back(make_##feature(session));
#include "window_list.inc"
#undef X
  return made;
}

namespace {

bool runs_steps(const Command& command) {
  const auto* pause = std::get_if<SetPaused>(&command);
  return (pause && !pause->paused) || std::holds_alternative<StepOnce>(command) ||
         std::holds_alternative<MeasureConserved>(command);
}

bool may_choose_kernel(const Command& command, const Status& shown) {
  if (const auto* select = std::get_if<SelectKernel>(&command)) return select->id == auto_kernel;
  if (std::holds_alternative<UndoReturn>(command)) return true;
  return shown.auto_choice &&
         (std::holds_alternative<LoadScene>(command) || std::holds_alternative<SetAccuracy>(command) ||
          std::holds_alternative<SelectLaw>(command) || std::holds_alternative<Reset>(command));
}

}  // namespace

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

bool needs_machine(const Command& command, const Status& shown) {
  return runs_steps(command) || may_choose_kernel(command, shown);
}

}  // namespace orrery
