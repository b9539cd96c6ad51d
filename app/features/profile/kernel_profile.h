#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/text/csv.h"
#include "app/text/table.h"

namespace orrery {

/// The time of one kernel with its settings, and what it is spent on: plain values.
struct KernelProfile {
  std::string kernel_id{}, settings{};
  int kernel_version = 0;  ///< of a kernel file in a window: the edit; 0: of another kernel
  std::string scene{};     ///< a generator's id, or a file
  int count = 0;           ///< bodies
  std::string law{};       ///< "gravity, softening 0.05"; empty: not known
  std::string device{};    ///< the GPU or the processor
  bool on_gpu = false;
  std::string chip{};  ///< of the GPU, as CUPTI calls it; empty if there are no counters
  std::string part{};  ///< of the evaluation that the counters describe, such as "walk"; empty: all of it
  int passes = 0;      ///< runs that the counters took; 0: there are none
  std::map<std::string, double> stalls{};   ///< warps that wait at each issued instruction, by StallReason::id
  std::map<std::string, double> figures{};  ///< by ProfileFigure::id; one that is not known is missing
  std::vector<std::string> missing{};       ///< metrics that this chip does not have
  std::string problem{};  ///< why there are no counters and what cures it, one line; empty if there are

  /// NaN if it is not known.
  double figure(std::string_view id) const { return value_of(figures, id); }
  double stall(std::string_view reason) const { return value_of(stalls, reason); }
  /// "cuda-tiled block=256", "mine v3"
  std::string label() const {
    const std::string version = kernel_version > 0 ? " v" + std::to_string(kernel_version) : "";
    return kernel_id + version + (settings.empty() ? "" : ' ' + settings);
  }

 private:
  static double value_of(const std::map<std::string, double>& values, std::string_view id) {
    const auto found = values.find(std::string{id});
    return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  }
};

/// Why a warp does not issue an instruction.
struct StallReason {
  const char* id;           ///< as in the names of the GPU's metrics: "long_scoreboard"
  const char* title;        ///< "memory load"
  const char* meaning;      ///< one sentence
  const char* remedy;       ///< one sentence: which variants reduce it
  const char* source_term;  ///< what source 000 and its profiler call it; empty: it has no word for it
  bool waits = true;        ///< false: the warp issues, or could
};

/// All reasons of the GPUs from Volta on; each chip has most of them.
std::span<const StallReason> stall_reasons();

/// Null if there is none of this id.
const StallReason* find_stall_reason(std::string_view id);

/// "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
std::string stall_metric(const StallReason& reason);

/// One bar of a profile.
struct StallShare {
  const StallReason* reason;
  double warps;  ///< that wait at each issued instruction
  double share;  ///< of all resident warps, 0 to 1
};

/// Reasons below this share are shown together, or without their sentences.
inline constexpr double small_share = 0.005;

/// "57.1 %"; a small one as "0.04 %".
std::string share_text(double share);

/// The reasons of a profile, the greatest first. A value that is not finite or below 0 is left out.
std::vector<StallShare> stall_shares(const KernelProfile& profile);

/// Warps that wait at each issued instruction, for all reasons together; NaN if there are no counters.
double waiting_warps(const KernelProfile& profile);

/// Warps that wait at each issued instruction, for the reasons of one of the source's terms.
double waiting_warps(const KernelProfile& profile, std::string_view source_term);

/// A number of a profile.
struct ProfileFigure {
  const char* id;
  const char* title;
  const char* unit;      ///< as shown behind the number; empty: none
  const char* sentence;  ///< what it means
  /// GPU metrics that hold it; the first that the chip has is used. Empty: it is computed or measured otherwise.
  std::array<const char*, 2> metrics{};
  double scale = 1;         ///< from the metric to `unit`
  bool bar = false;         ///< a share of a limit, in percent
  bool of_machine = false;  ///< a limit, which no kernel changes
};

/// All figures, in the order in which they are shown. Which ones a profile has depends on the chip and on the backend.
std::span<const ProfileFigure> profile_figures();

/// Null if there is none of this id.
const ProfileFigure* find_profile_figure(std::string_view id);

/// "87.3 %", "1.83 T/s"; "-" if it is not finite.
std::string figure_text(const ProfileFigure& figure, double value);

/// All metrics that a profile of a CUDA kernel reads.
std::vector<std::string> profile_metrics();

/// (after - before) / before. 0 if both are 0; NaN if only `before` is 0, or one is not finite.
double relative_change(double before, double after);

/// "−37.85 %" with a real minus sign; "-" if it is NaN.
std::string change_text(double change);

/// The relative change of a figure. NaN if it is a limit of the machine: two measurements of it differ by chance.
double figure_change(const ProfileFigure& figure, const KernelProfile& before, const KernelProfile& after);

/// One number of two profiles.
struct ProfileChange {
  std::string id, title;
  double before = 0, after = 0;  ///< in the figure's unit, or warps; NaN: not known
  double change = 0;             ///< see relative_change()
};

/// All stalls together, the source's terms, every reason, and every figure that one of the two has but the machine's,
/// in this order.
std::vector<ProfileChange> profile_changes(const KernelProfile& before, const KernelProfile& after);

/// "cuda-tiled block=256", with the scene, bodies and law of `before` if those of `after` are others: "cuda-tiled
/// (plummer, 4,096 bodies, gravity, softening 0.05)".
std::string label_against(const KernelProfile& before, const KernelProfile& after);

/// "All stalls −37.85 %, execution dependency −12.10 %, time of an evaluation −20.00 %"; empty if nothing of it is
/// known.
std::string difference_line(const KernelProfile& before, const KernelProfile& after);

/// The profile as JSON.
Json profile_json(const KernelProfile& profile);
/// Reads what profile_json() wrote. What it does not know is left out. Throws std::runtime_error, one line.
KernelProfile profile_of(const Json& json);
/// The member "profiles" of a file of `orrery profile`. Throws as profile_of().
std::vector<KernelProfile> profiles_of(const Json& file);

inline constexpr std::array<std::string_view, 11> profile_columns{
    "kernel", "settings", "scene", "n", "device", "part", "kind", "name", "value", "unit", "change"};
/// One row for each number of a profile, as profile_columns names them. `before`: what it is compared with; null: with
/// nothing.
std::vector<std::vector<std::string>> profile_csv(const KernelProfile& profile, const KernelProfile* before);

/// The text of one profile: its figures, and its stall reasons with a bar and a sentence for each. `before`: the
/// profile to compare with, or null.
std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style);

}  // namespace orrery
