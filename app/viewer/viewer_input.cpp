// How the viewer takes input: a part of Viewer.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/panels.h"
#include "app/viewer/keys.h"
#include "app/viewer/viewer.h"

namespace orrery {
namespace {

constexpr std::chrono::milliseconds longest_input{100};  // of a frame; the rest waits for the next one

}  // namespace

void Viewer::poll_window() {
  rescue_.outside([this] { surface_->poll(); });
}

/// A widget may take up to `frames_to_settle` layouts to appear or to get the focus after a click or a key. Events that
/// came later wait for it.
void Viewer::take_input() {
  const Clock::time_point begin = Clock::now();
  poll_window();
  load_dropped();
  if (!lockstep_ && surface_->close_requested()) {
    surface_->stay_open();
    requests_.emplace_back(ViewCommand{AskToQuit{}});
  }
  carry_out_requests(std::exchange(requests_, {}));
  while (gui_.has_events() && Clock::now() - begin < longest_input) {
    lay_out_unseen(rescue_.outside([this] { return gui_.begin_frame_with_events(frame_s_); }));
    for (int frame = 1; gui_.has_events() && frame < Gui::frames_to_settle; ++frame) {
      rescue_.outside([this] { gui_.begin_frame(frame_s_); });
      lay_out_unseen({});
    }
  }
}

/// Each request is carried out before the next press is looked up: C pressed twice is two colour maps further.
void Viewer::lay_out_unseen(const std::vector<KeyPress>& presses) {
  carry_out_requests(camera_control_.requests(gui_.io(), held_keys(), picker_.number()));
  for (const KeyPress& press : presses) {
    if (const auto request = request_for(press, lane_.status(), view_)) carry_out_requests({*request});
  }
  draw_panels(lane_.status(), view_, panel_state_, requests_);
  rescue_.outside([this] { gui_.end_unseen_frame(); });
  carry_out_requests(std::exchange(requests_, {}));
}

void Viewer::load_dropped() {
  const std::vector<std::string> files = surface_->take_dropped();
  if (!files.empty()) requests_.emplace_back(Command{LoadScene{{.scene = {}, .file = files.front()}}});
}

}  // namespace orrery
