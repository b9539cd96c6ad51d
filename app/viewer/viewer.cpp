// The frame loop: input, steps, the picture, and the end of a run.
#include "app/viewer/viewer.h"

#include <fmt/format.h>
#include <glad/gl.h>
#include <imgui.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/lab/variant_runner.h"
#include "app/panels/kit/format.h"
#include "app/panels/panels.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/viewer/camera_control.h"
#include "app/viewer/colouring.h"
#include "app/viewer/keys.h"
#include "app/viewer/window.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

constexpr double title_period_s = 0.5;
constexpr std::chrono::seconds without_picture{2}, for_window_picture{10}, for_picture{120};  // see Rescue::arm
constexpr double lockstep_frame_s = 1.0 / 60;                                                 // without a film

std::unique_ptr<Surface> make_surface(const ViewOptions& options, const std::optional<WindowPlace>& place) {
  if (options.offscreen) return std::make_unique<OffscreenSurface>(options.size.value_or(WindowSize{}), options.panel);
  return std::make_unique<Window>(options.size, options.vsync,
                                  options.size && options.handover.empty() ? std::nullopt : place);
}

std::unique_ptr<Film> make_film(const ViewOptions& options) {
  if (!options.film) return nullptr;
  return std::make_unique<Film>(*options.film, options.size.value_or(WindowSize{}), options.frames.value(),
                                options.existing);
}

/// The GPU that draws the window has the bodies, unless the user chose others.
Backends open_backends(const KernelCatalog& kernels, const ViewOptions& options) {
  const int drawing = device_of_gl_context().value_or(0);
  if (options.devices) return Backends{kernels, *options.devices, drawing};
  return Backends{kernels, options.device, drawing};
}

template <class Duration>
double in_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

Viewer::Viewer(KernelCatalog& kernels, const ViewOptions& options)
    : options_{options},
      lockstep_{options.offscreen || !options.script.empty() || options.frames},
      frame_s_{options.film ? 1 / options.film->fps : lockstep_frame_s},
      film_{make_film(options)},
      handover_{options.handover.empty() ? std::nullopt : std::optional{read_handover(options.handover)}},
      memory_{handover_ ? handover_->window : recalled(options, lockstep_)},
      surface_{make_surface(options, memory_.place)},
      backends_{open_backends(kernels, options)},
      sharing_{try_sharing(backends_)},
      chooser_{AutoChooser::this_machine(backends_)},
      lane_{rescue_, backends_, sharing_, options.scene, kernel_of_setup(kernels, options.setup), &chooser_, lockstep_},
      history_{lockstep_},
      second_{rescue_, backends_, sharing_, lockstep_},
      sweep_{backends_},
      race_{backends_},
      lessons_{backends_},
      workshop_{kernels, backends_},
      gui_{*surface_},
      pace_chosen_{std::ranges::any_of(
          options.setup, [](const Command& command) { return std::holds_alternative<SetStepsPerFrame>(command); })},
      picker_{lockstep_},
      follow_{lockstep_},
      facts_{backends_},
      autosave_{lockstep_ || options.fresh ? std::filesystem::path{} : usual_state_folder(), options.autosave_s,
                [](const std::string& what) { console::complain("the window " + what); }} {
  rescue_.watch_display();
  set_up(lane_.simulation(), backends_, options.setup, options.settings);
  history_.begin(lane_.simulation());
  if (handover_) {
    resume_handed_over();
  } else if (!options.resume_file.empty()) {
    resume(find_checkpoint(options.resume_file));
  }
  view_.panel = options.panel;
  view_.legend_shown = options.legend;
  view_.in_window = !options.offscreen;
  view_.gl_renderer = surface_->gl().renderer;
  view_.gl_on_processor = render::draws_in_software();
  view_.backends = backends_.statuses();
  view_.kernels = backends_.kernels().all();
  view_.processor = backends_.status(Backend::cpu).device;
  view_.gpu = backends_.status(Backend::cuda).device;
  for (const render::ColourMap& map : render::colour_maps()) view_.colour_maps.emplace_back(map.title);
  view_.keys = key_help();
  WorkshopControl::describe_sources(backends_, view_.workshop);
  follow_scene();
  restore(memory_);
  if (options.theme) carry_out(SetTheme{*options.theme});
  if (!options.record_file.empty()) carry_out(StartRecording{options.record_file});
  view_.diagnostics.probe = !film_ || options.panel || !options.record_file.empty();  // else nobody sees it
  if (options.path) paths_.play(*options.path, path_clock_s());
  if (!options.kernel_file.empty()) open_given_kernel_file();
  begin_film();
  if (handover_) take_over();
}

Viewer::~Viewer() {
  rescue_.disarm(exit_status_);
}

int Viewer::run(NextProgram* next_program) {
  next_program_ = next_program;
  watch_stop_signals();
  rescue_.arm([this] { return rescue_outputs(); }, patience());
  rescue_.watch([this] { leave_hanging_kernel(); });
  try {
    while (!finished()) frame();
    finish();
    remember();
    if (lockstep_) print_summary();
  } catch (...) {
    FirstFailure ignored;                // the first failure is reported
    (void)lane_.log().stop_recording();  // keeps the rows until here
    ignored.attempt([this] { finish_film(); });
    throw;
  }
  exit_status_ = failed_ ? 1 : stop_requested() ? stop_status() : kernel_file_status();
  return exit_status_;
}

/// How long calls may delay the end after a stop request. A last picture in memory takes longest.
Rescue::Clock::duration Viewer::patience() const {
  if (options_.screenshot_file.empty() && !film_) return without_picture;
  return options_.offscreen ? for_picture : for_window_picture;
}

bool Viewer::finished() const {
  return quit_ || stop_requested() || surface_->close_requested() || (options_.frames && frame_ >= *options_.frames) ||
         film_is_complete();
}

void Viewer::frame() {
  const Clock::time_point begin = Clock::now();
  const double since_last_s = std::chrono::duration<double>(begin - std::exchange(frame_begin_, begin)).count();
  log_last_frame(begin);
  take_input();
  run_script();

  int steps = 0;
  if (lockstep_) {
    steps = steps_ahead_ ? *std::exchange(steps_ahead_, {}) : advance(frame_);
    if (!wait_for_steps(lane_) || !catch_up()) return;
  }
  take_timings();
  history_.follow(lane_.simulation());
  follow_comparison();
  if (!lockstep_) {
    follow_autosave();
    workshop_.answer(lane_.simulation());
    steps = advance(frame_);
  }
  follow_recording();
  follow_measurements();
  follow_profile();
  follow_workshop();
  follow_device();
  follow_simulation();
  lane_.follow_colours(view_.appearance, path_clock_s());
  if (second_.active()) second_.lane().follow_colours(view_.appearance, path_clock_s());

  shown_ = lane_.status();
  paths_.follow(path_clock_s(), camera_);
  FrameTimes times;
  if (wants_picture()) {
    show(since_last_s, times);
  } else {
    lane_.take_moved();  // as if it had been drawn
  }
  if (film_) film_->show_progress(frame_, film_->wants(frame_));
  presented_ = Presented{begin, steps, times};
  title_age_s_ += since_last_s;
  if (title_age_s_ > title_period_s) {
    title_age_s_ = 0;
    const std::string step = view_.measured > 0 ? format_ms(view_.step_ms_median) : unknown;
    const Status& status = lane_.status();
    const std::string title =
        fmt::format("Orrery: {}, {}, {} per step", counted_bodies(status.count), status.kernel_id, step);
    rescue_.outside([&] { surface_->set_title(title); });
    seen_place_ = present_place();
  }
  ++frame_;
}

void Viewer::show(double since_last_s, FrameTimes& times) {
  since_layout_s_ += lockstep_ ? frame_s_ : since_last_s;
  const bool due = rescue_.outside([this] {  // the display is asked for the window's size
    const auto height = [this] { return static_cast<float>(surface_->canvas().height) / gui_.display_scale(); };
    gui_.magnify(view_.presentation ? presentation_scale(height()) : 1);
    return gui_.needs_layout();
  });
  const bool anew = due || !view_.labels.empty() || !pictures_wanted_.empty() || film_;
  if (anew) {
    rescue_.outside([this] { gui_.begin_frame(std::exchange(since_layout_s_, 0)); });
    carry_out_requests(camera_control_.requests(gui_.io(), held_keys(), picker_.number()));
  }
  drawn_canvas_ = rescue_.outside([this] { return surface_->canvas(); });
  rescue_.outside([this] { draw_bodies(*drawn_canvas_, covered_by_panels()); });
  if (next_steps_are_known()) steps_ahead_ = advance(frame_ + 1);
  const Clock::time_point begin = Clock::now();
  anew ? lay_out_panels() : rescue_.outside([this] { gui_.draw_again(); });
  times.gui_ms = in_ms(Clock::now() - begin);
  if (!pictures_wanted_.empty() || (film_ && !std::exchange(film_settled_, true))) settle();
  const bool lost = rescue_.outside([] { return render::context_was_reset(); });
  if (lost) rescue_.end_program("the driver has reset OpenGL: nothing more can be drawn", 1);
  save_pictures();
  add_to_film();
  follow_live_film();
  const Clock::time_point presenting = Clock::now();
  rescue_.outside([this] { surface_->present(); });
  times.swap_ms = in_ms(Clock::now() - presenting);
}

/// A frame lasts until the next one starts.
void Viewer::log_last_frame(Clock::time_point end) {
  if (!presented_) return;
  presented_->times.frame_ms = in_ms(end - presented_->begin);
  const std::string error = lane_.log().ended(frame_ - 1, presented_->steps, shown_, view_, presented_->times, end);
  presented_.reset();
  if (error.empty()) return;
  failed_ = true;
  complain(error);
}

void Viewer::run_script() {
  for (; script_at_ < options_.script.size() && options_.script[script_at_].frame <= frame_; ++script_at_) {
    const ScriptLine& line = options_.script[script_at_];
    const std::size_t before = pictures_wanted_.size();
    try {
      carry_out(line.request);
      for (std::size_t i = before; i < pictures_wanted_.size(); ++i) pictures_wanted_[i].script_line = line.line;
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", options_.script_file, line.line, error.what()));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", options_.script_file, line.line, failure_text(error)));
    }
  }
}

/// Fills in the values that panels and keys read until the next frame.
void Viewer::follow_simulation() {
  const Status& status = lane_.status();
  view_.kernels = backends_.kernels().all();
  if (status.last_error != said_error_) {
    said_error_ = status.last_error;
    if (!said_error_.empty() && lockstep_) throw std::runtime_error(said_error_);  // which prints it
    if (!said_error_.empty()) console::complain(said_error_);
  }
  const double wall_s = std::chrono::duration<double>(frame_begin_.time_since_epoch()).count();
  lane_.describe(view_, wall_s);
  if (second_.active()) second_.describe(view_, lane_, wall_s);
  facts_.describe(view_, status);
  view_.vsync = surface_->vsync();
  view_.fullscreen = surface_->fullscreen();
}

void Viewer::draw_bodies(const render::Canvas& canvas, glm::vec3 covered) {
  set_stage(canvas, covered);
  camera_.fit_into(stage_[0].share, stage_[0].middle);
  follow_bodies();
  view_.legend = legend_of(view_.appearance, lane_.ranges(), camera_);
  lane_.describe(view_.legend, view_.appearance);
  const render::OrbitCamera shown = glide_.shown(camera_, path_clock_s());
  lane_.prepare_overlays(shown, stage_[0].canvas, view_);
  if (second_.active()) return draw_both(shown);
  lane_.draw(frame_, shown, view_.appearance, canvas);
}

void Viewer::follow_bodies() {
  const Parts& parts = lane_.simulation().parts();
  const BodyPicker::Scene scene = picker_scene(lane_, stage_[0]);
  const bool had_one = view_.picked.has_value();
  const bool found = std::exchange(picking_in_second_, false) && second_.active()
                         ? picker_.update(picker_scene(second_.lane(), stage_[1]), second_camera(camera_))
                         : picker_.update(scene, camera_);
  if (!found && !had_one) view_.notice = "no body there";
  if (follow_.update({scene.bodies, scene.time, scene.history, lane_.moved(), parts}, picker_)) glide();
  follow_.aim(camera_);
  view_.picked = picker_.describe(scene, camera_);
  if (view_.picked && view_.picked->place) {
    const auto& [x, y] = *view_.picked->place;
    const glm::vec2 place = stage_[0].to_window({x, y});
    view_.picked->place = {place.x, place.y};
  }
  view_.followed = follow_.what();
  view_.framed_all = framed_all_ == std::pair{camera_.target(), camera_.distance()};
  view_.parts = parts.names;
}

void Viewer::lay_out_panels() {
  draw_panels(shown_, view_, panel_state_, requests_);
  rescue_.outside([this] { gui_.end_frame(); });
}

void Viewer::redraw() {
  rescue_.outside([this] {
    gui_.begin_frame(frame_s_);
    draw_bodies(surface_->canvas(), covered_by_panels());
  });
  lay_out_panels();
}

void Viewer::settle() {
  for (int frame = 0; frame < Gui::frames_to_settle; ++frame) redraw();
}

/// Shares of the window's width at the left, of its height at the bottom, and of its width at the right; 0 if the
/// panels would leave too little of the picture.
glm::vec3 Viewer::covered_by_panels() const {
  const ImVec2 display = gui_.io().DisplaySize;
  const glm::vec2 shares{side_column_width(view_) / display.x, panel_state_.lab.covered / display.y};
  const float left = shares.x < 0.5f ? shares.x : 0, right = lesson_width(view_) / display.x;
  return {left, shares.y < 0.5f ? shares.y : 0, left + right < 0.75f ? right : 0};
}

/// Tries every output, however the run ended, and reports the first failure at the end.
void Viewer::finish() {
  FirstFailure failure;
  log_last_frame(Clock::now());
  if (!options_.screenshot_file.empty() && !handed_over_) {
    failure.attempt([&] {
      settle();
      save_picture(options_.screenshot_file, [this] { return picture_of_window(); });
    });
  }
  failure.attempt([&] {
    rescue_.outside([] { glFinish(); });
    take_timings();
  });
  failure.attempt([this] {
    while (!filmed_.empty()) take_pixels();
  });
  failure.attempt([&] { carry_out(StopFilm{}); });
  write_outputs(failure);
  failure.rethrow();
}

void Viewer::write_outputs(FirstFailure& failure) {
  failure.attempt([&] { carry_out(StopSweep{}); });
  failure.attempt([&] { carry_out(StopRace{}); });
  if (lane_.log().recording()) failure.attempt([&] { carry_out(StopRecording{}); });
  failure.attempt([this] { finish_film(); });
  if (!options_.save_file.empty() && !handed_over_)
    failure.attempt([&] { save_snapshot(options_.save_file, options_.save_order); });
}

std::string Viewer::rescue_outputs() {
  FirstFailure failure;
  write_outputs(failure);
  try {
    failure.rethrow();
  } catch (const std::exception& error) {
    return failure_text(error);
  }
  if (!options_.screenshot_file.empty()) return fmt::format("'{}' was not written", options_.screenshot_file);
  return failed_ ? "not all outputs are whole" : "";
}

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
namespace {

// Viewer: how it takes input.

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
