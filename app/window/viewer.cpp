// The frame loop (input, steps, picture, end of the run), and the functions that carry out requests.
#include "app/window/viewer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glad/gl.h>
#include <imgui.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/commands/command_text.h"
#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/panels/kit/format.h"
#include "app/panels/panels.h"
#include "app/panels/shown_words.h"
#include "app/recording/output_file.h"
#include "app/recording/run_checkpoint.h"
#include "app/text/console.h"
#include "app/text/input_file.h"
#include "app/text/printable.h"
#include "app/text/table.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/camera_control.h"
#include "app/window/colouring.h"
#include "app/window/keys.h"
#include "app/window/step_statistics.h"
#include "app/window/window.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"
#include "compute/snapshots/snapshot_format.h"
#include "render/colour_map.h"
#include "render/image.h"

namespace orrery {
namespace {

constexpr double title_period_s = 0.5;
constexpr std::chrono::seconds without_picture{2}, for_window_picture{10}, for_picture{120};  // for Rescue::arm()

template <class Duration>
double in_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

Viewer::Viewer(KernelCatalog& kernels, const ViewOptions& options)
    : handover_{options.handover.empty() ? std::nullopt : std::optional{read_handover(options.handover)}},
      memory_{handover_ ? handover_->window : recalled(options, Session::runs_in_lockstep(options))},
      session_{kernels, options, memory_.place},
      features_{make_features(session_)},
      gui_{*session_.surface},
      camera_{session_},
      autosave_{session_.lockstep || options.fresh ? std::filesystem::path{} : usual_state_folder(), options.autosave_s,
                [](const std::string& what) { console::complain("the window " + what); }},
      pace_chosen_{std::ranges::any_of(
          options.setup, [](const Command& command) { return std::holds_alternative<SetStepsPerFrame>(command); })} {
  session_.leave_hanging_kernel = [this] { leave_hanging_kernel(); };
  session_.carry_out = [this](const Request& request) { carry_out(request); };
  session_.once_drawn = [this](std::function<void()> save) { pictures_wanted_.push_back({std::move(save)}); };
  session_.picture = [this] { return picture_without_panels(); };
  session_.description = [this] { return description(); };
  session_.camera = [this] { return view_of(camera_.camera()); };
  handlers_.add(*this, window_commands);
  handlers_.add(*this, overlays_commands);
  handlers_.add(camera_, camera_commands);
  for (const auto& feature : features_) feature->add_to(handlers_);
  handlers_.require_all();
  session_.rescue.watch_display();
  set_up(session_.lane.simulation(), session_.backends, options.setup, options.settings);
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
  follow_scene();
  restore(memory_);
  if (options.theme) carry_out(SetTheme{*options.theme});
  if (!options.record_file.empty()) carry_out(StartRecording{options.record_file});
  session_.view.diagnostics.probe =
      !options.film || options.panel || !options.record_file.empty();  // otherwise nobody sees the result
  if (options.path) camera_.paths().play(*options.path, session_.clock_s());
  for (const auto& feature : features_) feature->begin();
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
    FirstFailure ignored;                        // only the first failure is reported
    (void)session_.lane.log().stop_recording();  // keeps the rows so far
    for (const auto& feature : features_) ignored.attempt([&] { feature->finish(); });
    throw;
  }
  exit_status_ = session_.failed ? 1 : stop_requested() ? stop_status() : 0;
  for (const auto& feature : features_) {
    if (exit_status_ == 0) exit_status_ = feature->exit_status();
  }
  return exit_status_;
}

/// Returns how long calls may delay the end after a stop request. Saving a last offscreen picture takes longest.
Rescue::Clock::duration Viewer::patience() const {
  if (session_.options.screenshot_file.empty() && !session_.options.film) return without_picture;
  return session_.options.offscreen ? for_picture : for_window_picture;
}

bool Viewer::finished() const {
  return quit_ || stop_requested() || session_.surface->close_requested() ||
         (session_.options.frames && session_.frame >= *session_.options.frames) || is_complete();
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
  for (const auto& feature : features_) feature->before_steps();
  if (!session_.lockstep) {
    follow_autosave();
    steps = advance(session_.frame);
  }
  follow_recording();
  for (const auto& feature : features_) feature->follow();
  if (!session_.view.jerk_kernel) session_.view.jerk_kernel = session_.backends.default_kernel(/*jerks=*/true);
  follow_device();
  follow_simulation();
  const auto follow_colours = [this](Lane& lane) {
    lane.follow_colours(session_.view.appearance, camera_.camera(), session_.clock_s());
  };
  follow_colours(session_.lane);
  if (session_.second) follow_colours(*session_.second);

  shown_ = session_.lane.status();
  camera_.follow_path();
  FrameTimes times;
  if (wants_picture()) {
    show(since_last_s, times);
  } else {
    session_.lane.take_moved();  // resets the flag as drawing would
    for (const auto& feature : features_) feature->end_frame(/*drawn=*/false);
  }
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
  const bool due = session_.rescue.outside([this] {  // asks the display for the window's size
    const auto height = [this] { return static_cast<float>(session_.surface->canvas().height) / gui_.display_scale(); };
    gui_.magnify(session_.view.presentation ? presentation_scale(height()) : 1);
    return gui_.needs_layout();
  });
  const bool anew = due || !session_.view.labels.empty() || !pictures_wanted_.empty() || session_.options.film;
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
  if (!pictures_wanted_.empty() || (session_.options.film && !std::exchange(film_settled_, true))) settle();
  const bool lost = session_.rescue.outside([] { return render::context_was_reset(); });
  if (lost) session_.rescue.end_program("the driver has reset OpenGL: nothing more can be drawn", 1);
  save_pictures();
  for (const auto& feature : features_) feature->end_frame(/*drawn=*/true);
  const Clock::time_point presenting = Clock::now();
  session_.rescue.outside([this] { session_.surface->present(); });
  times.swap_ms = in_ms(Clock::now() - presenting);
}

/// Logs the last frame, which lasts until `end`, the start of the next one.
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
      throw std::runtime_error(session_.said_error);  // the caller prints it
    if (!session_.said_error.empty()) console::complain(session_.said_error);
  }
  const double wall_s = std::chrono::duration<double>(session_.frame_begin.time_since_epoch()).count();
  session_.lane.describe(session_.view, wall_s);
  for (const auto& feature : features_) feature->describe(wall_s);
  session_.view.vsync = session_.surface->vsync();
  session_.view.fullscreen = session_.surface->fullscreen();
}

void Viewer::draw_bodies(const render::Canvas& canvas, glm::vec3 covered) {
  session_.stage = {whole_stage(canvas, covered), whole_stage(canvas, covered)};
  for (const auto& feature : features_) feature->divide_stage(canvas, covered);
  camera_.camera().fit_into(session_.stage[0].share, session_.stage[0].middle);
  camera_.follow_bodies();
  session_.view.legend = legend_of(session_.view.appearance, session_.lane.ranges(), camera_.camera());
  session_.lane.describe(session_.view.legend, session_.view.appearance);
  const render::OrbitCamera shown = camera_.shown();
  session_.lane.prepare_overlays(shown, session_.stage[0].canvas, session_.view);
  if (std::ranges::any_of(features_, [&](const auto& feature) { return feature->draw(shown); })) return;
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

/// Returns the shares of the window that panels cover: of its width at the left, of its height at the bottom, and of
/// its width at the right. A share is 0 if the panels would leave too little of the picture.
glm::vec3 Viewer::covered_by_panels() const {
  const ImVec2 display = gui_.io().DisplaySize;
  const glm::vec2 shares{side_column_width(session_.view) / display.x, session_.panels.lab.covered / display.y};
  const float left = shares.x < 0.5f ? shares.x : 0, right = lesson_width(session_.view) / display.x;
  return {left, shares.y < 0.5f ? shares.y : 0, left + right < 0.75f ? right : 0};
}

/// Writes all outputs, however the run ended, and then throws the first failure.
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
  for (const auto& feature : features_) failure.attempt([&] { feature->finish_drawing(); });
  write_outputs(failure);
  failure.rethrow();
}

void Viewer::write_outputs(FirstFailure& failure) {
  if (session_.lane.log().recording()) failure.attempt([&] { carry_out(StopRecording{}); });
  for (const auto& feature : features_) failure.attempt([&] { feature->finish(); });
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

constexpr std::chrono::microseconds longest_slice{5000};  // longest sleep between two checks for window events
constexpr std::chrono::microseconds longest_spin{50};     // time of spinning before the thread sleeps

/// Reduces the delay of this thread's sleeps from up to 50 us, Linux's default, to 1 us.
void sleep_as_asked() {
  prctl(PR_SET_TIMERSLACK, 1000UL);
}

}  // namespace

/// Waits for the lane's steps and processes window events. Returns false if the run ends instead.
bool Viewer::wait_for_steps(Lane& lane) {
  const Clock::time_point begin = Clock::now();
  sleep_as_asked();
  while (!lane.collect()) {
    poll_window();
    if (stop_requested() || session_.surface->close_requested()) return false;
    // Sleeps in proportion to the time waited so far, so that the wait for a short step ends soon after it.
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
    if (waited < longest_spin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::clamp(waited / 64, std::chrono::microseconds{1}, longest_slice));
    }
  }
  return true;
}

/// Starts the steps of frame `frame` and returns their number. Starts none during a sweep or a lesson's measurement,
/// which needs the machine for itself.
int Viewer::advance(std::int64_t frame) {
  if (std::ranges::any_of(features_, [](const auto& feature) { return feature->forbids_steps(); })) return 0;
  if (session_.view.measuring() || !session_.lane.ready()) return 0;
  if (!std::ranges::all_of(features_, [&](const auto& feature) { return feature->allows_steps(frame); })) return 0;
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
    session_.lane.simulation().apply(SetPaused{true});  // otherwise the next frame would fail in the same way
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

/// Returns whether nothing can change the next frame's steps, and nothing more of this frame is drawn from its bodies.
/// The GPU may then compute the next steps while panels are drawn. A run with a window never waits for steps.
bool Viewer::next_steps_are_known() const {
  if (!session_.options.offscreen || session_.view.interop != Interop::mapped || session_.second) return false;
  const bool asked = !requests_.empty() || !pictures_wanted_.empty() ||
                     std::ranges::any_of(features_, [](const auto& feature) { return feature->holds_steps(); });
  const bool scripted =
      script_at_ < session_.options.script.size() && session_.options.script[script_at_].frame <= session_.frame + 1;
  const bool last = stop_requested() || quit_ ||
                    (session_.options.frames && session_.frame + 1 >= *session_.options.frames) ||
                    is_complete_from(session_.frame + 1);
  return !asked && !scripted && !last;
}
namespace {

// Viewer: input.

constexpr std::chrono::milliseconds longest_input{100};  // per frame; later input waits for the next frame

}  // namespace

void Viewer::poll_window() {
  session_.rescue.outside([this] { session_.surface->poll(); });
}

/// After a click or key, a widget may need up to `frames_to_settle` layouts to appear or get the focus. Later events
/// wait until then.
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

/// Lays out the panels without drawing. Carries out each request before it looks up the next press: C pressed twice
/// advances two colour maps.
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
  return std::ranges::all_of(features_, [this](const auto& feature) {
    Lane* const other = feature->catch_up();
    return !other || wait_for_steps(*other);
  });
}

/// Returns whether this frame is drawn: somebody will see its picture, or later frames depend on it.
bool Viewer::wants_picture() const {
  const bool remembered =
      session_.view.appearance.auto_exposure || session_.view.overlays.trails.of != TrailsOf::nobody;
  const auto does_without = [this](const auto& feature) { return feature->does_without(session_.frame); };
  return std::ranges::none_of(features_, does_without) || !pictures_wanted_.empty() || remembered;
}

bool Viewer::is_complete_from(std::int64_t frame) const {
  return std::ranges::any_of(features_, [frame](const auto& feature) { return feature->is_complete_from(frame); });
}

/// Returns whether the remaining frames cannot change any output.
bool Viewer::is_complete() const {
  return is_complete_from(session_.frame) && script_at_ == session_.options.script.size() &&
         session_.options.save_file.empty() && !session_.lane.log().recording();
}

std::string picture_words(const Status& status, const ViewStatus& view) {
  std::string words = fmt::format("The scene {} with {}, ", status.scene_name, counted_bodies(status.count));
  words += status.step == 0 ? "in its first state."
                            : fmt::format("after {}, at time {:.4g}.", counted(status.step, "step"), status.sim_time);
  const Legend& legend = view.legend;
  if (!legend.parts.empty()) {
    std::vector<std::string> names;
    for (const LegendPart& part : legend.parts) names.push_back(part.name);
    return words + fmt::format(" The colours show the {}: {}.", legend.quantity, fmt::join(names, ", "));
  }
  if (legend.quantity.empty()) return words;
  if (legend.colours.empty()) return words + fmt::format(" No {} is shown: {}.", legend.quantity, legend.note);
  const ShownRange range = shown_range(status.units, legend);
  return words +
         fmt::format(" The colours show the {} ({}), from {} to {}; bodies beyond have the colours of these ends.",
                     legend.quantity, range.unit, significant(range.low, 3), significant(range.high, 3));
}

// Viewer: pictures of the window and of the bodies.

ReportPicture Viewer::picture() {
  while (!finished()) frame();
  if (stop_requested()) return {.words = "There is no picture: the program was interrupted."};
  return picture_without_panels();
}

/// Draws the current view with the legend and without the panels. Then draws the frame again as it was.
ReportPicture Viewer::picture_without_panels() {
  const render::Canvas canvas = session_.canvas();
  if (canvas.width < 1 || canvas.height < 1) return {.words = "There is no picture: the window has no area."};
  struct WithoutPanels {
    Viewer& viewer;
    const ViewStatus view{viewer.session_.view};
    const PanelState panels{viewer.session_.panels};
    const Requests requests{viewer.requests_};
    explicit WithoutPanels(Viewer& shown) : viewer{shown} {
      viewer.session_.view.panel = viewer.session_.view.help = false;
      viewer.session_.view.legend_shown = true;
      viewer.session_.view.notice.clear();
      viewer.session_.view.quit_question.clear();
    }
    WithoutPanels(const WithoutPanels&) = delete;
    WithoutPanels& operator=(const WithoutPanels&) = delete;
    ~WithoutPanels() {
      viewer.session_.view = view;
      viewer.session_.panels = panels;
      viewer.requests_ = requests;
    }
  };
  ReportPicture picture;
  {
    const WithoutPanels without_panels{*this};
    settle();
    const render::Image image = session_.rescue.outside([this] { return picture_of_window(); });
    picture = {.png = render::encode_png(image, description().dump(-1, ' ', true)),
               .words = picture_words(session_.lane.status(), session_.view)};
  }
  redraw();
  return picture;
}

/// Saves the requested pictures. Call after a frame has been drawn and before it is presented, so that the picture is
/// what the user sees.
void Viewer::save_pictures() {
  for (const WantedPicture& wanted : std::exchange(pictures_wanted_, {})) {
    try {
      wanted.save();
    } catch (const std::exception& error) {
      if (!session_.lockstep) {
        session_.complain(failure_text(error));
      } else if (wanted.script_line > 0) {
        throw std::runtime_error(
            fmt::format("{}:{}: {}", session_.options.script_file, wanted.script_line, failure_text(error)));
      } else {
        throw;
      }
    }
  }
}

void Viewer::save_picture(const std::string& asked, const std::function<render::Image()>& take) {
  const Session::Output to = session_.output(asked, "picture.png");
  const render::Image picture = session_.rescue.outside(take);
  session_.say_written(
      write_file(to.file, render::encode_png(picture, description().dump(-1, ' ', true)), to.existing));
}

render::Image Viewer::picture_of_window(int times) {
  const render::Canvas canvas = session_.surface->canvas();
  if (canvas.width < 1 || canvas.height < 1)
    throw std::runtime_error("no picture can be saved: the window has no area");
  if (times == 1) return render::read_framebuffer(canvas.framebuffer, canvas.width, canvas.height);
  return drawn_picture(times * canvas.width, times * canvas.height, [&](const render::Canvas& enlarged) {
    draw_bodies(enlarged, covered_by_panels());
    PanelState panels = session_.panels;  // a copy: input belongs to the window's panels
    Requests none;
    gui_.draw_enlarged(static_cast<float>(times), enlarged, [&] { draw_panels(shown_, session_.view, panels, none); });
  });
}

render::Image Viewer::picture_of_bodies(int width, int height) {
  return drawn_picture(width, height, [this](const render::Canvas& canvas) { draw_bodies(canvas, {}); });
}

render::Image Viewer::drawn_picture(int width, int height, const std::function<void(const render::Canvas&)>& draw) {
  if (const int most = session_.surface->gl().max_side; width > most || height > most) {
    throw std::runtime_error(
        fmt::format("a picture of {}x{} cannot be drawn: here, {} pixels is the most for a side", width, height, most));
  }
  const render::RenderTarget target{GL_RGBA8, width, height};
  const auto stage = session_.stage;
  draw({target.framebuffer(), width, height, target.texture()});
  session_.stage = stage;  // restored, because clicks refer to the window
  return render::read_framebuffer(target.framebuffer(), width, height);
}

namespace {

constexpr const char* no_measurement = "not measured";

std::string kernel_text(const Status& status) {
  if (status.auto_choice) return status.auto_choice->name;
  const std::string changes = status.settings.changes();
  return status.kernel_id + (changes.empty() ? "" : " ") + changes;
}

/// Returns the median step time. Leapfrog's first step has an extra evaluation and is in no median.
std::string step_text(const ViewStatus& view) {
  if (view.measured == 0) return no_measurement;
  return fmt::format("{}, the median of {} with steps", milliseconds(view.step_ms_median),
                     counted(view.measured, "frame"));
}

std::string rate_text(const Status& status, const ViewStatus& view) {
  const double interactions = step_work(status).interactions;
  if (view.measured == 0 || !(interactions > 0) || !(view.step_ms_median > 0)) return no_measurement;
  return with_prefix(interactions / (view.step_ms_median * 1e-3));
}

std::string error_text(const Status& status) {
  if (!status.force_probe) return no_measurement;
  const ForceProbe& probe = *status.force_probe;
  return fmt::format("median {}, maximum {} against double precision, of {} at step {}",
                     significant(probe.error.median, 2), significant(probe.error.max, 2), counted_bodies(probe.sample),
                     format_count(probe.step));
}

/// Returns the summary of a run without a window: the kernel and why it was chosen, bodies, steps, step time,
/// interactions per second and the latest force error. Marks what was not measured.
std::string run_summary(const Status& status, const ViewStatus& view, const TextStyle& style) {
  Table table{"lt", {"", ""}};
  table.add({"kernel", kernel_text(status)});
  table.add({"bodies",
             fmt::format("{} ({}, {})", format_count(status.count), status.scene_name, law_info(status.law.id).id)});
  table.add({"steps", format_count(status.step)});
  table.add({"step", step_text(view)});
  table.add({"interactions/s", rate_text(status, view)});
  table.add({"force error", error_text(status)});
  return table.text(style);
}

}  // namespace

void Viewer::print_summary() {
  session_.lane.log().describe(session_.view, session_.lane.status());
  console::show(run_summary(session_.lane.status(), session_.view, stdout_style({})));
  if (stop_requested() && session_.options.frames) {
    console::print("stopped before the end: {} of {}\n", format_count(session_.frame),
                   counted(*session_.options.frames, "frame"));
  }
}

namespace {

constexpr const char* recording_name = "timings.csv";  // used if the user gave no name

Json simulation_metadata(const Status& status) {
  Json metadata = Json::object();
  add_simulation(metadata, status);
  return metadata;
}

/// Returns a notice that a return can be undone; empty after other commands.
std::string return_notice(const Command& command, const Status& now) {
  if (std::holds_alternative<UndoReturn>(command)) {
    return fmt::format("back at step {} of {} with {}", now.step, now.scene_name, now.kernel_id);
  }
  if (!std::holds_alternative<ReturnToRun>(command)) return {};
  return fmt::format("returned to {} with {}; Ctrl+Z goes back", now.scene_name, now.kernel_id);
}

}  // namespace

void Viewer::carry_out_requests(const Requests& requests) {
  for (const Request& request : requests) {
    try {
      carry_out(request);
    } catch (const std::exception& error) {
      session_.complain(failure_text(error));
    }
  }
}

void Viewer::carry_out(const Request& request) {
  if (const auto* command = std::get_if<ViewCommand>(&request)) return handlers_.carry_out(*command);
  carry_out(std::get<Command>(request));
}

void Viewer::carry_out(const Command& command) {
  if (needs_machine(command, session_.lane.status())) session_.refuse_beside_measurement();
  session_.lane.apply(command, session_.view.wanted_diagnostics());
  for (const auto& feature : features_) feature->took(command);
  pace_chosen_ |= std::holds_alternative<SetStepsPerFrame>(command);
  session_.view.notice = return_notice(command, session_.lane.status());
  follow_scene();
}

namespace {

/// Returns the overlays, each as the command that shows it. Omits cells of a kernel without a tree.
Json overlays_json(const Overlays& overlays, const Legend& legend) {
  Json shown = Json::array();
  if (overlays.trails.of != TrailsOf::nobody) shown.push_back(command_json(ViewCommand{overlays.trails}));
  if (overlays.vectors.quantity != Vectors::none) shown.push_back(command_json(ViewCommand{overlays.vectors}));
  if (!legend.cells.name.empty()) shown.push_back(command_json(ViewCommand{overlays.cells}));
  if (!legend.walk.empty()) shown.push_back(command_json(ViewCommand{overlays.walk}));
  if (overlays.axes.on) shown.push_back(command_json(ViewCommand{overlays.axes}));
  return shown;
}

}  // namespace

/// Returns the description of a picture for its file. It has no date, so that the same picture gives the same file.
Json Viewer::description() {
  const Status& status = session_.lane.status();
  Json description = session_.surroundings();
  description.erase("date");
  description.update(simulation_metadata(status));
  description["step"] = status.step;
  description["time"] = session_.lane.drawn_time();
  description["kernel"] = status.kernel_id;
  description["settings"] = status.settings.to_string();
  description["look"] = word_of(session_.view.appearance.look);
  description["theme"] = word_of(session_.view.appearance.theme);
  description["exposure"] = {{"scale", decimal(session_.view.appearance.exposure)},
                             {"automatic", session_.view.appearance.auto_exposure}};
  description["size"] = decimal(session_.view.appearance.sprite_scale);
  description["overlays"] = overlays_json(session_.view.overlays, session_.view.legend);
  if (camera_.picker().number()) description["picked"] = *camera_.picker().number();
  if (camera_.follow().active()) description["following"] = command_json(ViewCommand{camera_.follow().what()});
  const Legend& legend = session_.view.legend;
  if (!legend.parts.empty()) {
    Json names = Json::array();
    for (const LegendPart& part : legend.parts) names.push_back(part.name);
    description["colours"] = {{"quantity", legend.quantity}, {"parts", names}};
  } else if (!legend.quantity.empty()) {
    description["colours"] = {
        {"quantity", legend.quantity},
        {"map",
         session_.view.colour_maps.at(static_cast<std::size_t>(render::shown_colour_map(session_.view.appearance)))},
        {"logarithmic", legend.logarithmic}};
    if (legend.colours.empty()) {
      description["colours"]["unknown"] = legend.note;
    } else {
      description["colours"].update({{"low", decimal(legend.low)}, {"high", decimal(legend.high)}});
    }
    if (legend.known) description["colours"]["known"] = decimal(*legend.known);
  }
  for (const auto& feature : features_) feature->describe_picture(description);
  description["camera"] = {
      {"target", {camera_.camera().target().x, camera_.camera().target().y, camera_.camera().target().z}},
      {"distance", decimal(camera_.camera().distance())},
      {"azimuth", decimal(camera_.camera().azimuth())},
      {"elevation", decimal(camera_.camera().elevation())}};
  return description;
}

void Viewer::carry_out(const StartRecording& c) {
  session_.refuse_beside_comparison("a recording describes one run");
  recording_asked_ = c.file;
  start_recording(session_.output(c.file, recording_name));
}

void Viewer::start_recording(const Session::Output& to) {
  Json metadata = session_.surroundings();
  recording_header_ = simulation_metadata(session_.lane.status());
  metadata.update(recording_header_);
  session_.view.notice = "recording to " + session_.lane.log().start_recording(to.file, metadata, to.existing);
}

/// Starts the next recording in a new file next to the earlier ones.
void Viewer::begin_next_recording() {
  start_recording({session_.output(recording_asked_, recording_name).file, Existing::keep});
}

/// Starts a new file when the simulation's metadata change, because a header applies to all rows of its file. Writes no
/// rows while a slider is dragged, since each of its values would need a new file.
void Viewer::follow_recording() {
  if (!session_.lane.log().recording()) return;
  const bool other = simulation_metadata(session_.lane.status()) != recording_header_;
  session_.lane.log().hold_rows(other);
  if (!other) return;
  if (gui_.io().MouseDown[0]) return;
  try {
    carry_out(StopRecording{});
    const RecordingStatus old = session_.view.recording;
    std::error_code ignored;  // on failure, the file stays without rows
    const std::filesystem::file_status kind = std::filesystem::symlink_status(old.file, ignored);
    if (old.rows == 0 && std::filesystem::is_regular_file(kind)) std::filesystem::remove(old.file, ignored);
    begin_next_recording();
    session_.view.notice += ": the simulation has changed, and a file describes one";
  } catch (const std::exception& error) {
    if (session_.lockstep) throw;
    session_.failed = true;
    session_.complain(failure_text(error));
  }
}

void Viewer::carry_out(const StopRecording&) {
  if (!session_.lane.log().recording()) return;
  const std::string error = session_.lane.log().stop_recording();
  session_.lane.log().describe(session_.view, session_.lane.status());
  if (error.empty()) {
    session_.say_written(session_.view.recording.file);
    if (!session_.lane.log().conserved_file().empty()) session_.say_written(session_.lane.log().conserved_file());
  } else {
    session_.failed = true;
    session_.complain(error);
  }
}

void Viewer::carry_out(const SaveScreenshot& c) {
  pictures_wanted_.push_back({[this, c] { save_picture(c.file, [this] { return picture_of_window(); }); }});
}

void Viewer::carry_out(const SaveEnlarged& c) {
  pictures_wanted_.push_back({[this, c] { save_picture(c.file, [this, c] { return picture_of_window(c.times); }); }});
}

void Viewer::carry_out(const SavePicture& c) {
  pictures_wanted_.push_back(
      {[this, c] { save_picture(c.file, [this, c] { return picture_of_bodies(c.width, c.height); }); }});
}

void Viewer::carry_out(const SaveSnapshot& c) {
  save_snapshot(c.file, {});
}

void Viewer::carry_out(const ExportResults& c) {
  const Session::Output to = session_.output(c.file, "results.csv");
  const std::vector<Result>& results = session_.lane.log().statistics().results();
  session_.say_written(write_results(to.file, session_.surroundings(), results, to.existing));
  session_.lane.log().statistics().results_written();
}

void Viewer::carry_out(const ClearResults&) {
  session_.lane.log().statistics().clear_results();
}

void Viewer::carry_out(const PinResult& c) {
  session_.lane.log().statistics().pin(c.row, c.pinned);
}

void Viewer::carry_out(const ReturnToResult& c) {
  carry_out(Command{ReturnToRun{run_of(session_.lane.log().statistics().result(c.row))}});
}

void Viewer::carry_out(const SetDiagnostics& c) {
  Diagnostics& now = session_.view.diagnostics;
  now = {c.probe.value_or(now.probe), c.sample.value_or(now.sample),
         c.conserved_interval_s.value_or(now.conserved_interval_s), now.every_body};
}

/// Selects the next kernel that is fast enough. A deterministic run uses only estimated times.
void Viewer::carry_out(const SelectNextKernel& c) {
  const std::vector<Result> measured = session_.lockstep ? std::vector<Result>{} : session_.view.results;
  const Status& now = session_.lane.status();
  const NextKernel next = next_kernel(now, session_.view, measured, c.direction);
  const std::string present = now.auto_choice ? auto_kernel : now.kernel_id;
  if (next.id != present) carry_out(Command{SelectKernel{next.id}});
  if (!next.slow.empty()) session_.view.notice = next.notice();
}

void Viewer::carry_out(const SetVsync& c) {
  session_.rescue.outside([&] { session_.surface->set_vsync(c.on); });
}

void Viewer::carry_out(const ToggleFullscreen&) {
  session_.rescue.outside([this] { session_.surface->toggle_fullscreen(); });
}

void Viewer::carry_out(const TogglePanel&) {
  session_.view.panel = !session_.view.panel;
}

void Viewer::carry_out(const ToggleHelp&) {
  session_.view.help = !session_.view.help;
}

void Viewer::carry_out(const SetPresentation& c) {
  // A presentation shows the panel, whose numbers it needs.
  if (c.on && !session_.view.presentation) panel_before_presentation_ = std::exchange(session_.view.panel, true);
  if (!c.on && session_.view.presentation) session_.view.panel = panel_before_presentation_;
  session_.view.presentation = c.on;
  session_.panels.lab.covered = 0;  // the next frame measures it again
}

void Viewer::carry_out(const ShowLab& c) {
  session_.panels.lab.folded = !c.tab;
  if (c.tab) session_.panels.lab.tab = *c.tab;
}

void Viewer::carry_out(const Quit&) {
  quit_ = true;
}

void Viewer::carry_out(const AskToQuit&) {
  const bool asked = !session_.view.quit_question.empty();
  if (!asked && !session_.lockstep) session_.view.quit_question = ended_by_quitting();
  quit_ = asked || session_.view.quit_question.empty();
}

void Viewer::carry_out(const CancelQuit&) {
  session_.view.quit_question.clear();
}

std::vector<std::string> Viewer::ended_by_quitting() const {
  std::vector<std::string> lines;
  if (session_.lane.log().recording())
    lines.push_back(fmt::format("The recording to {} ends.", session_.view.recording.file));
  for (const auto& feature : features_) feature->add_losses(lines);
  if (camera_.paths().unsaved()) lines.emplace_back("The camera path is not saved (F4 saves it).");
  if (const std::int64_t rows = session_.lane.log().statistics().unwritten_results(); rows > 0) {
    lines.push_back(fmt::format("{} not exported (F9 exports).", counted(rows, "result is", "results are")));
  }
  return lines;
}

void Viewer::save_snapshot(const std::string& asked, std::optional<ByteOrder> order) {
  const Session::Output to = session_.output(asked, "bodies.tipsy");
  if (is_checkpoint_name(to.file)) {
    session_.say_written(write_run_checkpoint(to.file, checkpoint_of(session_.lane.simulation()), to.existing));
    return;
  }
  const WrittenSnapshot written = write_snapshot(to.file, session_.lane.simulation().snapshot(), {order, to.existing});
  session_.say_written(written.file().string(), written.remark());
}

// Viewer: changes of what is drawn.

void Viewer::carry_out(const SetAppearance& c) {
  check_colour_range(c.appearance);
  set_appearance(c.appearance);
  appearance_chosen_ = true;
}

void Viewer::carry_out(const SetTheme& c) {
  session_.view.appearance.theme = c.theme;
  gui_.set_theme(c.theme == render::Theme::light ? theme::Tone::light : theme::Tone::dark);
}

void Viewer::carry_out(const ShowTrails& c) {
  session_.view.overlays.trails = c;
}

void Viewer::carry_out(const ShowVectors& c) {
  session_.view.overlays.vectors = c;
}

void Viewer::carry_out(const ShowTreeCells& c) {
  session_.view.overlays.cells = c;
  if (c.on && !session_.lane.status().kernel->is_tree)
    session_.view.notice = "no cells are drawn: the kernel has no tree";
}

void Viewer::carry_out(const ShowWalk& c) {
  session_.view.overlays.walk = c;
  if (!c.on) return;
  if (!session_.lane.status().kernel->is_tree) session_.view.notice = "no walk is drawn: the kernel has no tree";
  if (!session_.view.picked) session_.view.notice = "the walk is drawn once a body is picked";
}

void Viewer::carry_out(const ShowAxes& c) {
  session_.view.overlays.axes = c;
}

void Viewer::carry_out(const ShowLegend& c) {
  session_.view.legend_shown = c.on;
}

void Viewer::follow_scene() {
  const SceneRequest& scene = session_.lane.status().scene;
  const std::string& name = scene.file.empty() ? scene.scene : scene.file;
  if (shown_scene_ == name) return;
  shown_scene_ = name;
  const SceneView view = scene_view(scene);
  camera_.camera().home(view.azimuth, view.elevation);
  camera_.camera().look_from(view.azimuth, view.elevation);
  if (!appearance_chosen_) set_appearance(view.appearance);
  if (!pace_chosen_ && session_.lane.status().steps_per_frame != view.steps_per_frame) {
    session_.lane.simulation().apply(SetStepsPerFrame{view.steps_per_frame});
  }
  if (std::string notes = print_scene_notes(session_.lane.simulation()); !notes.empty())
    session_.view.notice = std::move(notes);
}

void Viewer::set_appearance(render::Appearance appearance) {
  appearance.theme = session_.view.appearance.theme;
  session_.view.appearance = appearance;
}

}  // namespace orrery
