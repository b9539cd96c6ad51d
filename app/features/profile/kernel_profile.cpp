// Profiles of kernels: stall reasons, figures, and the changes between two profiles.
#include "app/features/profile/kernel_profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "app/text/table.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr const char* execution = "execution dependency";
constexpr const char* memory = "memory dependency";
constexpr const char* throttle = "memory throttle";
constexpr const char* pipe = "pipe busy";
constexpr const char* synchronization = "synchronization";

constexpr std::array reasons{
    StallReason{"selected", "issues", "The warp issues an instruction.", "This is no stall: more of it is better.", "",
                false},
    StallReason{"not_selected", "ready, another issues", "The warp is ready, but the scheduler issues another one.",
                "This is no stall: the scheduler is busy, and fewer instructions per interaction (cuda-symmetric, "
                "cuda-tensor) are what helps.",
                "", false},
    StallReason{"wait", "fixed latency", "The warp waits for the result of an arithmetic instruction before it.",
                "More independent work reduces it: unroll, or several bodies per thread (cuda-tiled, cuda-symmetric).",
                execution},
    StallReason{"short_scoreboard", "shared memory or MUFU",
                "The warp waits for shared memory, or for a reciprocal square root.",
                "Several bodies per thread use each load more often (cuda-tiled, cuda-symmetric), and cuda-constant "
                "reads bodies without shared memory.",
                execution},
    StallReason{"long_scoreboard", "global memory", "The warp waits for a load from global or local memory.",
                "Tiles in shared memory load each body once per block: cuda-tiled in place of cuda-naive.", memory},
    StallReason{"dispatch_stall", "dispatch", "The dispatcher holds the instruction back, mostly for register reads.",
                "Fewer fresh register operands reduce it: cuda-tensor, or another number of bodies per thread.", ""},
    StallReason{"math_pipe_throttle", "arithmetic pipe full", "The arithmetic pipe that the warp needs is busy.",
                "Fewer operations per interaction reduce it: cuda-symmetric and cuda-tensor.", pipe},
    StallReason{"mio_throttle", "shared memory queue full",
                "The queue for shared memory, special functions and shuffles is full.",
                "Several bodies per thread reduce it (cuda-tiled), and so does a kernel without shuffles in place of "
                "cuda-shuffle.",
                pipe},
    StallReason{"lg_throttle", "global memory queue full", "The queue for global and local memory is full.",
                "Fewer and wider accesses reduce it: layout=float4, and tiles (cuda-tiled) in place of cuda-naive or "
                "cuda-atomic.",
                throttle},
    StallReason{"tex_throttle", "texture queue full", "The queue of the texture unit is full.",
                "No kernel here reads textures; fewer loads reduce it.", "texture"},
    StallReason{"barrier", "barrier", "The warp waits for the other warps of its block at a barrier.",
                "Smaller blocks and larger tiles reduce it, and so do kernels without shared tiles: cuda-naive, "
                "cuda-shuffle.",
                synchronization},
    StallReason{"membar", "memory fence", "The warp waits until its writes to memory are visible.",
                "Only kernels that build a tree or add partial sums need it; a smaller split reduces it.",
                synchronization},
    StallReason{"branch_resolving", "branch", "The warp waits for the target of a branch.",
                "Longer unrolled loops and laws without branches reduce it: cuda-tiled in place of cuda-branchy.", ""},
    StallReason{"no_instruction", "instruction fetch", "The next instruction is not in the instruction cache yet.",
                "Less unrolling reduces it; a very short kernel cannot avoid it.", "instruction fetch"},
    StallReason{"imc_miss", "constant cache miss", "The warp waits for the constant cache.",
                "Reading in the same order in all warps reduces it; of the direct sums only cuda-constant reads much "
                "constant memory.",
                "constant memory dependency"},
    StallReason{"drain", "last writes", "The warp has ended and waits until its last writes have left.",
                "Fewer writes reduce it: no atomic additions (cuda-atomic), a smaller split.", throttle},
    StallReason{"sleeping", "sleep", "All threads of the warp sleep on request.",
                "Only locks do that: cuda-tree in place of cuda-tree-lock.", ""},
    StallReason{"gmma", "tensor pipe", "The warp waits for a matrix operation of the whole warp group.",
                "No kernel here uses warp group matrices; cuda-tensor uses the smaller ones.", ""},
    StallReason{"misc", "other", "The hardware gives no other reason.", "No variant is known to reduce it.", ""},
};

bool counts(double warps) {
  return std::isfinite(warps) && warps >= 0;
}

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

constexpr const char* all_stalls = "all stalls";

/// Returns every StallReason::source_term once.
std::vector<std::string_view> source_terms() {
  std::vector<std::string_view> terms;
  for (const StallReason& reason : stall_reasons()) {
    const std::string_view term = reason.source_term;
    if (!term.empty() && std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
  }
  return terms;
}

void add_change(std::vector<ProfileChange>& changes, std::string id, std::string title, double before, double after) {
  if (std::isnan(before) && std::isnan(after)) return;
  changes.push_back({std::move(id), std::move(title), before, after, relative_change(before, after)});
}

}  // namespace

std::span<const StallReason> stall_reasons() {
  return reasons;
}

const StallReason* find_stall_reason(std::string_view id) {
  const auto found =
      std::ranges::find(reasons, id, [](const StallReason& reason) { return std::string_view{reason.id}; });
  return found == reasons.end() ? nullptr : &*found;
}

std::string stall_metric(const StallReason& reason) {
  return std::string{"smsp__average_warps_issue_stalled_"} + reason.id + "_per_issue_active.ratio";
}

std::vector<StallShare> stall_shares(const KernelProfile& profile) {
  std::vector<StallShare> shares;
  double all = 0;
  for (const StallReason& reason : reasons) {
    const double warps = profile.stall(reason.id);
    if (!counts(warps)) continue;
    shares.push_back({&reason, warps, 0});
    all += warps;
  }
  for (StallShare& share : shares) share.share = all > 0 ? share.warps / all : 0;
  std::ranges::stable_sort(shares, std::ranges::greater{}, &StallShare::warps);
  return shares;
}

std::string share_text(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < small_share ? 2 : 1);
}

double waiting_warps(const KernelProfile& profile) {
  double sum = 0;
  bool any = false;
  for (const StallShare& share : stall_shares(profile)) {
    any = true;
    if (share.reason->waits) sum += share.warps;
  }
  return any ? sum : std::numeric_limits<double>::quiet_NaN();
}

double waiting_warps(const KernelProfile& profile, std::string_view source_term) {
  double sum = 0;
  bool any = false;
  for (const StallShare& share : stall_shares(profile)) {
    if (share.reason->source_term != source_term) continue;
    any = true;
    sum += share.warps;
  }
  return any ? sum : std::numeric_limits<double>::quiet_NaN();
}

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

double relative_change(double before, double after) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(before) || !std::isfinite(after)) return unknown;
  if (before == after) return 0;
  return before == 0 ? unknown : (after - before) / before;
}

std::string change_text(double change) {
  if (!std::isfinite(change)) return "-";
  const std::string digits = fmt::format("{:.2f} %", 100 * std::abs(change));
  if (digits == "0.00 %") return digits;
  return (change < 0 ? "\u2212" : "+") + digits;
}

double figure_change(const ProfileFigure& figure, const KernelProfile& before, const KernelProfile& after) {
  if (figure.of_machine) return std::numeric_limits<double>::quiet_NaN();
  return relative_change(before.figure(figure.id), after.figure(figure.id));
}

std::vector<ProfileChange> profile_changes(const KernelProfile& before, const KernelProfile& after) {
  std::vector<ProfileChange> changes;
  add_change(changes, "stalls", all_stalls, waiting_warps(before), waiting_warps(after));
  for (const std::string_view term : source_terms()) {
    add_change(changes, "stalls." + std::string{term}, std::string{term}, waiting_warps(before, term),
               waiting_warps(after, term));
  }
  for (const StallReason& reason : stall_reasons()) {
    add_change(changes, std::string{"stall."} + reason.id, reason.title, before.stall(reason.id),
               after.stall(reason.id));
  }
  for (const ProfileFigure& figure : profile_figures()) {
    if (figure.of_machine) continue;
    add_change(changes, figure.id, figure.title, before.figure(figure.id), after.figure(figure.id));
  }
  return changes;
}

std::string label_against(const KernelProfile& before, const KernelProfile& after) {
  const bool same_law = before.law.empty() || before.law == after.law;  // empty: from an older version
  if (before.scene == after.scene && before.count == after.count && same_law) return before.label();
  return fmt::format("{} ({}, {} bodies{}{})", before.label(), before.scene, format_count(before.count),
                     before.law.empty() ? "" : ", ", before.law);
}

std::string difference_line(const KernelProfile& before, const KernelProfile& after) {
  constexpr std::array<std::string_view, 4> named{"stalls", "stalls.execution dependency", "stalls.memory dependency",
                                                  "time_ms"};
  std::string line;
  for (const ProfileChange& change : profile_changes(before, after)) {
    if (!std::isfinite(change.change) || std::ranges::find(named, change.id) == named.end()) continue;
    line += (line.empty() ? "" : ", ") + change.title + ' ' + change_text(change.change);
  }
  return line;
}

namespace {

constexpr const char* not_a_profile = "this is no profile of 'orrery profile --json'";

Json numbers_json(const std::map<std::string, double>& numbers) {
  Json json = Json::object();
  for (const auto& [id, value] : numbers) json[id] = json_number(value);
  return json;
}

/// Returns the numbers in the member `name` whose id is known. Skips null, which means a number that is not finite.
template <class Known>
std::map<std::string, double> numbers_of(const Json& json, const char* name, Known known) {
  std::map<std::string, double> numbers;
  const auto found = json.find(name);
  if (found == json.end()) return numbers;
  if (!found->is_object()) throw std::runtime_error(not_a_profile);
  for (const auto& [id, value] : found->items()) {
    if (value.is_number() && known(id)) numbers[id] = value.template get<double>();
  }
  return numbers;
}

template <class T>
void read_member(const Json& json, const char* name, T& value) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return;
  try {
    value = found->get<T>();
  } catch (const Json::exception&) {
    throw std::runtime_error(std::string{not_a_profile} + ": its member '" + name + "' has another type");
  }
}

}  // namespace

Json profile_json(const KernelProfile& profile) {
  return {{"kernel", profile.kernel_id},
          {"settings", profile.settings},
          {"scene", profile.scene},
          {"n", profile.count},
          {"law", profile.law},
          {"device", profile.device},
          {"on_gpu", profile.on_gpu},
          {"chip", profile.chip},
          {"part", profile.part},
          {"passes", profile.passes},
          {"figures", numbers_json(profile.figures)},
          {"stalls", numbers_json(profile.stalls)},
          {"missing", profile.missing},
          {"problem", profile.problem}};
}

KernelProfile profile_of(const Json& json) {
  if (!json.is_object() || !json.contains("kernel")) throw std::runtime_error(not_a_profile);
  KernelProfile profile;
  read_member(json, "kernel", profile.kernel_id);
  read_member(json, "settings", profile.settings);
  read_member(json, "scene", profile.scene);
  read_member(json, "n", profile.count);
  read_member(json, "law", profile.law);
  read_member(json, "device", profile.device);
  read_member(json, "on_gpu", profile.on_gpu);
  read_member(json, "chip", profile.chip);
  read_member(json, "part", profile.part);
  read_member(json, "passes", profile.passes);
  read_member(json, "missing", profile.missing);
  read_member(json, "problem", profile.problem);
  profile.figures = numbers_of(json, "figures", [](const std::string& id) { return find_profile_figure(id); });
  profile.stalls = numbers_of(json, "stalls", [](const std::string& id) { return find_stall_reason(id); });
  return profile;
}

std::vector<KernelProfile> profiles_of(const Json& file) {
  const auto found = file.is_object() ? file.find("profiles") : file.end();
  if (found == file.end() || !found->is_array()) throw std::runtime_error(not_a_profile);
  std::vector<KernelProfile> profiles;
  for (const Json& profile : *found) profiles.push_back(profile_of(profile));
  return profiles;
}

std::vector<std::vector<std::string>> profile_csv(const KernelProfile& profile, const KernelProfile* before) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* kind, const char* id, double value, const char* unit, double change) {
    rows.push_back({profile.kernel_id, profile.settings, profile.scene, std::to_string(profile.count), profile.device,
                    profile.part, kind, id, csv_number(value), unit, csv_number(change)});
  };
  const KernelProfile none;
  const KernelProfile& earlier = before ? *before : none;
  for (const ProfileFigure& figure : profile_figures()) {
    if (profile.figures.contains(figure.id)) {
      add("figure", figure.id, profile.figure(figure.id), figure.unit, figure_change(figure, earlier, profile));
    }
  }
  for (const StallShare& share : stall_shares(profile)) {
    add("stall", share.reason->id, share.warps, "warps", relative_change(earlier.stall(share.reason->id), share.warps));
  }
  return rows;
}

namespace {

std::string stall_bar(double share) {
  constexpr double most = 30;
  return std::string(static_cast<std::size_t>(std::lround(most * std::clamp(share, 0.0, 1.0))), '#');
}

std::string figures_table(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  Table table{"lrrt", {"figure", "value", before ? "change" : "", "meaning"}, {"meaning"}};
  for (const ProfileFigure& figure : profile_figures()) {
    const double value = profile.figure(figure.id);
    if (!std::isfinite(value)) continue;
    table.add({figure.title, figure_text(figure, value),
               before ? change_text(figure_change(figure, *before, profile)) : "", figure.sentence});
  }
  return table.text(style);
}

std::string stalls_table(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  Table table{"lrrrl", {"why a warp waits", "warps", "share", before ? "change" : "", ""}, {""}};
  std::string sentences;
  for (const StallShare& share : stall_shares(profile)) {
    table.add({share.reason->title, fmt::format("{:.3f}", share.warps), share_text(share.share),
               before ? change_text(relative_change(before->stall(share.reason->id), share.warps)) : "",
               stall_bar(share.share)});
    if (share.share < small_share) continue;
    sentences +=
        paragraph(fmt::format("{}: {} {}", share.reason->title, share.reason->meaning, share.reason->remedy), style, 2);
  }
  return '\n' + paragraph("Warps in each state at each issued instruction, the most first.", style) +
         table.text(style) + sentences;
}

}  // namespace

std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style) {
  std::string title =
      fmt::format("{}, {} of {}, {}", profile.label(), counted_bodies(profile.count), profile.scene, profile.device);
  if (!profile.part.empty()) title += fmt::format("; counters of its longest part, the phase '{}'", profile.part);
  std::string text = '\n' + paragraph(title, style) + figures_table(profile, before, style);
  if (!profile.stalls.empty()) text += stalls_table(profile, before, style);
  if (before) {
    const std::string line = difference_line(*before, profile);
    if (!line.empty()) text += paragraph(fmt::format("Against {}: {}.", label_against(*before, profile), line), style);
  }
  if (!profile.problem.empty()) text += paragraph((profile.on_gpu ? "No counters: " : "") + profile.problem, style);
  if (!profile.missing.empty() && profile.passes > 0) {
    text += paragraph(fmt::format("This chip ({}) does not have: {}.", profile.chip, fmt::join(profile.missing, ", ")),
                      style);
  }
  return text;
}

}  // namespace orrery
