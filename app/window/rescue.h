#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace orrery {

/// Writes the outputs of a run and ends the program if its thread never returns from the window system or the driver.
/// There are two cases: the X server is gone, and Xlib would end the program; or a call does not return after a stop
/// request.
///
/// The thread that constructed this object owns the run's state, except inside outside(). A mutex enforces that.
class Rescue {
 public:
  using Clock = std::chrono::steady_clock;

  Rescue();
  Rescue(const Rescue&) = delete;
  Rescue& operator=(const Rescue&) = delete;
  ~Rescue();

  /// Handles the loss of the display from now on. Call once the display is open.
  void watch_display();
  /// Makes end_program() call `write_outputs` first, on any thread; it must not use OpenGL. It returns what could not
  /// be written, one line, or an empty text. `patience` limits how long calls may delay the end after a stop request.
  /// After that time, any call in flight ends the program, however short it is.
  void arm(std::function<std::string()> write_outputs, Clock::duration patience);
  /// Makes another thread call `look` 20 times per second while the owner is in outside(). `look` may use the run's
  /// state and call end_program(), but must not use OpenGL.
  void watch(std::function<void()> look) { look_ = std::move(look); }
  /// Disarms the rescue when the outputs are written. The rest may then last 2 s after a stop request. `status` is the
  /// run's exit status.
  void disarm(int status);
  /// Writes the outputs, prints `cause` in one line, and ends the program with `status`, or 1 if an output failed.
  /// Calls no destructors, since they would call the driver again. Call from the thread that owns the run's state.
  [[noreturn]] void end_program(const std::string& cause, int status);

  /// Runs `call`, a call of the window system or of OpenGL. It must not touch the state of `write_outputs`. No nesting.
  template <class Call>
  decltype(auto) outside(Call&& call) {
    const Away away{owner_};
    return std::forward<Call>(call)();
  }

 private:
  struct Away {
    explicit Away(std::recursive_timed_mutex& mutex) : owner{mutex} { owner.unlock(); }
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;
    ~Away() { owner.lock(); }
    std::recursive_timed_mutex& owner;
  };

  void stand_by(const std::stop_token& ended);
  void look_at_run();
  void display_lost();

  std::recursive_timed_mutex owner_;  // recursive, because Xlib reports its end in the middle of any call
  std::function<std::string()> write_outputs_;
  std::function<void()> look_;
  Clock::duration patience_ = std::chrono::hours{24};  // short enough to add to a time without overflow
  int status_ = 1;                                     // exit status after disarm()
  bool disarmed_ = false;
  Clock::time_point disarmed_at_;
  std::jthread thread_;
};

}  // namespace orrery
