#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace orrery {

/// Writes the outputs of a run and ends it if its thread never returns from the window system or the driver. There are
/// two cases: the X server is gone, and Xlib would end the program; or a stop was requested, and a call does not
/// return.
///
/// The thread that made this owns the run's state, except inside outside(): a mutex ensures it.
class Rescue {
 public:
  using Clock = std::chrono::steady_clock;

  Rescue();
  Rescue(const Rescue&) = delete;
  Rescue& operator=(const Rescue&) = delete;
  ~Rescue();

  /// Call once the display is open.
  void watch_display();
  /// Makes `write_outputs` run before the program ends, on any thread: it must need no OpenGL. It returns what could
  /// not be written, one line, or an empty text. `patience` counts from a stop request, not from the start of a call:
  /// it bounds how long all calls after the request delay the end. Once it has passed, any call in flight ends the
  /// program, however short it is.
  void arm(std::function<std::string()> write_outputs, Clock::duration patience);
  /// Makes another thread call `look` 20 times per second whenever the owner is in outside(), as if the owner called
  /// it: it may use the run's state, but not OpenGL. It may call end_program().
  void watch(std::function<void()> look) { look_ = std::move(look); }
  /// Call when the outputs are written: what is left may last 2 s after a stop request. `status` is the run's.
  void disarm(int status);
  /// Writes the outputs, prints `cause` in one line, and ends the program with `status`, or 1 if something could not be
  /// written. Nothing is destroyed: that would call the driver again. Call from the thread that owns the run's state.
  [[noreturn]] void end_program(const std::string& cause, int status);

  /// Makes a call of the window system or of OpenGL. It must not touch what `write_outputs` does. Not to be nested.
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

  std::recursive_timed_mutex owner_;  // recursive: Xlib reports its end in the middle of any call
  std::function<std::string()> write_outputs_;
  std::function<void()> look_;
  Clock::duration patience_ = std::chrono::hours{24};  // no overflow beside a time
  int status_ = 1;                                     // once there is nothing to write
  bool disarmed_ = false;
  Clock::time_point disarmed_at_;
  std::jthread thread_;
};

}  // namespace orrery
