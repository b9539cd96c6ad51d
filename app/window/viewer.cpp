// The frame loop: input, steps, the picture, and the end of a run.
#include "app/window/viewer.h"

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
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/compare_commands.h"
#include "app/ui_state/film_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/profile_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/ui_state/workshop_commands.h"
#include "app/window/camera_control.h"
#include "app/window/colouring.h"
#include "app/window/keys.h"
#include "app/window/next_kernel.h"
#include "app/window/window.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "render/colour_map.h"

namespace orrery {
namespace {

constexpr double title_period_s = 0.5;
constexpr std::chrono::seconds without_picture{2}, for_window_picture{10}, for_picture{120};  // see Rescue::arm

template <class Duration>
double in_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

Viewer::Viewer(KernelCatalog& kernels, const ViewOptions& options)
    : handover_{options.handover.empty() ? std::nullopt : std::optional{read_handover(options.handover)}},
      memory_{handover_ ? handover_->window : recalled(options, Session::runs_in_lockstep(options))},
      session_{kernels, options, memory_.place},
      history_{session_.lockstep},
      compare_{session_},
      features_{make_features(session_)},
      profile_{session_},
      workshop_{session_, kernels},
      gui_{*session_.surface},
      camera_{session_, compare_},
      films_{session_, [this] { return description(); }},
      facts_{session_.backends},
      autosave_{session_.lockstep || options.fresh ? std::filesystem::path{} : usual_state_folder(), options.autosave_s,
                [](const std::string& what) { console::complain("the window " + what); }},
      pace_chosen_{std::ranges::any_of(
          options.setup, [](const Command& command) { return std::holds_alternative<SetStepsPerFrame>(command); })} {
  session_.carry_out = [this](const Request& request) { carry_out(request); };
  handlers_.add(*this, window_commands);
  handlers_.add(*this, overlays_commands);
  handlers_.add(camera_, camera_commands);
  handlers_.add(compare_, compare_commands);
  handlers_.add(films_, film_commands);
  handlers_.add(profile_, profile_commands);
  handlers_.add(workshop_, workshop_commands);
  for (const auto& feature : features_) feature->add_to(handlers_);
  handlers_.require_all();
  session_.rescue.watch_display();
  set_up(session_.lane.simulation(), session_.backends, options.setup, options.settings);
  history_.begin(session_.lane.simulation());
  if (handover_) {
    resume_handed_over();
  } else if (!options.resume_file.empty()) {
    resume(find_checkpoint(options.resume_file));
  }
  session_.view.panel = options.panel;
  session_.view.legend_shown = options.legend;
  session_.view.in_window = !options.offscreen;
  session_.view.gl_renderer = session_.surface->gl().renderer;
  session_.view.gl_on_processor = render::draws_in_software();
  session_.view.backends = session_.backends.statuses();
  session_.view.kernels = session_.backends.kernels().all();
  session_.view.processor = session_.backends.status(Backend::cpu).device;
  session_.view.gpu = session_.backends.status(Backend::cuda).device;
  for (const render::ColourMap& map : render::colour_maps()) session_.view.colour_maps.emplace_back(map.title);
  session_.view.keys = key_help();
  WorkshopControl::describe_sources(session_.backends, session_.view.workshop);
  follow_scene();
  restore(memory_);
  if (options.theme) carry_out(SetTheme{*options.theme});
  if (!options.record_file.empty()) carry_out(StartRecording{options.record_file});
  session_.view.diagnostics.probe =
      !session_.film || options.panel || !options.record_file.empty();  // else nobody sees it
  if (options.path) camera_.paths().play(*options.path, session_.clock_s());
  if (!options.kernel_file.empty()) workshop_.open_given();
  films_.begin();
  if (handover_) take_over();
}

Viewer::~Viewer() {
  session_.rescue.disarm(exit_status_);
}

int Viewer::run(NextProgram* next_program) {
  next_program_ = next_program;
  watch_stop_signals();
  session_.rescue.arm([this] { return rescue_outputs(); }, patience());
  session_.rescue.watch([this] { leave_hanging_kernel(); });
  try {
    while (!finished()) frame();
    finish();
    remember();
    if (session_.lockstep) print_summary();
  } catch (...) {
    FirstFailure ignored;                        // the first failure is reported
    (void)session_.lane.log().stop_recording();  // keeps the rows until here
    ignored.attempt([this] { films_.finish(); });
    throw;
  }
  exit_status_ = session_.failed ? 1 : stop_requested() ? stop_status() : workshop_.given_status();
  return exit_status_;
}

/// How long calls may delay the end after a stop request. A last picture in memory takes longest.
Rescue::Clock::duration Viewer::patience() const {
  if (session_.options.screenshot_file.empty() && !session_.film) return without_picture;
  return session_.options.offscreen ? for_picture : for_window_picture;
}

bool Viewer::finished() const {
  return quit_ || stop_requested() || session_.surface->close_requested() ||
         (session_.options.frames && session_.frame >= *session_.options.frames) || film_is_complete();
}

void Viewer::frame() {
  const Clock::time_point begin = Clock::now();
  const double since_last_s = std::chrono::duration<double>(begin - std::exchange(session_.frame_begin, begin)).count();
  log_last_frame(begin);
  take_input();
  run_script();

  int steps = 0;
  if (session_.lockstep) {
    steps = steps_ahead_ ? *std::exchange(steps_ahead_, {}) : advance(session_.frame);
    if (!wait_for_steps(session_.lane) || !catch_up()) return;
  }
  take_timings();
  history_.follow(session_.lane.simulation());
  follow_comparison();
  if (!session_.lockstep) {
    follow_autosave();
    workshop_.answer();
    steps = advance(session_.frame);
  }
  follow_recording();
  for (const auto& feature : features_) feature->follow();
  if (!session_.view.jerk_kernel) session_.view.jerk_kernel = session_.backends.default_kernel(/*jerks=*/true);
  profile_.follow();
  workshop_.follow();
  follow_device();
  follow_simulation();
  const auto follow_colours = [this](Lane& lane) {
    lane.follow_colours(session_.view.appearance, camera_.camera(), session_.clock_s());
  };
  follow_colours(session_.lane);
  if (compare_.active()) follow_colours(compare_.second().lane());

  shown_ = session_.lane.status();
  camera_.follow_path();
  FrameTimes times;
  if (wants_picture()) {
    show(since_last_s, times);
  } else {
    session_.lane.take_moved();  // as if it had been drawn
  }
  if (session_.film) session_.film->show_progress(session_.frame, session_.film->wants(session_.frame));
  presented_ = Presented{begin, steps, times};
  title_age_s_ += since_last_s;
  if (title_age_s_ > title_period_s) {
    title_age_s_ = 0;
    const std::string step = session_.view.measured > 0 ? format_ms(session_.view.step_ms_median) : unknown;
    const Status& status = session_.lane.status();
    const std::string title =
        fmt::format("Orrery: {}, {}, {} per step", counted_bodies(status.count), status.kernel_id, step);
    session_.rescue.outside([&] { session_.surface->set_title(title); });
    seen_place_ = present_place();
  }
  ++session_.frame;
}

void Viewer::show(double since_last_s, FrameTimes& times) {
  since_layout_s_ += session_.lockstep ? session_.frame_s : since_last_s;
  const bool due = session_.rescue.outside([this] {  // the display is asked for the window's size
    const auto height = [this] { return static_cast<float>(session_.surface->canvas().height) / gui_.display_scale(); };
    gui_.magnify(session_.view.presentation ? presentation_scale(height()) : 1);
    return gui_.needs_layout();
  });
  const bool anew = due || !session_.view.labels.empty() || !pictures_wanted_.empty() || session_.film;
  if (anew) {
    session_.rescue.outside([this] { gui_.begin_frame(std::exchange(since_layout_s_, 0)); });
    carry_out_requests(camera_.control().requests(gui_.io(), held_keys(), camera_.picker().number()));
  }
  session_.drawn_canvas = session_.canvas();
  session_.rescue.outside([this] { draw_bodies(*session_.drawn_canvas, covered_by_panels()); });
  if (next_steps_are_known()) steps_ahead_ = advance(session_.frame + 1);
  const Clock::time_point begin = Clock::now();
  anew ? lay_out_panels() : session_.rescue.outside([this] { gui_.draw_again(); });
  times.gui_ms = in_ms(Clock::now() - begin);
  if (!pictures_wanted_.empty() || (session_.film && !std::exchange(film_settled_, true))) settle();
  const bool lost = session_.rescue.outside([] { return render::context_was_reset(); });
  if (lost) session_.rescue.end_program("the driver has reset OpenGL: nothing more can be drawn", 1);
  save_pictures();
  films_.add_frame();
  films_.follow();
  const Clock::time_point presenting = Clock::now();
  session_.rescue.outside([this] { session_.surface->present(); });
  times.swap_ms = in_ms(Clock::now() - presenting);
}

/// A frame lasts until the next one starts.
void Viewer::log_last_frame(Clock::time_point end) {
  if (!presented_) return;
  presented_->times.frame_ms = in_ms(end - presented_->begin);
  const std::string error =
      session_.lane.log().ended(session_.frame - 1, presented_->steps, shown_, session_.view, presented_->times, end);
  presented_.reset();
  if (error.empty()) return;
  session_.failed = true;
  session_.complain(error);
}

void Viewer::run_script() {
  for (; script_at_ < session_.options.script.size() && session_.options.script[script_at_].frame <= session_.frame;
       ++script_at_) {
    const ScriptLine& line = session_.options.script[script_at_];
    const std::size_t before = pictures_wanted_.size();
    try {
      carry_out(line.request);
      for (std::size_t i = before; i < pictures_wanted_.size(); ++i) pictures_wanted_[i].script_line = line.line;
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", session_.options.script_file, line.line, error.what()));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", session_.options.script_file, line.line, failure_text(error)));
    }
  }
}

/// Fills in the values that panels and keys read until the next frame.
void Viewer::follow_simulation() {
  const Status& status = session_.lane.status();
  session_.view.kernels = session_.backends.kernels().all();
  if (status.last_error != session_.said_error) {
    session_.said_error = status.last_error;
    if (!session_.said_error.empty() && session_.lockstep)
      throw std::runtime_error(session_.said_error);  // which prints it
    if (!session_.said_error.empty()) console::complain(session_.said_error);
  }
  const double wall_s = std::chrono::duration<double>(session_.frame_begin.time_since_epoch()).count();
  session_.lane.describe(session_.view, wall_s);
  if (compare_.active()) compare_.second().describe(session_.view, session_.lane, wall_s);
  facts_.describe(session_.view, status);
  session_.view.vsync = session_.surface->vsync();
  session_.view.fullscreen = session_.surface->fullscreen();
}

void Viewer::draw_bodies(const render::Canvas& canvas, glm::vec3 covered) {
  compare_.set_stage(canvas, covered);
  camera_.camera().fit_into(compare_.stage()[0].share, compare_.stage()[0].middle);
  camera_.follow_bodies();
  session_.view.legend = legend_of(session_.view.appearance, session_.lane.ranges(), camera_.camera());
  session_.lane.describe(session_.view.legend, session_.view.appearance);
  const render::OrbitCamera shown = camera_.shown();
  session_.lane.prepare_overlays(shown, compare_.stage()[0].canvas, session_.view);
  if (compare_.active()) return compare_.draw(shown);
  session_.lane.draw(session_.frame, shown, session_.view.appearance, canvas);
}

void Viewer::lay_out_panels() {
  draw_panels(shown_, session_.view, session_.panels, requests_);
  session_.rescue.outside([this] { gui_.end_frame(); });
}

void Viewer::redraw() {
  session_.rescue.outside([this] {
    gui_.begin_frame(session_.frame_s);
    draw_bodies(session_.surface->canvas(), covered_by_panels());
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
  const glm::vec2 shares{side_column_width(session_.view) / display.x, session_.panels.lab.covered / display.y};
  const float left = shares.x < 0.5f ? shares.x : 0, right = lesson_width(session_.view) / display.x;
  return {left, shares.y < 0.5f ? shares.y : 0, left + right < 0.75f ? right : 0};
}

/// Tries every output, however the run ended, and reports the first failure at the end.
void Viewer::finish() {
  FirstFailure failure;
  log_last_frame(Clock::now());
  if (!session_.options.screenshot_file.empty() && !handed_over_) {
    failure.attempt([&] {
      settle();
      save_picture(session_.options.screenshot_file, [this] { return picture_of_window(); });
    });
  }
  failure.attempt([&] {
    session_.rescue.outside([] { glFinish(); });
    take_timings();
  });
  failure.attempt([this] { films_.take_rest(); });
  failure.attempt([&] { films_.carry_out(StopFilm{}); });
  write_outputs(failure);
  failure.rethrow();
}

void Viewer::write_outputs(FirstFailure& failure) {
  for (const auto& feature : features_) failure.attempt([&] { feature->finish(); });
  if (session_.lane.log().recording()) failure.attempt([&] { carry_out(StopRecording{}); });
  failure.attempt([this] { films_.finish(); });
  if (!session_.options.save_file.empty() && !handed_over_)
    failure.attempt([&] { save_snapshot(session_.options.save_file, session_.options.save_order); });
}

std::string Viewer::rescue_outputs() {
  FirstFailure failure;
  write_outputs(failure);
  try {
    failure.rethrow();
  } catch (const std::exception& error) {
    return failure_text(error);
  }
  if (!session_.options.screenshot_file.empty())
    return fmt::format("'{}' was not written", session_.options.screenshot_file);
  return session_.failed ? "not all outputs are whole" : "";
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
    if (stop_requested() || session_.surface->close_requested()) return false;
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
  if (!session_.lockstep && workshop_.asks_for_bodies()) return 0;
  if (session_.view.measuring() || !session_.lane.ready() || !compare_.allows_steps(frame)) return 0;
  const double now_s = session_.clock_s(frame);
  try {
    session_.lane.examine(now_s, session_.view);
  } catch (const std::exception& error) {
    if (session_.lockstep) throw;
    session_.complain(failure_text(error));
  }
  try {
    return session_.lane.advance(frame);
  } catch (const std::exception& error) {
    if (session_.lockstep) throw;
    session_.lane.simulation().apply(SetPaused{true});  // or the next frame would fail in the same way
    session_.complain(failure_text(error));
    return 0;
  }
}

void Viewer::take_timings() {
  (void)session_.lane.collect();
  leave_hanging_kernel();
  if (!session_.lane.take_timings()) return;
  camera_.take_scene();
  if (handover_ && !std::exchange(took_over_camera_, true)) take_over_camera();
}

/// Whether nothing can change the steps of the next frame, and nothing of this frame is drawn from its bodies any more:
/// then the GPU may compute the next steps while the panels are drawn. A run with a window never waits for its steps.
bool Viewer::next_steps_are_known() const {
  if (!session_.options.offscreen || session_.view.interop != Interop::mapped || compare_.active()) return false;
  const bool asked = !requests_.empty() || !pictures_wanted_.empty() || films_.live();
  const bool scripted =
      script_at_ < session_.options.script.size() && session_.options.script[script_at_].frame <= session_.frame + 1;
  const bool last = stop_requested() || quit_ ||
                    (session_.options.frames && session_.frame + 1 >= *session_.options.frames) ||
                    (session_.film && session_.film->complete_from(session_.frame + 1));
  return !asked && !scripted && !last;
}
namespace {

// Viewer: how it takes input.

constexpr std::chrono::milliseconds longest_input{100};  // of a frame; the rest waits for the next one

}  // namespace

void Viewer::poll_window() {
  session_.rescue.outside([this] { session_.surface->poll(); });
}

/// A widget may take up to `frames_to_settle` layouts to appear or to get the focus after a click or a key. Events that
/// came later wait for it.
void Viewer::take_input() {
  const Clock::time_point begin = Clock::now();
  poll_window();
  load_dropped();
  if (!session_.lockstep && session_.surface->close_requested()) {
    session_.surface->stay_open();
    requests_.emplace_back(ViewCommand{AskToQuit{}});
  }
  carry_out_requests(std::exchange(requests_, {}));
  while (gui_.has_events() && Clock::now() - begin < longest_input) {
    lay_out_unseen(session_.rescue.outside([this] { return gui_.begin_frame_with_events(session_.frame_s); }));
    for (int frame = 1; gui_.has_events() && frame < Gui::frames_to_settle; ++frame) {
      session_.rescue.outside([this] { gui_.begin_frame(session_.frame_s); });
      lay_out_unseen({});
    }
  }
}

/// Each request is carried out before the next press is looked up: C pressed twice is two colour maps further.
void Viewer::lay_out_unseen(const std::vector<KeyPress>& presses) {
  carry_out_requests(camera_.control().requests(gui_.io(), held_keys(), camera_.picker().number()));
  for (const KeyPress& press : presses) {
    if (const auto request = request_for(press, session_.lane.status(), session_.view)) carry_out_requests({*request});
  }
  draw_panels(session_.lane.status(), session_.view, session_.panels, requests_);
  session_.rescue.outside([this] { gui_.end_unseen_frame(); });
  carry_out_requests(std::exchange(requests_, {}));
}

void Viewer::load_dropped() {
  const std::vector<std::string> files = session_.surface->take_dropped();
  if (!files.empty()) requests_.emplace_back(Command{LoadScene{{.scene = {}, .file = files.front()}}});
}

bool Viewer::catch_up() {
  if (!compare_.active()) return true;
  compare_.second().advance(session_.lane, session_.frame, session_.clock_s(), session_.view);
  return wait_for_steps(compare_.second().lane());
}

void Viewer::follow_comparison() {
  if (!compare_.active()) return;
  compare_.second().take(session_.lane);
  leave_hanging_kernel();  // to end B would wait for it
  if (const std::string why = compare_.second().problem(); !why.empty()) compare_.end(why);
}

/// A frame that the film has already is not drawn, unless later frames depend on it.
bool Viewer::wants_picture() const {
  const bool remembered =
      session_.view.appearance.auto_exposure || session_.view.overlays.trails.of != TrailsOf::nobody;
  return !session_.film || session_.film->wants(session_.frame) || !pictures_wanted_.empty() || remembered;
}

/// Nothing that is left to do changes an output.
bool Viewer::film_is_complete() const {
  return session_.film && session_.film->complete_from(session_.frame) &&
         script_at_ == session_.options.script.size() && session_.options.save_file.empty() &&
         !session_.lane.log().recording();
}

}  // namespace orrery
