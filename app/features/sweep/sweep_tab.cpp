#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "app/features/sweep/sweep.h"
#include "app/panels/kit/format.h"
#include "app/panels/kit/rows_table.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/status.h"

namespace orrery {
namespace {

/// The best variant at a number of bodies, and the other variants that may be as fast.
struct BestRow {
  std::size_t row;
  std::vector<std::size_t> within_noise;  ///< fastest first
};

bool measured(const Measurement& row) {
  return !row.problem && row.rank.first > 0;
}

bool has_another_value(const Measurement& row, const std::string& name, const std::string& value) {
  const auto found = row.values.find(name);
  return found != row.values.end() && found->second != value;
}

/// Returns a setting's value as a number for comparisons; 0 for a word.
double magnitude_of(const std::string& value) {
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

/// Distance of a row from its kernel's initial settings. Among equally fast rows, the smallest one is preferred.
struct Departure {
  bool other_kernel;          ///< not the kernel of the fastest row
  std::ptrdiff_t changed;     ///< number of settings that differ from the initial ones
  std::vector<double> sizes;  ///< their values
  friend auto operator<=>(const Departure&, const Departure&) = default;
};

Departure departure_of(const Measurement& row, const Measurement& fastest, std::span<const KernelPtr> kernels) {
  const KernelInfo* kernel = known_kernel(kernels, row.kernel_id);
  Departure departure{row.kernel_id != fastest.kernel_id, 0, {}};
  for (const auto& [name, value] : row.values) {
    const Tunable* tunable = kernel ? kernel->tunable(name) : nullptr;
    departure.changed += tunable && value != tunable->initial ? 1 : 0;
    departure.sizes.push_back(magnitude_of(value));
  }
  return departure;
}

/// Returns the best of the rows measured with `count` bodies; none if there are no such rows. If several may be the
/// fastest, prefers the kernel of the fastest row, then the fewest changed settings, then smaller values.
std::optional<BestRow> best_row(std::span<const Measurement> rows, int count, std::span<const KernelPtr> kernels) {
  std::vector<std::size_t> first;  // rows that may be the fastest
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].count == count && measured(rows[i]) && rows[i].rank.first == 1) first.push_back(i);
  }
  if (first.empty()) return std::nullopt;
  std::ranges::stable_sort(first, {}, [&](std::size_t i) { return rows[i].step_ms.median; });
  const Measurement& fastest = rows[first.front()];
  const auto best = std::ranges::min_element(first, [&](std::size_t a, std::size_t b) {
    return departure_of(rows[a], fastest, kernels) < departure_of(rows[b], fastest, kernels);
  });
  BestRow found{*best, {}};
  std::ranges::copy_if(first, std::back_inserter(found.within_noise), [&](std::size_t i) { return i != found.row; });
  return found;
}

/// Returns the rows' indices in display order: by number of bodies, then by time. Failed rows are last in their group.
std::vector<std::size_t> fastest_first(std::span<const Measurement> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const auto of_count = std::ranges::find(rows, rows[i].count, &Measurement::count) - rows.begin();
    return std::tuple{of_count, !measured(rows[i]), rows[i].measured() ? rows[i].step_ms.median : 0};
  });
  return order;
}

/// Returns the settings of row `index` that differ between rows: "block 256". If kernels differ, adds the kernel's id.
std::string short_name(std::span<const Measurement> rows, std::size_t index) {
  const Measurement& row = rows[index];
  const bool kernels = std::ranges::any_of(rows, [&](const Measurement& r) { return r.kernel_id != row.kernel_id; });
  std::string name = kernels ? row.kernel_id : std::string{};
  for (const auto& setting : row.values) {
    const auto& tunable = setting.first;
    const auto& value = setting.second;
    const bool differs = std::ranges::any_of(rows, [&](const Measurement& r) {
      return r.kernel_id == row.kernel_id && has_another_value(r, tunable, value);
    });
    if (differs) name += fmt::format("{}{} {}", name.empty() ? "" : " ", tunable, value);
  }
  return name.empty() ? row.kernel_id : name;
}

/// Returns the rank: "1", or "2-4" with an en dash if other rows are within noise; empty for an unmeasured row.
std::string rank_words(const Measurement& row) {
  if (!measured(row)) return {};
  return row.rank.first == row.rank.last ? fmt::format("{}", row.rank.first)
                                         : fmt::format("{}\u2013{}", row.rank.first, row.rank.last);
}

using theme::em;

/// Returns the settings to vary, in the kernel's order: the ticked ones, else its block size or its first setting.
/// Returns none if the kernels are varied.
std::vector<const Tunable*> varied(const KernelInfo* kernel, const SweepDraft& draft) {
  if (draft.every_kernel || !kernel || kernel->tunables.empty()) return {};
  std::vector<const Tunable*> ticked;
  for (const Tunable& tunable : kernel->tunables) {
    if (std::ranges::find(draft.tunables, tunable.name) != draft.tunables.end()) ticked.push_back(&tunable);
  }
  if (!ticked.empty()) return ticked;
  const Tunable* block = kernel->tunable("block");
  return {block ? block : &kernel->tunables.front()};
}

/// Returns what is varied: "block \u00d7 split", or "all kernels".
std::string subject(const std::vector<const Tunable*>& tunables) {
  std::string words;
  for (const Tunable* tunable : tunables) words += (words.empty() ? "" : " \u00d7 ") + std::string{tunable->name};
  return words.empty() ? "all kernels" : words;
}

void toggle(const std::vector<const Tunable*>& ticked, const char* name, SweepDraft& draft) {
  draft.every_kernel = false;
  draft.tunables.clear();
  for (const Tunable* tunable : ticked) draft.tunables.emplace_back(tunable->name);
  if (std::erase(draft.tunables, name) == 0) draft.tunables.emplace_back(name);
}

void subject_choice(const KernelInfo* kernel, const std::vector<const Tunable*>& chosen, SweepDraft& draft) {
  row_label("Sweep",
            "What to vary: settings of the present kernel, in every combination of their values, or the kernels "
            "themselves.");
  if (!begin_combo("sweep.what", subject(chosen), ImGuiComboFlags_HeightLargest)) return;
  if (kernel) {
    text("Tick one or several:", theme::dim, theme::Font::small);
    for (const Tunable& tunable : kernel->tunables) {
      bool ticked = std::ranges::find(chosen, &tunable) != chosen.end();
      if (ImGui::Checkbox(tunable.name, &ticked)) toggle(chosen, tunable.name, draft);
      ui_mark("sweep.what", tunable.name);
      tooltip(tunable.notes);
    }
  }
  if (ImGui::Selectable("all kernels", chosen.empty())) draft.every_kernel = true;
  ui_mark("sweep.what", "kernels");
  ImGui::EndCombo();
}

StartSweep sweep_of(const std::vector<const Tunable*>& chosen, std::vector<int> counts) {
  StartSweep sweep{.kernels = {}, .tunables = {}, .counts = std::move(counts)};
  for (const Tunable* tunable : chosen) sweep.tunables.emplace_back(tunable->name);
  if (!chosen.empty()) return sweep;
  sweep.kernels = {"all"};
  return sweep;
}

std::size_t variants_of(const std::vector<const Tunable*>& chosen, const std::vector<int>& counts) {
  std::size_t variants = std::max<std::size_t>(counts.size(), 1);
  for (const Tunable* tunable : chosen) variants *= tunable->values_to_measure().size();
  return variants;
}

/// Returns the label of the start button. Leaves out the subject if necessary: the list above the button shows it.
std::string start_label(const std::string& subject, const std::string& variants, float width) {
  const float room = width - 2 * ImGui::GetStyle().FramePadding.x;
  const std::string whole = fmt::format("Sweep {}{}{}", subject, variants.empty() ? "" : ": ", variants);
  const bool fits = variants.empty() || ImGui::CalcTextSize(whole.c_str()).x <= room;
  return shortened(fits ? whole : "Sweep " + variants, room) + "###sweep";
}

void progress(const SweepStatus& sweep, Requests& out) {
  const float share = sweep.total > 0 ? static_cast<float>(sweep.done) / static_cast<float>(sweep.total) : 0;
  const std::string left = sweep.left_s > 0 ? fmt::format(", {:.0f} s left", sweep.left_s) : std::string{};
  const std::string done = fmt::format("{} of {}{}", format_count(sweep.done), format_count(sweep.total), left);
  if (progress_row("sweep", share, done, sweep.present)) out.push_back(StopSweep{});
}

void controls(const Status& status, const ViewStatus& view, SweepDraft& draft, Requests& out) {
  const SweepStatus& sweep = view.sweep;
  const KernelInfo* kernel = status.kernel.get();
  const std::vector<const Tunable*> chosen = varied(kernel, draft);
  ImGui::BeginDisabled(sweep.active);
  subject_choice(kernel, chosen, draft);
  const std::optional<std::vector<int>> counts = counts_of(draft.counts);
  row_label("Bodies", "Numbers of bodies, separated by commas, such as 4k,16k,64k. Empty: the present number.");
  const bool entered = text_field("sweep.counts", std::to_string(status.count).c_str(), draft.counts, !counts);
  if (!counts) {
    wrapped_text(fmt::format("Bodies cannot be '{}'; it must be whole numbers separated by commas, such as 4k,16k,64k",
                             draft.counts),
                 theme::bad, theme::Font::small);
  }
  ImGui::EndDisabled();
  if (sweep.active) {
    progress(sweep, out);
    return;
  }
  const bool may_start = counts && !view.machine_user();
  ImGui::BeginDisabled(!may_start);
  const std::string variants = chosen.empty() || !counts
                                   ? std::string{}
                                   : counted(static_cast<std::int64_t>(variants_of(chosen, *counts)), "variant");
  const float room = ImGui::GetContentRegionAvail().x;
  const bool pressed = accent_button(start_label(subject(chosen), variants, room).c_str(), {room, 0});
  if ((pressed || entered) && may_start) {
    out.push_back(sweep_of(chosen, *counts));
  }
  ui_mark("sweep.start");
  ImGui::EndDisabled();
  tooltip(chosen.empty() ? "Measures every kernel that can run here, on a copy of the present system's first state."
                         : "Measures every combination of their values, on a copy of the present system's first state; "
                           "the other settings stay.",
          machine_in_use(view));
}

/// Returns "leaf 16: as fast as leaf 32 within noise, and nearer to the initial settings."
std::string best_words(std::span<const Measurement> rows, const BestRow& best) {
  const std::string name = short_name(rows, best.row);
  if (best.within_noise.empty()) return fmt::format("{} is the fastest.", name);
  std::string others;
  for (const std::size_t i : best.within_noise) others += (others.empty() ? "" : ", ") + short_name(rows, i);
  return fmt::format("{}: as fast as {} within noise, and nearer to the initial settings.", name, others);
}

void best(const Status& status, const ViewStatus& view, Requests& out) {
  const SweepStatus& sweep = view.sweep;
  const std::optional<BestRow> found = best_row(sweep.rows, status.count, view.kernels);
  if (!found) return;
  const Measurement& row = sweep.rows[found->row];
  const std::string name = short_name(sweep.rows, found->row);
  if (ImGui::Button(fmt::format("Apply {}###apply best", name).c_str(), {ImGui::GetContentRegionAvail().x, 0})) {
    out.push_back(SelectKernel{row.kernel_id, row.values});
  }
  ui_mark("sweep.apply");
  tooltip(fmt::format("Applies, with {}: {}  {}", counted_bodies(row.count), row.kernel_id, row.settings),
          "Of the variants whose 95 % intervals overlap that of the fastest, it is the one that changes the fewest of "
          "the kernel's initial settings. Of several, it is the one with the smallest values.");
  wrapped_text(best_words(sweep.rows, *found), theme::dim, theme::Font::small);
}

/// Returns a sentence if the window did not respond for at least 0.1 s during the row's measurement; else "".
std::string held_words(const SweepStatus& sweep, std::size_t row) {
  constexpr double seen_s = 0.1;
  const double held_s = row < sweep.held_s.size() ? sweep.held_s[row] : 0;
  return held_s >= seen_s ? fmt::format(
                                "The window did not respond for up to {:.2g} s: the kernel, or its "
                                "preparation, occupied the CPU for that time.\n",
                                held_s)
                          : std::string{};
}

/// Columns of the table that fit into its width.
struct ShownColumns {
  bool count_and_interval, rate;
};

void sweep_row(const SweepStatus& sweep, std::size_t index, int place, ShownColumns shown, const Status& status,
               Requests& out) {
  const Measurement& row = sweep.rows[index];
  const bool clicked = row_button("sweep.row", place, short_name(sweep.rows, index).c_str(), is_present(row, status));
  if (clicked && !row.problem) return_to(row, status, out);
  if (clicked && row.problem) out.push_back(SelectKernel{row.kernel_id, row.values});  // a failed row has only these
  if (ImGui::IsItemHovered()) {
    tooltip(fmt::format("{}  {}", row.kernel_id, row.settings),
            !row.problem ? fmt::format("{}\n{}. 95 % interval of the median: {}\n{}{}", system_words(row),
                                       format_rate(row.interactions_per_s, "interactions/s"),
                                       format_interval_ms(row.step_ms.low, row.step_ms.high), held_words(sweep, index),
                                       return_words(row, status))
                         : row.problem.text);
  }
  if (row.problem) {
    if (shown.count_and_interval) number_cell(format_count(row.count), theme::dim);
    number_cell("");
    number_cell("failed", theme::bad);
    return;
  }
  if (shown.count_and_interval) number_cell(format_count(row.count), theme::dim);
  const std::string rank = rank_words(row);
  number_cell(rank.empty() ? unknown : rank, row.rank.first == 1 ? theme::good : theme::text);
  number_cell(format_ms(row.step_ms.median));
  if (shown.count_and_interval) number_cell(format_interval_ms(row.step_ms.low, row.step_ms.high), theme::dim);
  if (shown.rate) number_cell(format_rate(row.interactions_per_s, "/s"));
  number_cell(row.error ? format_error(row.error->median) : unknown, error_colour(row.error));
}

void rows(const Status& status, const SweepStatus& sweep, float height, Requests& out) {
  if (sweep.rows.empty()) {
    wrapped_text(
        "A sweep runs each variant on a copy of the system, with a warm-up and samples, and ranks the times. Variants "
        "whose 95 % intervals overlap share a rank.",
        theme::dim);
    return;
  }
  const float room = ImGui::GetContentRegionAvail().x;
  const ShownColumns shown{.count_and_interval = room >= em(32), .rate = room >= em(44)};
  std::vector<Column> columns{{"variant", -1}};
  if (shown.count_and_interval) columns.push_back({"bodies", 4.4f});
  columns.push_back({"rank", 2.6f});
  columns.push_back({"median", 4.8f});
  if (shown.count_and_interval) columns.push_back({"95 % interval", 9.4f});
  if (shown.rate) columns.push_back({"interactions/s", 5.4f});
  columns.push_back({"error", 3.6f});
  if (!begin_rows("sweep", columns, static_cast<int>(sweep.rows.size()), height)) return;
  int place = 0;
  for (const std::size_t index : fastest_first(sweep.rows)) sweep_row(sweep, index, place++, shown, status, out);
  ImGui::EndTable();
}

void sweep_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out) {
  const float room = ImGui::GetContentRegionAvail().x;
  const bool wide = room >= em(34);
  ImGui::BeginChild("what to sweep", {wide ? em(16) : 0, wide ? height : em(9.5f)});
  controls(status, view, state.lab.drafts.of<SweepDraft>(), out);
  if (!view.sweep.active) best(status, view, out);
  written_rows("sweep", view.sweep.files, view.sweep.error);
  ImGui::EndChild();
  if (wide) ImGui::SameLine(0, em(1));
  ImGui::BeginChild("rows", {0, height});
  rows(status, view.sweep, height, out);
  ImGui::EndChild();
}

}  // namespace

const Tab sweep_tab{"Sweep", "Measures variants one after the other and ranks them.", sweep_content};

}  // namespace orrery
