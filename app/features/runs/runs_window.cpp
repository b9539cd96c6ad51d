// The history of a window's run, and its replay file.
#include <memory>
#include <numbers>

#include "app/features/runs/replay.h"
#include "app/ui_state/window_commands.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"

namespace orrery {
namespace {

/// Records the run of a window, and saves it as a replay.
class RunsWindow final : public WindowFeature {
 public:
  explicit RunsWindow(Session& session) : session_{session}, history_{session.lockstep} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, runs_commands); }

  void carry_out(const SaveReplay& c) {
    constexpr float degrees = 180 / std::numbers::pi_v<float>;
    Replay replay = replay_of(history(), simulation(), session_.backends);
    const CameraView camera = session_.camera();
    replay.camera = {static_cast<float>(camera.azimuth) * degrees, static_cast<float>(camera.elevation) * degrees,
                     static_cast<float>(camera.distance),          static_cast<float>(camera.target.x),
                     static_cast<float>(camera.target.y),          static_cast<float>(camera.target.z)};
    replay.appearance = {session_.view.appearance};
    const Session::Output to = session_.output(c.file, "run.replay");
    session_.say_written(write_replay(to.file, replay, to.existing));
  }

  void begin() override { (void)history(); }

  void took(const Command& command) override { history().took(command, simulation()); }

  void resumed() override {
    history().lose(simulation(),
                   "the run continues a checkpoint, where no replay can start: restart it, or load a scene");
  }

  void before_steps() override { history().follow(simulation()); }

 private:
  Simulation& simulation() const { return session_.lane.simulation(); }

  /// Returns the history. Begins it at the first call, when the simulation has its bodies.
  RunHistory& history() {
    if (!std::exchange(begun_, true)) history_.begin(simulation());
    return history_;
  }

  Session& session_;
  RunHistory history_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<WindowFeature> make_runs(Session& session) {
  return std::make_unique<RunsWindow>(session);
}

}  // namespace orrery
