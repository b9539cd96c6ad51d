#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/window/handlers.h"

namespace orrery {

struct DeviceLoss;
struct Handover;
struct KernelInfo;
struct Session;

/// The part of a feature that lives in the window, listed in app/features/CMakeLists.txt.
class WindowFeature {
 public:
  WindowFeature() = default;
  WindowFeature(const WindowFeature&) = delete;
  WindowFeature& operator=(const WindowFeature&) = delete;
  virtual ~WindowFeature() = default;

  /// Adds the functions that carry out the feature's commands.
  virtual void add_to(Handlers& handlers) = 0;
  /// Called once the window is complete: opens what the options name.
  virtual void begin() {}
  /// Called once per frame of a window, before steps are started.
  virtual void before_steps() {}
  /// Whether no steps of the shown run may be started now.
  virtual bool holds_steps() const { return false; }
  /// Called once per frame, after the latest steps are known.
  virtual void follow() {}
  /// Ends what goes on and completes its files; called at the end of the window, also of one that fails.
  virtual void finish() {}
  /// Adds a line for each thing that ends or is lost with the window: "The race ends; what it has measured is kept."
  virtual void add_losses(std::vector<std::string>& /*lines*/) const {}
  /// Adds what a window that takes over from this one lacks: "the rest of the race".
  virtual void add_left_behind(std::vector<std::string>& /*things*/) const {}
  /// Leaves the feature's part to the window that takes over with `kernel`, see add_left_behind().
  virtual void hand_over(Handover& /*next*/, const DeviceLoss& /*loss*/, const KernelInfo& /*kernel*/) const {}
  /// Takes that part, before the run of the other window goes on. Throws std::runtime_error.
  virtual void take_over(const Handover& /*before*/) {}
  /// Name of a kernel that the feature has made: "version 2 of my.cu"; empty: it has not.
  virtual std::string name_of(const KernelInfo& /*kernel*/) const { return {}; }
  /// Exit status of a run that has ended without a failure.
  virtual int exit_status() const { return 0; }
};

#define X(feature) std::unique_ptr<WindowFeature> make_##feature(Session& session);
#include "window_list.inc"
#undef X

/// The features of a window, one of each. `session` must outlive them.
std::vector<std::unique_ptr<WindowFeature>> make_features(Session& session);

}  // namespace orrery
