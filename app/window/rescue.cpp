#include "app/window/rescue.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "app/text/console.h"
#include "compute/core/process.h"
#include "compute/core/threads.h"

struct _XDisplay;  // Xlib's display type; GLFW loads Xlib at run time

namespace orrery {
namespace {

constexpr std::chrono::milliseconds look{50};
constexpr std::chrono::seconds to_leave{2};  // for destructors; main() then prints what failed

using DisplayLost = int (*)(_XDisplay*);

std::function<void()> on_display_lost;

int note_display_lost(_XDisplay*) {
  on_display_lost();
  return 0;
}

void set_display_lost(DisplayLost handler) {
  void* const xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!xlib) return;  // there is no window, or it does not use X
  const auto set = reinterpret_cast<DisplayLost (*)(DisplayLost)>(dlsym(xlib, "XSetIOErrorHandler"));
  if (set) set(handler);
  dlclose(xlib);
}

}  // namespace

Rescue::Rescue() : thread_{start_thread([this](const std::stop_token& ended) { stand_by(ended); })} {
  owner_.lock();
}

Rescue::~Rescue() {
  thread_.request_stop();
  thread_.join();
  if (!disarmed_) owner_.unlock();
  if (on_display_lost) set_display_lost(nullptr);
  on_display_lost = nullptr;
}

void Rescue::watch_display() {
  on_display_lost = [this] { display_lost(); };
  set_display_lost(note_display_lost);
}

void Rescue::arm(std::function<std::string()> write_outputs, Clock::duration patience) {
  write_outputs_ = std::move(write_outputs);
  patience_ = patience;
}

void Rescue::disarm(int status) {
  if (std::exchange(disarmed_, true)) return;
  write_outputs_ = nullptr;
  disarmed_at_ = Clock::now();
  status_ = status;
  owner_.unlock();
}

void Rescue::stand_by(const std::stop_token& ended) {
  while (!ended.stop_requested() && !stop_requested()) {
    std::this_thread::sleep_for(look);
    look_at_run();
  }
  for (const Clock::time_point stop = Clock::now(); !ended.stop_requested(); std::this_thread::sleep_for(look)) {
    const std::unique_lock owner{owner_, look};
    if (!owner) continue;
    const Clock::time_point deadline = disarmed_ ? std::max(stop, disarmed_at_) + to_leave : stop + patience_;
    if (Clock::now() > deadline) end_program("stopped in the middle of a frame", stop_status());
  }
}

void Rescue::look_at_run() {
  const std::unique_lock owner{owner_, std::try_to_lock};
  if (owner && look_ && !disarmed_) look_();
}

/// Ends the program. Runs on the thread that called Xlib. Must not return, because Xlib would then end the program.
void Rescue::display_lost() {
  owner_.lock();
  end_program("the display is gone", 1);
}

void Rescue::end_program(const std::string& cause, int status) {
  if (disarmed_) std::_Exit(status_);
  const std::string problem = write_outputs_ ? write_outputs_() : std::string{};
  console::complain(problem.empty() ? cause : cause + "; " + problem);
  std::_Exit(problem.empty() && console::problem().empty() ? status : 1);
}

}  // namespace orrery
