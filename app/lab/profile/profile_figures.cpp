#include "app/lab/profile/profile_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/lab/profile/stall_reasons.h"
#include "app/text/table.h"

namespace orrery {
namespace {

constexpr ProfileFigure figures[] = {
    {"time_ms", "time of an evaluation", "ms", "One evaluation of all forces, measured without the profiler."},
    {"part_ms",
     "time with the counters",
     "ms",
     "The same with the profiler, which waits before and after. Of a tree: its walk.",
     {"gpu__time_duration.sum"},
     1e-6},
    {"part_share", "share of the evaluation", "%",
     "The time of the part that the counters describe, of the time of all parts."},
    {"interactions_per_s", "interactions", "/s", "Pairs of bodies per second. A tree counts those that it evaluates."},
    {"issue",
     "issue slots used",
     "%",
     "Cycles in which a scheduler issues an instruction. A direct sum is fast if this is high.",
     {"smsp__issue_active.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"occupancy",
     "achieved occupancy",
     "%",
     "Resident warps while the kernel runs, of the most that a multiprocessor holds.",
     {"sm__warps_active.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"fma",
     "FMA pipe",
     "%",
     "Use of the pipe for multiplications and additions in single precision.",
     {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"alu",
     "ALU pipe",
     "%",
     "Use of the pipe for comparisons and integers.",
     {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"xu",
     "XU pipe",
     "%",
     "Use of the special function units, which make the reciprocal square roots.",
     {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"tensor",
     "tensor pipe",
     "%",
     "Use of the units for matrix products.",
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"fp16",
     "FP16 pipe",
     "%",
     "Use of the pipe for arithmetic in half precision.",
     {"sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"fp64",
     "FP64 pipe",
     "%",
     "Use of the pipe for arithmetic in double precision.",
     {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"lsu",
     "load/store pipe",
     "%",
     "Use of the pipe for loads and stores.",
     {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"l1",
     "L1 throughput",
     "%",
     "The busiest part of the first cache, of its peak.",
     {"l1tex__throughput.avg.pct_of_peak_sustained_active"},
     1,
     true},
    {"l2",
     "L2 throughput",
     "%",
     "The busiest part of the second cache, of its peak.",
     {"lts__throughput.avg.pct_of_peak_sustained_elapsed"},
     1,
     true},
    {"dram",
     "DRAM throughput",
     "%",
     "The busiest part of the memory, of its peak.",
     {"dram__throughput.avg.pct_of_peak_sustained_elapsed"},
     1,
     true},
    {"instructions", "instructions", "", "Instructions of all warps.", {"smsp__inst_executed.sum"}},
    {"dram_bytes", "DRAM traffic", "B", "Bytes read from and written to memory.", {"dram__bytes.sum"}},
    {"bytes_per_interaction", "bytes per interaction", "B",
     "DRAM traffic divided by the interactions. Tiles and caches make it small."},
    {"flop_per_s", "FP32 rate", "flop/s",
     "Additions, multiplications and twice the fused ones per second in single precision, without those of the tensor "
     "pipe."},
    {"flop_per_byte", "FP32 operations per byte", "flop/B",
     "Those operations divided by the DRAM traffic: where the roofline plot shows the kernel."},
    {.id = "peak_flop_per_s",
     .title = "FP32 peak",
     .unit = "flop/s",
     .sentence = "As 'orrery info' measures it.",
     .of_machine = true},
    {"peak_dram_per_s",
     "DRAM peak",
     "B/s",
     "As 'orrery info' measures it: two arrays read and one written that no cache holds.",
     {},
     1,
     false,
     true},
    {"dram_limit_per_s",
     "DRAM limit",
     "B/s",
     "What the memory can move by its clock and width. No program comes quite near.",
     {"dram__bytes.sum.peak_sustained_elapsed.per_second", "dram__bytes.sum.peak_sustained.per_second"},
     1,
     false,
     true},
    {"clock_mhz",
     "clock",
     "MHz",
     "Of the multiprocessors, while the counters ran.",
     {"sm__cycles_elapsed.avg.per_second"},
     1e-6},
    {"power_w", "power", "W",
     "Of the board, while evaluations ran without the profiler; some GPUs give the mean of the last second."},
    {"ffma", "fused multiply-adds", "", "Of all threads.", {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"}},
    {"fadd", "additions", "", "Of all threads.", {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"}},
    {"fmul", "multiplications", "", "Of all threads.", {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"}},
    {"vector_bits", "vector width", "bit",
     "Of the instruction set that the kernel chose on this processor; 32 bit: it sums one number at a time."},
    {"threads", "threads", "", "That share the evaluation."},
    {"arithmetic", "arithmetic", "/interaction",
     "Vector instructions of arithmetic for an interaction under this law, counted per lane of 32 bit, as the kernel "
     "states them for its inner loop. Of a tree: the mean over bodies and cells."},
    {.id = "fma_limit_per_s",
     .title = "FMA limit",
     .unit = "/s",
     .sentence = "Fused multiply-adds per second that these threads reach in a loop of nothing else, counted per lane.",
     .of_machine = true},
    {"fma_share",
     "of the FMA limit",
     "%",
     "Arithmetic of the interactions, of what the FMA limit allows. Nothing else that the kernel does counts, such as "
     "the build of a tree. Not known if the kernel exceeded the limit that was measured.",
     {},
     1,
     true},
};

}  // namespace

std::span<const ProfileFigure> profile_figures() {
  return figures;
}

const ProfileFigure* find_profile_figure(std::string_view id) {
  const auto* const found =
      std::ranges::find(figures, id, [](const ProfileFigure& figure) { return std::string_view{figure.id}; });
  return found == std::end(figures) ? nullptr : found;
}

std::string figure_text(const ProfileFigure& figure, double value) {
  if (!std::isfinite(value)) return "-";
  const std::string_view unit = figure.unit;
  const char* const gap = unit.empty() || unit.starts_with('/') ? "" : " ";
  if (unit == "ms") return milliseconds(value);
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "bit" || unit == "MHz" || std::string_view{figure.id} == "threads") {
    return fmt::format("{:.0f}{}{}", value, gap, unit);
  }
  const bool large = std::abs(value) >= 1000;
  return fmt::format("{}{}{}", large ? with_prefix(value) : significant(value, 3), large ? "" : gap, unit);
}

std::vector<std::string> profile_metrics() {
  std::vector<std::string> metrics;
  for (const StallReason& reason : stall_reasons()) metrics.push_back(stall_metric(reason));
  for (const ProfileFigure& figure : figures) {
    for (const char* metric : figure.metrics) {
      if (metric) metrics.emplace_back(metric);
    }
  }
  return metrics;
}

}  // namespace orrery
