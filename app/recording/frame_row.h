#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compute/sim/command.h"

namespace orrery {

/// One frame of a recording. Times without a unit in the column's name are ms.
struct FrameRow {
  std::int64_t frame = 0;  ///< what StepTiming::tag names
  double time_s = 0;       ///< since the run began, never falling; also the clock by which rows go to disk
  std::int64_t step = 0;
  double sim_time = 0;
  std::string kernel{}, backend{}, block{}, settings{};  ///< block is empty if the kernel has no such tunable
  int n = 0;
  int steps = 0;                       ///< started in this frame
  std::optional<StepTiming> timing{};  ///< of those steps; usually filled in later. Stays empty where steps is 0
  std::optional<double> draw_ms{};     ///< empty: filled in later
  double gui_ms = 0, frame_ms = 0;
  std::string interop{};
  std::optional<ForceError> error{};  ///< of the forces; empty in a frame in which no comparison came in

  static constexpr std::array<std::string_view, 24> columns{"frame",
                                                            "time_s",
                                                            "step",
                                                            "sim_time",
                                                            "kernel",
                                                            "backend",
                                                            "block",
                                                            "settings",
                                                            "n",
                                                            "steps",
                                                            "map_ms",
                                                            "force_ms",
                                                            "integrate_ms",
                                                            "step_ms",
                                                            "unmap_ms",
                                                            "draw_ms",
                                                            "gui_ms",
                                                            "frame_ms",
                                                            "interactions_per_s",
                                                            "interop",
                                                            "error_median",
                                                            "error_p99",
                                                            "error_max",
                                                            "evaluations"};
  /// The row with its line end. force_ms, integrate_ms and step_ms are those of one step.
  std::string csv() const;
};

/// A row with everything that Status knows of a frame.
FrameRow frame_row(std::int64_t frame, double time_s, int steps, const Status& status);

}  // namespace orrery
