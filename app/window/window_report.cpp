// Pages, pictures, replays and the summary of a run: what a viewer writes about itself.
#include "app/window/window_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/lab/metadata.h"
#include "app/lab/variants.h"
#include "app/panels/panels.h"
#include "app/panels/shown_words.h"
#include "app/report/facts.h"
#include "app/report/page.h"
#include "app/text/console.h"
#include "app/text/printable.h"
#include "app/text/table.h"
#include "app/ui_state/hint_words.h"
#include "app/ui_state/status.h"
#include "app/ui_state/window_commands.h"
#include "app/window/step_statistics.h"
#include "app/window/viewer.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"
#include "compute/core/stop_signal.h"
#include "compute/core/text.h"
#include "compute/snapshots/units.h"
#include "render/image.h"

namespace orrery {
namespace {

constexpr const char* no_measurement = "not measured";

std::string kernel_text(const Status& status) {
  if (status.auto_choice) return status.auto_choice->name;
  const std::string changes = status.settings.changes();
  return status.kernel_id + (changes.empty() ? "" : " ") + changes;
}

/// Leapfrog's first step has one evaluation more and is in no median.
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

/// The summary of a run without a window: the kernel and why it was chosen, bodies, steps, time per step, interactions
/// per second and the latest force error. Names what was not measured.
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

const KernelInfo* kernel_of(const ViewStatus& view, const std::string& id) {
  const auto found = std::ranges::find_if(view.kernels, [&](const KernelPtr& kernel) { return id == kernel->id; });
  return found == view.kernels.end() ? nullptr : found->get();
}

bool same_system(const Trial& a, const Trial& b) {
  return a.scene == b.scene && a.count == b.count && a.law == b.law && a.integrator_id == b.integrator_id &&
         a.time_step == b.time_step && a.eta == b.eta && a.digits == b.digits;
}

std::string scene_of(const Trial& trial) {
  return trial.scene.file.empty() ? trial.scene.scene : std::filesystem::path{trial.scene.file}.filename().string();
}

std::string system_title(const Trial& trial, bool whole) {
  std::string title = fmt::format("{}, {}", scene_of(trial), counted_bodies(trial.count));
  if (!whole) return title;
  if (trial.scene.file.empty()) title += fmt::format(", seed {}", trial.scene.seed);
  return title + fmt::format(", {}, softening {}, {}, dt {}", law_info(trial.law.id).id, trial.law.softening,
                             integrator_words(trial), trial.time_step);
}

/// The results of each system, in the order in which the systems were first tried.
std::vector<std::vector<Result>> by_system(const std::vector<Result>& results) {
  std::vector<std::vector<Result>> systems;
  for (const Result& result : results) {
    const auto known =
        std::ranges::find_if(systems, [&](const auto& rows) { return same_system(rows.front(), result); });
    if (known == systems.end()) {
      systems.push_back({result});
    } else {
      known->push_back(result);
    }
  }
  return systems;
}

ReportRow row_of_result(const Result& result, const SettingsCells& cells, const ViewStatus& view, bool mixed) {
  const KernelInfo* kernel = kernel_of(view, result.kernel_id);
  ReportRow row{result, cells.text(result.kernel_id, Settings::values_of(result.settings)),
                kernel && kernel->backend == Backend::cuda};
  if (!(row.interactions_per_s > 0)) row.interactions_per_s = Measurement::unknown;
  if (mixed) row.how = result.swept ? "sweep" : "view";
  if (result.pinned)
    row.speedup = "baseline";
  else if (result.speedup)
    row.speedup = fmt::format("{}\u00d7", significant(*result.speedup, 3));
  return row;
}

std::vector<ReportGroup> groups_of_results(const ViewStatus& view) {
  const auto swept = std::ranges::count(view.results, true, &Result::swept);
  const bool mixed = swept > 0 && swept < std::ssize(view.results);
  SettingsCells cells{{}};
  for (const Result& result : view.results) {
    cells.add(result.kernel_id, Settings::values_of(result.settings), kernel_of(view, result.kernel_id));
  }
  const std::vector<std::vector<Result>> systems = by_system(view.results);
  std::vector<ReportGroup> groups;
  for (const std::vector<Result>& rows : systems) {
    groups.push_back({system_title(rows.front(), systems.size() > 1)});
    for (const Result& result : rows) groups.back().rows.push_back(row_of_result(result, cells, view, mixed));
  }
  return groups;
}

ReportCurve drift_curve(const std::vector<ConservedProbe>& history) {
  ReportCurve curve{
      .title = "Conservation of energy",
      .words =
          "The difference between the total energy and its first sum, as a share of that sum, over simulated time. "
          "An exact run would stay at 0.",
      .across = "simulated time (G = 1)",
      .up = "energy drift |E \u2212 E\u2080| / |E\u2080|",
      .missing =
          "The energy drift was not measured. The tab Drift of the window starts to measure it, and so does "
          "'conserved SECONDS' in a script."};
  for (const ConservedProbe& probe : history) {
    const double first = history.front().sums.energy();
    curve.points.emplace_back(probe.sim_time, std::abs((probe.sums.energy() - first) / first));
  }
  return curve;
}

ReportCurve step_curve(const std::vector<float>& history) {
  ReportCurve curve{
      .title = "Time per step",
      .words = fmt::format("The time of one step in the latest {} that the window measured, the latest at the "
                           "right.",
                           counted(std::ssize(history), "batch of steps", "batches of steps")),
      .across = "batch of steps",
      .up = "time per step (ms)",
      .missing = "The time per step was not measured: no step has run with these settings."};
  for (std::size_t i = 0; i < history.size(); ++i) curve.points.emplace_back(static_cast<double>(i + 1), history[i]);
  return curve;
}

std::string frame_text(const FrameTimes& times) {
  if (!(times.frame_ms > 0)) return "not measured";
  return fmt::format("{} ms in all; drawing {} ms, panels {} ms, buffer swap {} ms", significant(times.frame_ms, 3),
                     significant(times.draw_ms, 3), significant(times.gui_ms, 3), significant(times.swap_ms, 3));
}

ReportFacts facts_of(const Status& status, const ViewStatus& view) {
  Json run = Json::object();
  add_simulation(run, status);
  ReportFacts facts = run_facts(run);
  const std::string changes = status.settings.changes();
  facts.push_back({"Kernel", status.auto_choice ? status.auto_choice->name
                                                : status.kernel_id + (changes.empty() ? "" : " ") + changes});
  facts.push_back({"Settings", status.settings.to_string().empty() ? "none" : status.settings.to_string()});
  facts.push_back({"Steps", fmt::format("{} until time {:.6g}; {} per frame", format_count(status.step),
                                        status.sim_time, status.steps_per_frame)});
  if (status.units) facts.push_back({"Units of the file", units_text(*status.units)});
  facts.push_back({"Latest frame", frame_text(view.times)});
  return facts;
}

/// The options of the present system, without its kernel.
std::vector<std::string> system_words(const Status& status) {
  std::vector<std::string> words;
  if (status.scene.file.empty()) {
    words = {"--scene", status.scene.scene, "-n", std::to_string(status.count)};
    if (find_scene(status.scene.scene).random) {
      words.insert(words.end(), {"--seed", std::to_string(status.scene.seed)});
    }
  } else {
    words = hint_words(status.scene.hints);
    words.push_back(status.scene.file);
  }
  words.insert(words.end(),
               {"--law", law_info(status.law.id).id, "--softening", fmt::format("{}", status.law.softening)});
  if (status.law.id == LawId::attract_repel) {
    words.insert(words.end(), {"--repulsion", fmt::format("{}", status.law.repulsion), "--drag",
                               fmt::format("{}", status.law.drag)});
  }
  words.insert(words.end(), {"--integrator", status.integrator_id, "--dt", fmt::format("{}", status.time_step)});
  if (status.block_steps) {
    words.insert(words.end(), {"--eta", fmt::format("{}", status.eta)});
  }
  if (status.digits != Digits::single) {
    words.insert(words.end(), {"--digits", std::string{word_of(status.digits)}});
  }
  return words;
}

std::vector<ReportCommand> commands_of(const Status& status, const ViewStatus& view) {
  const std::vector<std::string> system = system_words(status);
  std::vector<std::string> show{"orrery", "view"}, measure{"orrery", "report"};
  show.insert(show.end(), system.begin(), system.end());
  show.insert(show.end(), {"--kernel", status.kernel_id});
  for (const auto& [name, value] : Settings::values_of(status.settings.changes())) {
    show.insert(show.end(), {"--set", name + '=' + value});
  }
  std::vector<std::string> kernels;
  for (const Result& result : view.results) {
    if (std::ranges::find(kernels, result.kernel_id) == kernels.end()) kernels.push_back(result.kernel_id);
  }
  if (kernels.empty()) kernels = {status.kernel_id};
  measure.insert(measure.end(), system.begin(), system.end());
  measure.insert(measure.end(), {"--kernels", fmt::format("{}", fmt::join(kernels, ",")), "--out", "report.html"});
  return {{"The user steers a window, so no command repeats it exactly. This one shows the same system with the same "
           "kernel, and its button Report makes such a page again:",
           shell_line(show)},
          {"This one measures the kernels of the results with the present system, and writes a page:",
           shell_line(measure)}};
}

}  // namespace

ReportContent window_content(const Status& status, const ViewStatus& view) {
  ReportContent content{.title = fmt::format("{}, {}", status.scene_name, counted_bodies(status.count)),
                        .made = {},
                        .remark = view.sweep.active ? "A sweep was running: its results are not complete." : "",
                        .picture = {},
                        .groups = groups_of_results(view)};
  content.how =
      "These are the results of the window's session. In the view, the time per step is the smallest median of 20 "
      "consecutive batches of steps, measured while the window draws, and has no interval. A sweep's time is the "
      "median of "
      "its samples, with its 95 % interval. The force error is |\u0394a|/|a| against sums in double precision, over a "
      "sample of the bodies.";
  for (const Measurement& row : view.sweep.rows) {
    if (row.problem) content.gaps.push_back({row.kernel_id + ' ' + row.settings, row.problem.text});
  }
  content.curves = {drift_curve(view.conserved_history), step_curve(view.step_ms_history)};
  content.settings = facts_of(status, view);
  content.commands = commands_of(status, view);
  return content;
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

// Viewer: how it makes pages.

ReportPicture Viewer::picture() {
  while (!finished()) frame();
  if (stop_requested()) return {.words = "There is no picture: the program was interrupted."};
  return report_picture();
}

/// Draws the current view with the legend and without the panels. Afterwards the frame is drawn again as it was.
ReportPicture Viewer::report_picture() {
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

void Viewer::save_report(const std::string& asked) {
  const Session::Output to = session_.output(asked, "report.html");
  const render::GlInfo& opengl = session_.surface->gl();
  const GlReport gl{.renderer = opengl.renderer,
                    .version = opengl.version,
                    .same_gpu = session_.sharing.same_gpu,
                    .interop = to_string(session_.view.interop),
                    .interop_reason = session_.view.interop_reason};
  ReportContent content = window_content(session_.lane.status(), session_.view);
  content.made = made_words(machine_metadata(session_.backends));
  content.machine = machine_report(session_.backends, gl, facts_.peak_rates()).facts;
  content.picture = report_picture();
  session_.say_written(write_file(to.file, report_page(content), to.existing));
  exported_results_ = tried_by_hand();  // the page has them all
}

void Viewer::carry_out(const SaveReport& c) {
  pictures_wanted_.push_back({[this, c] { save_report(c.file); }});
}

// Viewer: how it saves how its run went.

void Viewer::carry_out(const SaveReplay& c) {
  constexpr float degrees = 180 / std::numbers::pi_v<float>;
  Replay replay = replay_of(history_, session_.lane.simulation(), session_.backends);
  const glm::vec3 target = camera_.camera().target();
  replay.camera = {camera_.camera().azimuth() * degrees,
                   camera_.camera().elevation() * degrees,
                   camera_.camera().distance(),
                   target.x,
                   target.y,
                   target.z};
  replay.appearance = {session_.view.appearance};
  const Session::Output to = session_.output(c.file, "run.replay");
  session_.say_written(write_replay(to.file, replay, to.existing));
}

// Viewer: pictures of the window and of the bodies.
/// After a frame has been drawn and before it is presented: the picture is what the user sees.
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
    PanelState panels = session_.panels;  // what the user does belongs to the window
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
  const auto stage = compare_.stage();
  draw({target.framebuffer(), width, height, target.texture()});
  compare_.restore_stage(stage);  // clicks are in the window
  return render::read_framebuffer(target.framebuffer(), width, height);
}

void Viewer::print_summary() {
  session_.lane.log().describe(session_.view, session_.lane.status());
  console::show(run_summary(session_.lane.status(), session_.view, stdout_style({})));
  if (stop_requested() && session_.options.frames) {
    console::print("stopped before the end: {} of {}\n", format_count(session_.frame),
                   counted(*session_.options.frames, "frame"));
  }
}

}  // namespace orrery
