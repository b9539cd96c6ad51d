// How the viewer saves how its run went: a part of Viewer.
#include <numbers>

#include "app/viewer/viewer.h"

namespace orrery {

void Viewer::carry_out(const SaveReplay& c) {
  constexpr float degrees = 180 / std::numbers::pi_v<float>;
  Replay replay = replay_of(history_, lane_.simulation(), backends_);
  const glm::vec3 target = camera_.target();
  replay.camera = {
      camera_.azimuth() * degrees, camera_.elevation() * degrees, camera_.distance(), target.x, target.y, target.z};
  replay.appearance = {view_.appearance};
  const Output to = output(c.file, "run.replay");
  say_written(write_replay(to.file, replay, to.existing));
}

}  // namespace orrery
