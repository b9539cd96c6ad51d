#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/kit/format.h"
#include "app/panels/kit/rows_table.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "app/ui_state/status.h"
#include "app/ui_state/window_commands.h"

namespace orrery {
namespace {

void add_difference(std::string& list, bool differs, const char* words) {
  if (differs) list += (list.empty() ? "" : ", ") + std::string{words};
}

/// Returns the reasons why the rows are not comparable(); empty if they are.
std::string differences(const Result& row, const Result& pinned) {
  std::string list;
  const bool other_scene = row.scene.scene != pinned.scene.scene || row.scene.file != pinned.scene.file;
  add_difference(list, other_scene, "the scene is another one");
  add_difference(list, row.count != pinned.count, "the number of bodies is another one");
  add_difference(list, row.law != pinned.law, "the law is another one");
  add_difference(list, list.empty() && row.scene != pinned.scene, "the bodies of the scene are others");
  add_difference(list, row.swept != pinned.swept, "one was measured by a sweep and the other was not");
  const std::optional<int> accuracy = accuracy_class(row.error), wanted = accuracy_class(pinned.error);
  add_difference(list, !accuracy, "its error is not known");
  add_difference(list, !wanted, "the error of the pinned row is not known");
  add_difference(list, accuracy && wanted && accuracy != wanted, "the median error is in another decade");
  return list;
}

}  // namespace

std::string why_no_speedup(std::span<const Result> results, std::size_t row) {
  const Result& result = results[row];
  if (result.speedup) return {};
  const Result* nearest = nullptr;
  for (const Result& other : results) {
    if (other.pinned && (!nearest || same_subject(other, result))) nearest = &other;
  }
  return nearest ? "No speed-up over the pinned row: " + differences(result, *nearest) + "." : "";
}

namespace {

using theme::em;

constexpr float least_settings = 5;  // minimum width of the settings column, in em

/// Selects the columns: those whose values differ between rows, as far as there is room.
struct Shown {
  bool scene, law, integrator, time_step, settings_and_count, swept, rate, tail;
  float kernel;    ///< width of the longest name, in em
  float settings;  ///< width of the longest settings, in em, estimated
};

Shown shown_of(const std::vector<Result>& results, float width) {
  const auto differ = [&](auto of) {
    return std::ranges::any_of(results, [&](const Result& r) { return of(r) != of(results.front()); });
  };
  const bool wide = width >= em(50);
  float kernel = 4, settings = least_settings;
  for (const Result& row : results) {
    constexpr float em_per_letter = 0.43f;
    kernel = std::max(kernel, ImGui::CalcTextSize(kernel_words(row).c_str()).x / em(1));
    settings = std::max(settings, em_per_letter * static_cast<float>(row.settings.size()));
  }
  constexpr float others = 41;  // em, width of all columns except kernel and settings
  return {.scene = wide && differ([](const Result& r) { return scene_name(r); }),
          .law = wide && differ([](const Result& r) { return r.law.id; }),
          .integrator = wide && differ([](const Result& r) { return integrator_words(r); }),
          .time_step = wide && differ([](const Result& r) { return r.time_step; }),
          .settings_and_count = width >= em(34),
          .swept = width >= em(37) && std::ranges::any_of(results, &Result::swept),
          .rate = width >= em(26),
          // The settings have priority over further errors, which the row's tooltip also shows.
          .tail = width >= em(others + kernel + settings),
          .kernel = kernel,
          .settings = settings};
}

constexpr const char* speedup_words =
    "Time per step of the pinned row divided by that of this row. Both need the same scene, seed, number of "
    "bodies, law and accuracy class. Both must be measured as the running system, or both by a sweep. If no such row "
    "is pinned, there is no speed-up: click the pin of a row, or press P to pin the present run.\n"
    "The accuracy class is the decade of the median error, such as 1e-4 to 1e-3. All errors up to 1e-5, such as "
    "those of direct sums in single precision, are one class.";

/// Gives the column of kernels its full width. Settings, which may be cut, get the rest of `width` (in pixels).
void give_kernels_room(std::vector<Column>& columns, float width) {
  float rest = width / em(1);
  for (const Column& column : columns) rest -= std::abs(column.width) + 2 * ImGui::GetStyle().CellPadding.x / em(1);
  columns[1].width = std::min(columns[1].width - rest, -least_settings);
}

std::vector<Column> columns_of(const Shown& shown, float width) {
  std::vector<Column> columns{{"kernel", -shown.kernel}};
  if (shown.settings_and_count) columns.push_back({"settings", -shown.settings});
  if (shown.scene) columns.push_back({"scene", -5});
  if (shown.law) columns.push_back({"law", -5});
  if (shown.integrator) columns.push_back({"integrator", -5});
  if (shown.time_step) columns.push_back({"dt", 4.2f});
  if (shown.settings_and_count) columns.push_back({"bodies", 4.4f});
  if (shown.swept)
    columns.push_back({"by", 2.6f, "How it was measured: by a sweep, or in the view as the running system."});
  columns.push_back(
      {"best median", 5.2f,
       "Time per step: the smallest median of 20 consecutive batches, or the median of a sweep's samples."});
  if (shown.rate) columns.push_back({"interactions/s", 5.6f});
  constexpr const char* latest = "From the latest comparison with sums in double precision.";
  columns.push_back({shown.tail ? "median error" : "error", shown.tail ? 4.9f : 3.6f, latest});
  if (shown.tail) columns.insert(columns.end(), {{"p99", 3.4f, latest}, {"max", 3.4f, latest}});
  columns.push_back({"speed-up", 4.2f, speedup_words});
  columns.push_back({"", 1.5f});
  if (shown.settings_and_count) give_kernels_room(columns, width);
  return columns;
}

/// Returns the number of a row in the column `name`; NaN if it is not known.
double number_of(const Result& row, std::string_view name) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto error = [&](double ForceError::*number) { return row.error ? (*row.error).*number : none; };
  if (name == "dt") return row.time_step;
  if (name == "bodies") return row.count;
  if (name == "by") return row.swept ? 1 : 0;
  if (name == "best median") return row.step_ms.median;
  if (name == "interactions/s") return row.interactions_per_s;
  if (name == "median error" || name == "error") return error(&ForceError::median);
  if (name == "p99") return error(&ForceError::p99);
  if (name == "max") return error(&ForceError::max);
  return name == "speed-up" ? row.speedup.value_or(none) : none;
}

/// Returns the text of a row in the column `name`; empty in columns of numbers.
std::string words_of(const Result& row, std::string_view name, std::span<const KernelPtr> kernels) {
  if (name == "kernel") return kernel_words(row);
  if (name == "settings") return changes_first(row, kernels);
  if (name == "scene") return scene_name(row);
  if (name == "law") return law_info(row.law.id).id;
  return name == "integrator" ? integrator_words(row) : "";
}

/// Returns the indices of `results` in sorted order. Rows without a value come last.
std::vector<int> sorted(const std::vector<Result>& results, const SortOrder& order,
                        std::span<const KernelPtr> kernels) {
  struct Key {
    int index;
    bool unknown;
    double number;
    std::string words;
  };
  std::vector<Key> keys;
  for (const Result& row : results) {
    std::string words = words_of(row, order.column, kernels);
    const double number = words.empty() ? number_of(row, order.column) : 0;
    const bool none = std::isnan(number) || order.column.empty();
    keys.push_back({static_cast<int>(keys.size()), none, none ? 0 : number, std::move(words)});
  }
  std::ranges::stable_sort(keys, [&](const Key& a, const Key& b) {
    if (a.unknown != b.unknown) return b.unknown;
    const auto before = [](const Key& x, const Key& y) {
      return std::tie(x.number, x.words) < std::tie(y.number, y.words);
    };
    return order.descending ? before(b, a) : before(a, b);
  });
  std::vector<int> indices;
  for (const Key& key : keys) indices.push_back(key.index);
  return indices;
}

std::string error_words(const Result& row) {
  if (!row.error) return "The error is not measured yet.";
  return fmt::format("Latest error: median {}, p99 {}, max {}", format_error(row.error->median),
                     format_error(row.error->p99), format_error(row.error->max));
}

void error_cells(const std::optional<ForceError>& error, const Shown& shown) {
  const auto cell = [&](double ForceError::*number) {
    number_cell(error ? format_error((*error).*number) : unknown, error_colour(error));
  };
  cell(&ForceError::median);
  if (!shown.tail) return;
  cell(&ForceError::p99);
  cell(&ForceError::max);
}

/// Shows all values of a row, including those that do not fit into the cells.
void row_tooltip(std::size_t index, const Status& status, const ViewStatus& view) {
  const Result& row = view.results[index];
  std::string speedup = why_no_speedup(view.results, index);
  if (!speedup.empty()) speedup += '\n';
  show_tooltip(
      fmt::format("{}  {}", kernel_words(row), row.settings),
      fmt::format("{}\n{}{}\n{}\n{}{}", system_words(row), format_rate(row.interactions_per_s, "interactions/s"),
                  row.swept ? ", by a sweep" : "", error_words(row), speedup, return_words(row, status)));
}

void result_row(int index, const Shown& shown, const Status& status, const ViewStatus& view, Requests& out) {
  const Result& row = view.results[static_cast<std::size_t>(index)];
  const bool clicked = row_button("result", index, kernel_words(row).c_str(), is_present(row, status));
  const bool hovered = ImGui::IsItemHovered();
  if (shown.settings_and_count) word_cell(row.settings.empty() ? unknown : changes_first(row, view.kernels));
  if (shown.scene) word_cell(scene_name(row));
  if (shown.law) word_cell(law_info(row.law.id).id);
  if (shown.integrator) word_cell(integrator_words(row));
  if (shown.time_step) number_cell(fmt::format("{:.4g}", row.time_step), theme::dim);
  if (shown.settings_and_count) number_cell(format_count(row.count), theme::dim);
  if (shown.swept) number_cell(row.swept ? "sweep" : "view", theme::dim);
  number_cell(format_ms(row.step_ms.median));
  if (shown.rate) number_cell(format_rate(row.interactions_per_s, "/s"));
  error_cells(row.error, shown);
  number_cell(row.speedup ? format_speedup(*row.speedup) : "", row.speedup > 1 ? theme::good : theme::text);
  const PinCell pin = pin_cell("pin", index, row.pinned);
  if (pin.clicked) out.push_back(PinResult{index, !row.pinned});
  if (clicked) return_to(row, status, out);
  if (pin.hovered) {
    show_tooltip(row.pinned ? "The baseline of the speed-ups. Click to unpin it." : "Click to make it the baseline.",
                 speedup_words);
  } else if (hovered) {
    row_tooltip(static_cast<std::size_t>(index), status, view);
  }
}

void save_and_clear(PanelState& state, Requests& out) {
  const float button = em(3.8f), gap = ImGui::GetStyle().ItemSpacing.x, room = ImGui::GetContentRegionAvail().x;
  const float buttons = 3 * (button + gap), field = std::clamp(room - buttons, em(2), em(9));
  const float first = ImGui::GetCursorPosX() + room - field - buttons;
  constexpr const char* note = "Speed-up over the pinned row.";
  if (first - ImGui::GetCursorPosX() > ImGui::CalcTextSize(note).x) {
    ImGui::AlignTextToFramePadding();
    text(note, theme::dim, theme::Font::small);
    ImGui::SameLine();
  }
  ImGui::SetCursorPosX(first);
  ImGui::SetNextItemWidth(field);
  bool pressed = text_field("results.file", "results.csv", state.results_file);
  ImGui::SameLine();
  pressed |= ImGui::Button("Export", {button, 0});
  ui_mark("results.export");
  if (pressed) out.push_back(ExportResults{path_of(state.results_file)});
  tooltip("Writes the table as CSV. Without a name: a new file in orrery-out.");
  ImGui::SameLine();
  if (ImGui::Button("Report", {button, 0})) out.push_back(SaveReport{});
  ui_mark("results.report");
  tooltip(
      "Writes a page for people with the picture, the results, plots, the settings and the machine, as HTML: a new "
      "file in orrery-out.");
  ImGui::SameLine();
  if (ImGui::Button("Clear", {button, 0})) out.push_back(ClearResults{});
  ui_mark("results.clear");
}

}  // namespace

ImU32 error_colour(const std::optional<ForceError>& error) {
  return error && !(error->median >= 0) ? theme::bad : theme::text;
}

namespace {

void results_content(const Status& status, const ViewStatus& view, PanelState& state, float height, Requests& out) {
  if (view.results.empty()) {
    text("This table gets a row for every run of at least one step.", theme::dim);
    return;
  }
  const Shown shown = shown_of(view.results, ImGui::GetContentRegionAvail().x);
  const int rows = static_cast<int>(view.results.size());
  const float below = ImGui::GetFrameHeightWithSpacing();
  SortOrder& order = state.lab.results_order;
  if (begin_rows("results", columns_of(shown, ImGui::GetContentRegionAvail().x), rows, height - below, &order)) {
    const std::vector<int> indices = sorted(view.results, order, view.kernels);
    ImGuiListClipper clipper;
    clipper.Begin(rows);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        result_row(indices[static_cast<std::size_t>(i)], shown, status, view, out);
      }
    }
    ImGui::EndTable();
  }
  save_and_clear(state, out);
}

}  // namespace

const Tab results_tab{"Results", "All runs that you tried, in order.", results_content};

}  // namespace orrery
