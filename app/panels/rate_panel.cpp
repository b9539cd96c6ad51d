#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "app/panels/kit/format.h"
#include "app/panels/kit/imgui_versions.h"
#include "app/panels/kit/plots.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"
#include "app/panels/shown_words.h"
#include "compute/kernels/kernel.h"

namespace orrery {
namespace {

using theme::em;

void cell(const std::string& value, const char* caption, const char* notes, std::string_view more = {},
          ImU32 colour = theme::text) {
  ImGui::TableNextColumn();
  ImGui::BeginGroup();
  text(value, colour, theme::Font::strong);
  text(caption, theme::dim, theme::Font::small);
  ImGui::EndGroup();
  tooltip(notes, more);
}

/// Shows FLOP/s for direct sums only. A tree's interactions with cells need more arithmetic.
void work_cell(const Status& status, const HeldTimes& times, double interactions_per_s) {
  const KernelInfo* kernel = status.kernel.get();
  if (!kernel || !kernel->is_tree) {
    static const std::string caption = fmt::format("at {} flop per interaction", flop_per_interaction);
    cell(format_rate(interactions_per_s * flop_per_interaction, "FLOP/s"), caption.c_str(),
         "Floating-point operations per second, counted as in the literature.");
    return;
  }
  cell(interactions_per_body(times, status.count), "interactions per body", interactions_per_body_words);
}

/// Describes the force comparison and its cost, for tooltips.
std::string probe_words(const Status& status, const ViewStatus& view) {
  if (!status.force_probe) return {};
  const ForceProbe& probe = *status.force_probe;
  return fmt::format("{} of {}, at step {}. Took {}{}.", format_count(probe.sample), counted_bodies(status.count),
                     format_count(probe.step), format_ms(probe.ms), cost_share(probe.ms, view.probe_gap_s));
}

void error_cells(const Status& status, const ViewStatus& view) {
  const std::string words = probe_words(status, view);
  const auto entry = [&](const char* caption, const char* notes, double ForceError::*number) {
    const bool known = status.force_probe.has_value();
    cell(known ? format_error(status.force_probe->error.*number) : unknown, caption, notes, words,
         error_colour(known ? std::optional{status.force_probe->error} : std::nullopt));
  };
  entry("median error",
        "Median of |da|/|a|: the running kernel's accelerations compared with "
        "sums in double precision.",
        &ForceError::median);
  entry("p99", "99 % of the bodies have at most this |da|/|a|.", &ForceError::p99);
  entry("max", "The largest |da|/|a|.", &ForceError::max);
}

/// Plots the ms per step of the latest batches, oldest at the left. The axis begins at 0.
void history_plot(std::span<const float> history, double median) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, em(2.6f)};
  ImGui::Dummy(size);
  ui_mark("history");
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(low, {low.x + size.x, low.y + size.y}, theme::track, em(0.4f));
  if (history.size() < 2) return;

  const float top = 1.15f * std::max(*std::max_element(history.begin(), history.end()), 1e-9f);
  const float floor = low.y + size.y;
  const auto y = [&](float ms) { return floor - ms / top * size.y; };
  const float dx = size.x / static_cast<float>(std::max<std::size_t>(history.size(), 60) - 1);
  float x = low.x + size.x - dx * static_cast<float>(history.size() - 1);
  for (std::size_t i = 0; i + 1 < history.size(); ++i, x += dx) {
    const ImVec2 a{x, y(history[i])}, b{x + dx, y(history[i + 1])};
    draw.AddQuadFilled(a, b, {b.x, floor}, {a.x, floor}, theme::faded(theme::accent, 0.16f));
    draw.AddLine(a, b, theme::accent, em(0.09f));
  }
  if (median > 0 && median < top) {
    const float middle = y(static_cast<float>(median));
    draw.AddLine({low.x, middle}, {low.x + size.x, middle}, theme::faded(theme::text, 0.25f), 1);
  }
  if (ImGui::IsItemHovered()) {
    const auto [least, most] = std::minmax_element(history.begin(), history.end());
    tooltip(fmt::format("{} to {}", format_ms(*least), format_ms(*most)),
            fmt::format("ms per step of the last {} batches, from 0. The line is the median.", history.size()));
  }
}

}  // namespace

void rate_panel(const Status& status, const ViewStatus& view, const HeldTimes& times) {
  const bool known = view.measured > 0 && view.step_ms_median > 0;
  const double rate = known ? status.interactions_per_step / (view.step_ms_median * 1e-3) : 0;

  const float top = ImGui::GetCursorPosY() - em(0.25f);
  ImGui::SetCursorPosY(top);
  text(format_rate(rate, ""), theme::accent, theme::Font::headline);
  ui_mark("rate");
  tooltip("Interactions per step divided by the median time of a step.",
          "A direct sum has n\u00b2 of them. A tree counts those that it evaluated, with bodies and cells.");
  ImGui::SameLine();
  ImGui::SetCursorPosY(top + font_size(*theme::font(theme::Font::headline)) - em(1.3f));
  text("interactions/s", theme::dim);
  if (status.busy && status.backend == Backend::cpu && (!known || status.timing.step_ms > 50)) {
    ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - em(1));
    ImGui::SetCursorPosY(top + em(0.8f));
    spinner(theme::warn);
    tooltip("The CPU is computing a step. You can use the window meanwhile.");
  }
  ImGui::SetCursorPosY(top + font_size(*theme::font(theme::Font::headline)) + em(0.2f));

  // Tight rows: a caption is nearer to its own number than to the next one.
  const ImVec2 padding = ImGui::GetStyle().CellPadding, spacing = ImGui::GetStyle().ItemSpacing;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding.x, em(0.25f)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {spacing.x, 0});
  if (ImGui::BeginTable("rates", 3)) {
    ImGui::TableSetupColumn("work", ImGuiTableColumnFlags_WidthStretch, 1.5f);
    ImGui::TableSetupColumn("last", ImGuiTableColumnFlags_WidthStretch, 1);
    ImGui::TableSetupColumn("median", ImGuiTableColumnFlags_WidthStretch, 1);
    work_cell(status, times, rate);
    const char* const slower = slower_words(status, view);
    cell(times.step_known ? format_ms(times.step.step_ms) : unknown, "last step", "Time per step of the latest batch.",
         slower);
    const std::string median = fmt::format("median of {}", std::max(view.measured, 1));
    cell(known ? format_ms(view.step_ms_median) : unknown, known ? median.c_str() : "median",
         "Median time per step of at most the last 120 batches.", slower);
    error_cells(status, view);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar(2);
  ImGui::Dummy({0, 0});
  history_plot(view.step_ms_history, view.step_ms_median);
}
namespace {

void step_bar(const HeldTimes& held) {
  const StepTiming& step = held.step;
  const TimePart parts[] = {
      {"force", step.force_ms, held.step_known, theme::blue, "The force kernel, per step."},
      {"integrate", step.integrate_ms, held.step_known, theme::violet, "Update of velocities and positions, per step."},
  };
  time_head("Step", held.step_known ? format_ms(step.step_ms) : unknown);
  time_bar("step-time", parts, step.step_ms);
  tooltip("The parts of the latest step's time.",
          "Steps run on the GPU or on other threads while frames are drawn, so a step may take longer than a frame.");
  time_legend("step-parts", parts);
}

/// Returns the maximum work time of a device divided by the mean.
double imbalance_of(const std::vector<DeviceLoad>& devices) {
  double sum = 0, longest = 0;
  for (const DeviceLoad& load : devices) {
    sum += load.work_ms;
    longest = std::max(longest, load.work_ms);
  }
  return sum > 0 ? longest * static_cast<double>(devices.size()) / sum - 1 : 0;
}

std::array<TimePart, 3> parts_of(const DeviceLoad& load) {
  return {{{"work", load.work_ms, true, theme::blue,
            "On average over the devices: its own part, and what it does for all."},
           {"copies", load.copy_ms, true, theme::warn, "Bodies and results, from device to device."},
           {"waiting", load.wait_ms, true, theme::slate, "For what other devices do first."}}};
}

/// Draws one bar per device, if there are several. Below the last bar are the names of the parts with their means.
void device_bars(const std::vector<DeviceLoad>& devices) {
  if (devices.empty()) return;
  ImGui::Dummy({0, 0});
  double whole_ms = 0;
  for (const DeviceLoad& load : devices) whole_ms = std::max(whole_ms, load.work_ms + load.copy_ms + load.wait_ms);
  time_head("Devices", fmt::format("{}  \u2022  imbalance {:.0f} %", format_ms(whole_ms), 100 * imbalance_of(devices)));
  const auto count = static_cast<double>(devices.size());
  DeviceLoad mean;
  for (const DeviceLoad& load : devices) {
    time_bar(fmt::format("device.{}", load.device).c_str(), parts_of(load), whole_ms);
    tooltip(fmt::format("Device {}, in one evaluation of the forces", load.device),
            fmt::format("work {}, copies {}, waiting {}", format_ms(load.work_ms), format_ms(load.copy_ms),
                        format_ms(load.wait_ms)));
    mean.work_ms += load.work_ms / count;
    mean.copy_ms += load.copy_ms / count;
    mean.wait_ms += load.wait_ms / count;
  }
  time_legend("device-parts", parts_of(mean));
}

void frame_bar(const HeldTimes& held) {
  const FrameTimes& times = held.frame;
  const bool known = held.frame_known, mapped = known && held.step_known;
  const double map_ms = mapped ? times.map_ms + times.unmap_ms : 0;
  const double rest_ms = times.frame_ms - map_ms - times.draw_ms - times.gui_ms - times.swap_ms;
  const TimePart parts[] = {
      {"map", map_ms, mapped, theme::cyan,
       "CPU time to map and unmap the drawn buffer, or to copy the bodies into it: once per batch of steps, in "
       "the frame of its last step."},
      {"draw", times.draw_ms, known, theme::good, "GPU time of drawing the bodies."},
      {"panel", times.gui_ms, known, theme::warn, "CPU time of building and submitting these panels."},
      {"swap", times.swap_ms, known, theme::slate, "Waiting in the buffer swap, mostly for the display."},
      {"rest", std::max(rest_ms, 0.0), known, theme::pale, "The rest of the frame's time."},
  };
  const bool several = held.step_known && held.step.steps > 1;
  time_head(
      several ? fmt::format("Frame with {}", counted(held.step.steps, "step")) : "Frame",
      known ? fmt::format("{}  \u2022  {}", format_ms(times.frame_ms), format_frames_per_s(times.frame_ms)) : unknown);
  time_bar("frame", parts, times.frame_ms);
  tooltip("The parts of the frame's time.",
          "Drawing is GPU time and overlaps the wait in the swap, so the parts may add up to more than the frame.");
  time_legend("frame-parts", parts);
}

}  // namespace

void hold_times(const Status& status, const ViewStatus& view, HeldTimes& held) {
  constexpr double hold_s = 0.2;
  const double now = ImGui::GetTime();
  const bool step_known = view.measured > 0 && status.timing.steps > 0, frame_known = view.times.frame_ms > 0;
  const bool other = step_known != held.step_known || frame_known != held.frame_known ||
                     status.tree.has_value() != held.tree.has_value() ||
                     status.device_loads.size() != held.devices.size();
  if (!other && now < held.until) return;
  held = {view.times, status.timing, status.tree, status.device_loads, step_known, frame_known, now + hold_s};
}

void frame_panel(const HeldTimes& times) {
  step_bar(times);
  device_bars(times.devices);
  ImGui::Dummy({0, 0});  // a gap, so that the parts above are nearer to their own bar
  frame_bar(times);
}

}  // namespace orrery
