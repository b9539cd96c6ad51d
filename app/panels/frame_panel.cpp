#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

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
                     status.tree.has_value() != held.tree.has_value();
  if (!other && now < held.until) return;
  held = {view.times, status.timing, status.tree, step_known, frame_known, now + hold_s};
}

void frame_panel(const HeldTimes& times) {
  step_bar(times);
  ImGui::Dummy({0, 0});  // its parts are nearer to their bar than to the next one
  frame_bar(times);
}

}  // namespace orrery
