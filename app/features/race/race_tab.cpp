#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/features/race/race.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/rows_table.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/text/console.h"
#include "compute/core/text.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

std::vector<KernelPtr> kernels_of(const StartRace& race, const Status& status, const ViewStatus& view) {
  std::vector<KernelPtr> kernels;
  if (race.kernels.empty()) {
    if (status.kernel) kernels.push_back(status.kernel);
    if (view.jerk_kernel && !(status.kernel && status.kernel->gives_jerks)) kernels.push_back(view.jerk_kernel);
  }
  for (const KernelPtr& kernel : view.kernels) {
    if (std::ranges::find(race.kernels, kernel->id) != race.kernels.end()) kernels.push_back(kernel);
  }
  return kernels;
}

std::vector<std::string> integrators_of(const StartRace& race) {
  std::vector<std::string> ids = race.integrators;
  if (!ids.empty()) return ids;
  for (const IntegratorInfo* integrator : integrators()) ids.emplace_back(integrator->id);
  return ids;
}

std::vector<float> time_steps_of(const StartRace& race, const Status& status) {
  std::vector<float> time_steps = race.time_steps;
  if (!time_steps.empty()) return time_steps;
  for (const float factor : usual_factors) time_steps.push_back(factor * status.time_step);
  return time_steps;
}

}  // namespace

RaceForecast forecast_of(const StartRace& race, const Status& status, const ViewStatus& view) {
  const std::vector<KernelPtr> kernels = kernels_of(race, status, view);
  const bool all_give_jerks = std::ranges::all_of(kernels, [](const KernelPtr& kernel) { return kernel->gives_jerks; });
  const std::vector<std::string> integrators = integrators_of(race);
  const std::vector<float> time_steps = time_steps_of(race, status);
  RaceForecast forecast;
  for (const KernelPtr& kernel : kernels) {
    const RaceSize size = race_size(*kernel, all_give_jerks, integrators, time_steps, race.until);
    forecast.runs += size.runs;
    forecast.steps += size.steps;
    const auto known = view.evaluation_s.find(kernel->id);
    if (known != view.evaluation_s.end()) forecast.expected_s += size.evaluations * known->second;
  }
  const double sums = 1 + race_samples * forecast.runs;
  forecast.expected_s += sums * view.conserved_sum_s;
  return forecast;
}

double suggested_end(StartRace race, const Status& status, const ViewStatus& view) {
  constexpr double patience_s = 60;
  const double least = 4 * std::ranges::max(time_steps_of(race, status));
  double decade = 1;
  while (decade < least) decade *= 10;
  double end = decade;
  for (; end > 0; decade /= 10) {
    for (const double digit : {1.0, 0.5, 0.2}) {
      if (!(digit * decade >= least)) return end;
      race.until = end = digit * decade;
      if (forecast_of(race, status, view).expected_s <= patience_s) return end;
    }
  }
  return end;
}

std::string words_for(const RaceForecast& forecast) {
  constexpr double most = 1e15;  // far above the limit of a race
  const std::string time =
      forecast.expected_s >= 1 ? fmt::format(", roughly {} here", duration_text(forecast.expected_s)) : std::string{};
  return fmt::format("{}, {} in all{}.", counted(forecast.runs, "run"),
                     counted(static_cast<std::int64_t>(std::min(forecast.steps, most)), "step"), time);
}
namespace {

using theme::em;

PlotInk integrator_ink(const std::string& integrator) {
  constexpr std::array inks{PlotInk::warn,   PlotInk::accent, PlotInk::cyan,
                            PlotInk::violet, PlotInk::good,   PlotInk::bad};
  const auto all = integrators();
  const auto found = std::ranges::find(all, integrator, &IntegratorInfo::id);
  return inks[static_cast<std::size_t>(found - all.begin()) % inks.size()];
}

/// Draws a list in which the user may tick several entries. Shows `usual` if none is ticked.
void several(const char* id, const std::vector<const char*>& names, const char* usual,
             std::vector<std::string>& chosen) {
  std::string words;
  for (const std::string& name : chosen) words += (words.empty() ? "" : ", ") + name;
  if (!begin_combo(id, chosen.empty() ? usual : words, ImGuiComboFlags_HeightLargest)) return;
  for (const char* const name : names) {
    const auto at = std::ranges::find(chosen, name);
    bool ticked = at != chosen.end();
    if (ImGui::Checkbox(name, &ticked)) {
      if (ticked) {
        chosen.emplace_back(name);
      } else {
        chosen.erase(at);
      }
    }
    ui_mark(id, name);
  }
  ImGui::EndCombo();
}

std::vector<const char*> kernels_here(const ViewStatus& view) {
  std::vector<const char*> ids;
  for (const KernelPtr& kernel : view.kernels) {
    if (view.backend(kernel->backend).available) ids.push_back(kernel->id);
  }
  return ids;
}

std::vector<const char*> integrator_ids() {
  std::vector<const char*> ids;
  for (const IntegratorInfo* integrator : integrators()) ids.push_back(integrator->id);
  return ids;
}

void race_progress(const RaceStatus& race, Requests& out) {
  const std::string left = race.left_s ? fmt::format(", {:.0f} s left", *race.left_s) : std::string{};
  const std::string words = fmt::format("{:.0f} %{}", 100 * race.done, left);
  if (progress_row("race", static_cast<float>(race.done), words, race.present)) out.push_back(StopRace{});
}

void race_controls(const Status& status, const ViewStatus& view, RaceDraft& draft, Requests& out) {
  const auto& latest = view.features.of<RaceStatus>();
  const std::optional<std::vector<float>> time_steps = positive_numbers_of(draft.time_steps);
  StartRace race{.kernels = draft.kernels, .integrators = draft.integrators};
  if (time_steps) race.time_steps = *time_steps;
  const double suggested = suggested_end(race, status, view);
  const bool suggests = trimmed(draft.until).empty();
  const std::optional<double> until = suggests ? suggested : parsed_number<double>(trimmed(draft.until));
  const bool until_known = until && StartRace::ends.contains(*until);
  if (until_known) race.until = *until;
  ImGui::BeginDisabled(latest.active);
  row_label("Until",
            "All runs start from the first state of the scene and end at this time, in units of time. Empty: the time "
            "that stands there, with which a race is expected to take a minute or so.");
  bool entered = text_field("race.until", fmt::format("{:g}", suggested).c_str(), draft.until, !until_known);
  row_label("Integrators", "Which integrators take part.");
  several("race.integrators", integrator_ids(), "all", draft.integrators);
  row_label("Kernels", "Which kernels take part. Hermite integrators run with the kernels that give jerks.");
  several("race.kernels", kernels_here(view), "the present one", draft.kernels);
  row_label("dt", fmt::format("Time steps, separated by commas. Empty: 4, 2, 1, 1/2 and 1/4 times the present {:.3g}.",
                              status.time_step));
  entered |= text_field("race.dt", "4 to 1/4 \u00d7 present", draft.time_steps, !time_steps);
  ImGui::EndDisabled();
  if (latest.active) return race_progress(latest, out);
  if (!until_known || !time_steps) {
    wrapped_text(until_known ? "dt must be numbers above 0, separated by commas, such as 0.01,0.005"
                             : "Until must be a time above 0, such as 1",
                 theme::bad, theme::Font::small);
  }
  if (until_known && time_steps) {
    wrapped_text(words_for(forecast_of(race, status, view)) + " The shown system rests meanwhile.", theme::dim,
                 theme::Font::small);
    ui_mark("race.forecast");
  }
  const bool may_start = until_known && time_steps && !view.machine_user();
  ImGui::BeginDisabled(!may_start);
  const bool pressed = accent_button("Race###race", {ImGui::GetContentRegionAvail().x, 0});
  if ((pressed || entered) && may_start) {
    out.push_back(race);
  }
  ui_mark("race.start");
  ImGui::EndDisabled();
  tooltip("Runs every combination to the same time, on a copy of the present system's first state.",
          machine_in_use(view));
}

bool is_plotted(const RaceRun& row) {
  return row.seconds > 0 && std::isfinite(row.energy_error);
}

std::string race_words(const RaceRun& row) {
  return fmt::format("{}, {}, dt {:.4g}", kernel_words(row), integrator_words(row), row.time_step);
}

/// Plots the time of the runs (vertical) over their energy error (horizontal).
void draw_race(const Status& status, const RaceStatus& race, ImVec2 size, Requests& out) {
  Plot plot{.across = {.title = "energy error |E \u2212 E0|/|E0|", .logarithmic = true, .label = scientific},
            .up = {.title = fmt::format("time of the steps to t = {:g}", race.until),
                   .logarithmic = true,
                   .label = [](double seconds, int) { return milliseconds(1e3 * seconds); }}};
  for (std::size_t i = 0; i < race.rows.size(); ++i) {
    const RaceRun& row = race.rows[i];
    if (!is_plotted(row)) continue;
    plot.marks.push_back({.at = {row.energy_error, row.seconds},
                          .row = static_cast<int>(i),
                          .ink = integrator_ink(row.integrator_id),
                          .ring = is_present(row, status),
                          .front = row.on_front});
  }
  plot.fit();
  plot.add_front(INFINITY, PlotInk::text);
  const PlotUse use = draw_plot("race.dot", plot, size);
  if (use.hovered) {
    const RaceRun& row = race.rows[static_cast<std::size_t>(*use.hovered)];
    show_tooltip(race_words(row), fmt::format("{} in {}; the energy is kept to {}\n{}\n{}", counted(row.steps, "step"),
                                              format_ms(1e3 * row.seconds), format_error(row.energy_error),
                                              row.settings, return_words(row, status)));
  }
  if (use.clicked) return_to(race.rows[static_cast<std::size_t>(*use.clicked)], status, out);
}

void race_legend(const RaceStatus& race) {
  std::set<std::string> ids;
  for (const RaceRun& row : race.rows) {
    if (is_plotted(row)) ids.insert(row.integrator_id);
  }
  bool at_left = true;  // two entries per line
  for (const std::string& id : ids) {
    if (!at_left) ImGui::SameLine(em(7.6f));
    legend_entry(integrator_ink(id), id.c_str());
    at_left = !at_left;
  }
}

/// Draws the number of runs that did not reach the end, and the reason of the first.
void failures(const RaceStatus& race) {
  const auto failed = [](const RaceRun& row) { return bool{row.problem}; };
  const auto first = std::ranges::find_if(race.rows, failed);
  if (first == race.rows.end()) return;
  wrapped_text(fmt::format("{} of {} did not reach the end. {}: {}", std::ranges::count_if(race.rows, failed),
                           counted(std::ssize(race.rows), "run"), race_words(*first), first->problem.text),
               theme::warn, theme::Font::small);
  ui_mark("race.failures");
}

/// Draws a table of the fastest run for each energy limit.
void winners(const Status& status, const RaceStatus& race, float height, Requests& out) {
  if (race.rows.empty()) {
    wrapped_text(
        "A step that costs more may need fewer of its kind. A race runs each combination of kernel, integrator and "
        "time "
        "step to the same time, and shows what each costs and how well it keeps the energy.",
        theme::dim);
    return;
  }
  if (race.best.empty()) {
    wrapped_text("No run keeps the energy to 1e-2.", theme::dim);
    return;
  }
  const std::array columns{Column{"energy to", -0.3f}, Column{"costs", 4.2f}, Column{"the cheapest", -1}};
  if (!begin_rows("race.best", columns, static_cast<int>(race.best.size()), height)) return;
  for (std::size_t i = 0; i < race.best.size(); ++i) {
    const RaceRun& row = race.rows[race.best[i].run];
    const std::string limit = fmt::format("1e{:.0f}", std::log10(race.best[i].limit));
    const bool clicked = row_button("race.best", static_cast<int>(i), limit.c_str(), is_present(row, status));
    if (ImGui::IsItemHovered()) {
      tooltip(fmt::format("The cheapest run that keeps the energy to {} costs {}: {}", limit,
                          format_ms(1e3 * row.seconds), race_words(row)),
              fmt::format("{}\n{}", row.settings, return_words(row, status)));
    }
    if (clicked) return_to(row, status, out);
    number_cell(format_ms(1e3 * row.seconds));
    word_cell(fmt::format("{}, dt {:.3g}", row.integrator_id, row.time_step), theme::text);
  }
  ImGui::EndTable();
}

void race_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out) {
  const auto& race = view.features.of<RaceStatus>();
  const float room = ImGui::GetContentRegionAvail().x;
  const bool wide = room >= em(34), widest = room >= em(56);
  ImGui::BeginChild("what to race", {wide ? em(16) : 0, wide ? height : em(12)});
  race_controls(status, view, state.lab.drafts.of<RaceDraft>(), out);
  race_legend(race);
  failures(race);
  written_rows("race", race.files, race.error);
  ImGui::EndChild();
  if (wide) ImGui::SameLine(0, em(1));
  ImGui::BeginChild("race results", {0, height});
  const ImVec2 left = ImGui::GetContentRegionAvail();
  const bool any = !race.rows.empty();
  const ImVec2 plotted = widest ? ImVec2{left.x - em(22.3f), height} : ImVec2{left.x, 0.62f * height};
  if (any) draw_race(status, race, plotted, out);
  if (any && widest) ImGui::SameLine(0, em(0.8f));
  ImGui::BeginChild("race winners", {0, any && !widest ? 0.36f * height : height});
  winners(status, race, height, out);
  ImGui::EndChild();
  ImGui::EndChild();
}

}  // namespace

const Tab race_tab{"Race",
                   "Time to solution: what each integrator and time step costs, and how well it keeps the energy.",
                   race_content};

}  // namespace orrery
