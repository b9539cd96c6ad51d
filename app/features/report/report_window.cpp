// The page of a running window.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/features/report/facts.h"
#include "app/features/report/page.h"
#include "app/lab/metadata.h"
#include "app/lab/result_plots.h"
#include "app/lab/roofline/roofline.h"
#include "app/lab/variants.h"
#include "app/panels/shown_words.h"
#include "app/text/printable.h"
#include "app/text/table.h"
#include "app/ui_state/gl_report.h"
#include "app/ui_state/hint_words.h"
#include "app/ui_state/window_commands.h"
#include "app/window/session.h"
#include "app/window/window_feature.h"
#include "compute/core/atomic_file.h"
#include "compute/core/text.h"
#include "compute/snapshots/units.h"

namespace orrery {
namespace {

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

/// Returns the results grouped by system, in the order in which the systems were first measured.
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
      .plot = conserved_plot("energy drift |E \u2212 E\u2080| / |E\u2080|",
                             std::array{ConservedCurve{"", PlotInk::accent, energy_drift}}, history),
      .missing =
          "The energy drift was not measured. The tab Drift of the window starts to measure it, and so does "
          "'conserved SECONDS' in a script."};
  curve.plot.across.title = "simulated time (G = 1)";
  return curve;
}

ReportCurve step_curve(const std::vector<float>& history) {
  ReportCurve curve{
      .title = "Time per step",
      .words = fmt::format("The time of one step in the latest {} that the window measured, the latest at the "
                           "right.",
                           counted(std::ssize(history), "batch of steps", "batches of steps")),
      .plot = {.across = {.title = "batch of steps"}, .up = {.title = "time per step (ms)"}, .lines = {{}}},
      .missing = "The time per step was not measured: no step has run with these settings."};
  std::vector<PlotPoint>& points = curve.plot.lines.front().points;
  for (std::size_t i = 0; i < history.size(); ++i) points.push_back({static_cast<double>(i + 1), history[i]});
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

/// Returns the command-line options for the current system: scene, law and integrator, but not the kernel.
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

namespace {

/// The report as a part of the window.
class ReportWindow final : public WindowFeature {
 public:
  explicit ReportWindow(Session& session) : session_{session} {}

  void add_to(Handlers& handlers) override { handlers.add(*this, report_commands); }

  void carry_out(const SaveReport& c) {
    session_.once_drawn([this, c] { save(c.file); });
  }

 private:
  void save(const std::string& asked) {
    const Session::Output to = session_.output(asked, "report.html");
    const render::GlInfo& opengl = session_.surface->gl();
    const GlReport gl{.renderer = opengl.renderer,
                      .version = opengl.version,
                      .same_gpu = session_.sharing.same_gpu,
                      .interop = to_string(session_.view.interop),
                      .interop_reason = session_.view.interop_reason};
    ReportContent content = window_content(session_.lane.status(), session_.view);
    content.made = made_words(machine_metadata(session_.backends));
    content.machine =
        machine_report(session_.backends, gl, session_.view.features.of<std::optional<MachinePeakRates>>()).facts;
    content.picture = session_.picture();
    session_.say_written(write_file(to.file, report_page(content), to.existing));
    session_.lane.log().statistics().results_written();  // the page contains all of them
  }

  Session& session_;
};

}  // namespace

std::unique_ptr<WindowFeature> make_report(Session& session) {
  return std::make_unique<ReportWindow>(session);
}

}  // namespace orrery
