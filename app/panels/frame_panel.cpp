#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>

#include "app/panels/kit/format.h"
#include "app/panels/kit/time_bar.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/sections.h"

namespace orrery {
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

/// How much longer the busiest device works than the devices do on average.
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

/// A bar for each of several devices. The names of the parts stand once, below the last bar, with their means.
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
  ImGui::Dummy({0, 0});  // its parts are nearer to their bar than to the next one
  frame_bar(times);
}

}  // namespace orrery
