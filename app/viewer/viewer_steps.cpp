#include <sys/prctl.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "app/viewer/scene_view.h"
#include "app/viewer/viewer.h"
#include "compute/core/failure_text.h"
#include "compute/core/stop_signal.h"

namespace orrery {
namespace {

constexpr std::chrono::microseconds longest_slice{5000};  // of waiting for steps, between window events
constexpr std::chrono::microseconds longest_spin{50};     // before the thread gives up its processor

/// Linux lets sleeps of a thread last up to 50 us longer than asked; from now on 1 us.
void sleep_as_asked() {
  prctl(PR_SET_TIMERSLACK, 1000UL);
}

}  // namespace

/// Processes window events meanwhile. Returns false if the run ends instead.
bool Viewer::wait_for_steps(Lane& lane) {
  const Clock::time_point begin = Clock::now();
  sleep_as_asked();
  while (!lane.collect()) {
    poll_window();
    if (stop_requested() || surface_->close_requested()) return false;
    // In proportion to the wait until now, so that the wait for a short step ends soon after it.
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    if (waited < longest_spin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::clamp(waited / 64, std::chrono::microseconds{1}, longest_slice));
    }
  }
  return true;
}

/// No steps run during a sweep or a lesson's measurement, which needs the machine for itself. A window starts none
/// while the workshop waits for the bodies: to copy them while steps run would make this frame wait for these.
int Viewer::advance(std::int64_t frame) {
  if (!lockstep_ && workshop_.asks_for_bodies()) return 0;
  if (view_.measuring() || !lane_.ready() || !second_lane_allows_steps(frame)) return 0;
  const double now_s = lockstep_ ? static_cast<double>(frame) * frame_s_
                                 : std::chrono::duration<double>(frame_begin_.time_since_epoch()).count();
  try {
    lane_.examine(now_s, view_);
  } catch (const std::exception& error) {
    if (lockstep_) throw;
    complain(failure_text(error));
  }
  try {
    return lane_.advance(frame);
  } catch (const std::exception& error) {
    if (lockstep_) throw;
    lane_.simulation().apply(SetPaused{true});  // or the next frame would fail in the same way
    complain(failure_text(error));
    return 0;
  }
}

void Viewer::take_timings() {
  (void)lane_.collect();
  leave_hanging_kernel();
  if (!lane_.take_timings()) return;
  picker_.leave_scene();
  if (std::string ended = follow_.take_scene(lane_.simulation().parts()); !ended.empty()) {
    view_.notice = std::move(ended);
  }
  const Framing& framing = lane_.framing();
  camera_.frame(framing.centre, std::max(framing.radius, scene_view(lane_.status().scene).least_radius));
  if (handover_ && !std::exchange(took_over_camera_, true)) take_over_camera();
}

/// Whether nothing can change the steps of the next frame, and nothing of this frame is drawn from its bodies any more:
/// then the GPU may compute the next steps while the panels are drawn. A run with a window never waits for its steps.
bool Viewer::next_steps_are_known() const {
  if (!options_.offscreen || view_.interop != Interop::mapped || second_.active()) return false;
  const bool asked = !requests_.empty() || !pictures_wanted_.empty() || live_film_.has_value();
  const bool scripted = script_at_ < options_.script.size() && options_.script[script_at_].frame <= frame_ + 1;
  const bool last = stop_requested() || quit_ || (options_.frames && frame_ + 1 >= *options_.frames) ||
                    (film_ && film_->complete_from(frame_ + 1));
  return !asked && !scripted && !last;
}

}  // namespace orrery
