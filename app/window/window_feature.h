#pragma once

#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <typeindex>
#include <variant>
#include <vector>

#include "app/commands/command_entry.h"
#include "app/text/csv.h"
#include "app/ui_state/command.h"
#include "render/camera.h"
#include "render/gl/gl_objects.h"

namespace orrery {

/// Registry of the functions that carry out window commands, one function per command.
class Handlers {
 public:
  /// Registers part.carry_out(const Command&) for each command of the table. `part` must outlive this object.
  template <class Part, class... Rows>
  void add(Part& part, const std::tuple<Rows...>& /*table*/) {
    (add_one<typename Rows::Command>(part), ...);
  }

  /// Throws std::logic_error that names a command without a function.
  void require_all() const {
    for (const CommandEntry& entry : command_entries()) {
      const auto* command = std::get_if<ViewCommand>(&entry.initial);
      if (command && !handlers_.contains(command->type())) {
        throw std::logic_error(std::string{"no part carries out the command "} + entry.name);
      }
    }
  }

  /// Carries out the command. Throws UsageError for a value out of its range, and what the registered function throws.
  void carry_out(const ViewCommand& command) const {
    entry_of(command.type()).check(command);
    handlers_.at(command.type())(command);
  }

 private:
  template <class C, class Part>
  void add_one(Part& part) {
    const auto carry_out = [&part](const ViewCommand& command) { part.carry_out(*command.get_if<C>()); };
    if (!handlers_.emplace(typeid(C), carry_out).second) {
      throw std::logic_error(std::string{"two parts carry out the command "} + entry_of(typeid(C)).name);
    }
  }

  std::map<std::type_index, std::function<void(const ViewCommand&)>> handlers_;
};

class Lane;
struct DeviceLoss;
struct Handover;
struct KernelInfo;
struct Session;

/// The part of a feature that lives in the window, listed in app/features/lists.cmake.
class WindowFeature {
 public:
  WindowFeature() = default;
  WindowFeature(const WindowFeature&) = delete;
  WindowFeature& operator=(const WindowFeature&) = delete;
  virtual ~WindowFeature() = default;

  /// Registers the functions that carry out the feature's commands.
  virtual void add_to(Handlers& /*handlers*/) {}
  /// Called once after the window is set up, before its first frame.
  virtual void begin() {}
  /// Called after each command that the simulation has carried out.
  virtual void took(const Command& /*command*/) {}
  /// Called after a checkpoint's run has been resumed. Its state is not the initial state of a scene.
  virtual void resumed() {}
  /// Called once per frame, after the latest steps have ended and before the next ones start.
  virtual void before_steps() {}
  /// Returns whether steps are forbidden now.
  virtual bool forbids_steps() const { return false; }
  /// Returns whether the shown run may start steps in this frame, if nothing else forbids it. If not, a second run may
  /// have started steps.
  virtual bool allows_steps(std::int64_t /*frame*/) { return true; }
  /// Called in a deterministic run after the steps of the shown run. Starts the steps that a second run lacks, and
  /// returns that run, whose steps the caller awaits. Null: there is no second run.
  virtual Lane* catch_up() { return nullptr; }
  /// Called once per frame, after the latest steps are known.
  virtual void follow() {}
  /// Called once per frame, after the view describes the shown run. `wall_s` as in Lane::describe().
  virtual void describe(double /*wall_s*/) {}
  /// Divides Session::stage, initially whole, between the shown run and a second one. `covered` as in whole_stage().
  virtual void divide_stage(const render::Canvas& /*canvas*/, glm::vec3 /*covered*/) {}
  /// Draws the bodies in place of Lane::draw() of the shown run. Returns false if it draws nothing.
  virtual bool draw(const render::OrbitCamera& /*camera*/) { return false; }
  /// Adds what the feature shows to the description in a picture's file.
  virtual void describe_picture(Json& /*description*/) const {}
  /// Returns whether the picture of a frame is never seen, so that it need not be drawn.
  virtual bool does_without(std::int64_t /*frame*/) const { return false; }
  /// Returns whether the steps of the next frame must not start before end_frame().
  virtual bool holds_steps() const { return false; }
  /// Called at the end of a frame. `drawn`: the surface has the frame's picture, which is not presented yet.
  virtual void end_frame(bool /*drawn*/) {}
  /// Returns whether the purpose of the run is complete if no frame from this one on is drawn.
  virtual bool is_complete_from(std::int64_t /*frame*/) const { return false; }
  /// Called at the end of the window while OpenGL still works, before finish().
  virtual void finish_drawing() {}
  /// Ends all work of the feature and completes its files, without OpenGL. Called at the end of the window, also after
  /// a failure.
  virtual void finish() {}
  /// Adds a line for each thing that ends or is lost with the window: "The race ends; what it measured is kept."
  virtual void add_losses(std::vector<std::string>& /*lines*/) const {}
  /// Adds the things that a window taking over from this one lacks, such as "the rest of the race".
  virtual void add_left_behind(std::vector<std::string>& /*things*/) const {}
  /// Stores the feature's state for the window that takes over with `kernel`, see add_left_behind().
  virtual void hand_over(Handover& /*next*/, const DeviceLoss& /*loss*/, const KernelInfo& /*kernel*/) const {}
  /// Restores what hand_over() stored, before the run of the other window continues. Throws std::runtime_error.
  virtual void take_over(const Handover& /*before*/) {}
  /// Returns the name of a kernel that the feature has made, such as "version 2 of my.cu"; empty for other kernels.
  virtual std::string name_of(const KernelInfo& /*kernel*/) const { return {}; }
  /// Returns the exit status of a run that has ended without a failure.
  virtual int exit_status() const { return 0; }
};

#define X(feature) std::unique_ptr<WindowFeature> make_##feature(Session& session);
#include "window_list.inc"
#undef X

/// Returns the features of a window, one of each. `session` must outlive them.
std::vector<std::unique_ptr<WindowFeature>> make_features(Session& session);

}  // namespace orrery
