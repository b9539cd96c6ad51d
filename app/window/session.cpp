#include "app/window/session.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/recording/output_file.h"
#include "app/text/console.h"
#include "app/text/printable.h"
#include "app/window/window_feature.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr double lockstep_frame_s = 1.0 / 60;  // duration of a frame without a film, in s

std::unique_ptr<Surface> make_surface(const ViewOptions& options, const std::optional<WindowPlace>& place) {
  if (options.offscreen) return std::make_unique<OffscreenSurface>(options.size.value_or(WindowSize{}), options.panel);
  return std::make_unique<Window>(options.size, options.vsync,
                                  options.size && options.handover.empty() ? std::nullopt : place);
}

/// Opens the back ends. Unless the user chose devices, the GPU that draws the window holds the bodies.
Backends open_backends(const KernelCatalog& kernels, const ViewOptions& options) {
  const int drawing = device_of_gl_context().value_or(0);
  if (options.devices) return Backends{kernels, *options.devices, drawing};
  return Backends{kernels, options.device, drawing};
}

}  // namespace

Session::Session(KernelCatalog& catalog, const ViewOptions& view_options, const std::optional<WindowPlace>& place)
    : options{view_options},
      lockstep{runs_in_lockstep(options)},
      frame_s{options.film ? 1 / options.film->fps : lockstep_frame_s},
      surface{make_surface(options, place)},
      kernels{catalog},
      backends{open_backends(kernels, options)},
      sharing{try_sharing(backends)},
      chooser{AutoChooser::this_machine(backends)},
      lane{rescue, backends, sharing, options.scene, kernel_of_setup(kernels, options.setup), &chooser, lockstep} {}

bool Session::runs_in_lockstep(const ViewOptions& options) {
  return options.offscreen || !options.script.empty() || options.frames;
}

void Session::refuse_beside_measurement() const {
  if (!view.measurement) return;
  const MachineUser& other = *view.measurement->user;
  throw UsageError(fmt::format("{} and needs the machine for itself; wait for its end or stop it first ({})",
                               other.state, way_to_end(other)));
}

void Session::refuse_beside_comparison(const std::string& what) const {
  if (!view.second_run) return;
  throw UsageError(fmt::format("{}; end the comparison first ({})", what, way_to_end(*view.second_run)));
}

void Session::require_machine(const char* user) const {
  refuse_beside_measurement();
  refuse_beside_comparison(fmt::format("{} needs the machine for itself", user));
}

/// Returns how the user can end `user`: in a script by a command, in a window by a button.
const char* Session::way_to_end(const MachineUser& user) const {
  return lockstep ? user.command : user.button;
}

void Session::report_files(const std::vector<std::string>& files, const std::string& error) {
  for (const std::string& file : files) say_written(file);
  if (error.empty()) return;
  failed = true;
  complain(error);
}

Session::Output Session::output(const std::string& asked, const char* name) const {
  if (asked.empty()) return {new_output(name), Existing::keep};
  return {asked, options.existing};
}

Json Session::surroundings() {
  Json metadata = machine_metadata(backends);
  metadata["gl_renderer"] = surface->gl().renderer;
  const render::Canvas drawn = drawn_canvas ? *drawn_canvas : canvas();
  metadata["window"] = fmt::format("{}x{}", drawn.width, drawn.height);
  metadata["vsync"] = surface->vsync();
  metadata["drawing"] = word_of(view.drawn);
  return metadata;
}

void Session::say(const std::string& notice) {
  view.notice = notice;
  console::print("{}\n", notice);
}

void Session::say_written(const std::string& file, const std::string& remark) {
  say("wrote " + printable(file) + (remark.empty() ? "" : "; " + remark));
}

/// Shows the error in the window until a command succeeds, and prints it.
void Session::complain(const std::string& error) {
  said_error = printable(error);
  lane.simulation().report(said_error);
  console::complain(said_error);
}

double Session::clock_s(std::int64_t of_frame) const {
  return lockstep ? static_cast<double>(of_frame) * frame_s
                  : std::chrono::duration<double>(frame_begin.time_since_epoch()).count();
}

render::Canvas Session::canvas() {
  return rescue.outside([this] { return surface->canvas(); });
}

namespace {

bool runs_steps(const Command& command) {
  const auto* pause = std::get_if<SetPaused>(&command);
  return (pause && !pause->paused) || std::holds_alternative<StepOnce>(command) ||
         std::holds_alternative<MeasureConserved>(command);
}

bool may_choose_kernel(const Command& command, const Status& shown) {
  if (const auto* select = std::get_if<SelectKernel>(&command)) return select->id == auto_kernel;
  if (std::holds_alternative<UndoReturn>(command)) return true;
  return shown.auto_choice &&
         (std::holds_alternative<LoadScene>(command) || std::holds_alternative<SetAccuracy>(command) ||
          std::holds_alternative<SelectLaw>(command) || std::holds_alternative<Reset>(command));
}

}  // namespace

void ShownPause::begin(Simulation& shown) {
  resume_ = !shown.status().paused;
  shown.apply(SetPaused{true});
}

void ShownPause::end(Simulation& shown) {
  if (std::exchange(resume_, false)) shown.apply(SetPaused{false});
}

std::vector<Command> shown_physics(const Status& shown) {
  return {SelectLaw{law_info(shown.law.id).id},
          SetTimeStep{shown.time_step},
          SetSoftening{shown.law.softening},
          SetRepulsion{shown.law.repulsion},
          SetDrag{shown.law.drag},
          SetEta{shown.eta},
          SetDigits{shown.digits}};
}

bool needs_machine(const Command& command, const Status& shown) {
  return runs_steps(command) || may_choose_kernel(command, shown);
}

std::vector<std::unique_ptr<WindowFeature>> make_features(Session& session) {
  std::vector<std::unique_ptr<WindowFeature>> made;
#define X(feature) made.push_back(make_##feature(session));
#include "window_list.inc"
#undef X
  return made;
}

}  // namespace orrery
