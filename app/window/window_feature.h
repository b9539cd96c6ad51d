#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/text/csv.h"
#include "app/window/handlers.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"

namespace orrery {

class Lane;
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
  /// Called once per frame, after steps that have ended were taken in; in a window, before others are started.
  virtual void before_steps() {}
  /// Whether no steps may be started now.
  virtual bool holds_steps() const { return false; }
  /// Whether the shown run may start steps in this frame, if nothing else holds them. Otherwise a second run may have
  /// started some.
  virtual bool allows_steps(std::int64_t /*frame*/) { return true; }
  /// In a run that can be repeated, after the steps of the shown run: starts those that a second run lacks, and returns
  /// it, to be waited for. Null: there is no other run.
  virtual Lane* catch_up() { return nullptr; }
  /// Called once per frame, after the latest steps are known.
  virtual void follow() {}
  /// Called once per frame, after the view describes the shown run. `wall_s` as for Lane::describe().
  virtual void describe(double /*wall_s*/) {}
  /// Divides Session::stage, which is whole, between the shown run and a second one. `covered` as for whole_stage().
  virtual void divide_stage(const render::Canvas& /*canvas*/, glm::vec3 /*covered*/) {}
  /// Draws the bodies in place of the shown run alone. Returns false if it does not.
  virtual bool draw(const render::OrbitCamera& /*camera*/) { return false; }
  /// Adds what a picture's file says of the feature.
  virtual void describe_picture(Json& /*description*/) const {}
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
