#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/window/handlers.h"

namespace orrery {

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
  /// Called once per frame, after the latest steps are known.
  virtual void follow() {}
  /// Ends what goes on and completes its files; called at the end of the window, also of one that fails.
  virtual void finish() {}
  /// Adds a line for each thing that ends or is lost with the window: "The race ends; what it has measured is kept."
  virtual void add_losses(std::vector<std::string>& /*lines*/) const {}
  /// Adds what a window that takes over from this one lacks: "the rest of the race".
  virtual void add_left_behind(std::vector<std::string>& /*things*/) const {}
};

#define X(feature) std::unique_ptr<WindowFeature> make_##feature(Session& session);
#include "window_list.inc"
#undef X

/// The features of a window, one of each. `session` must outlive them.
std::vector<std::unique_ptr<WindowFeature>> make_features(Session& session);

}  // namespace orrery
