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

/// Measured time of one kernel with its settings, with its stall reasons and other figures.
struct KernelProfile {
  std::string kernel_id{}, settings{};
  int kernel_version = 0;  ///< version of a kernel file edited in the window; 0: other kernels
  std::string scene{};     ///< id of a generated scene, or a file name
  int count = 0;           ///< number of bodies
  std::string law{};       ///< "gravity, softening 0.05"; empty: not known
  std::string device{};    ///< name of the GPU or processor
  bool on_gpu = false;
  std::string chip{};  ///< name of the GPU's chip in CUPTI; empty: no counters
  std::string part{};  ///< part of the evaluation that the counters cover, such as "walk"; empty: all of it
  int passes = 0;      ///< number of runs in which the counters were read; 0: no counters
  std::map<std::string, double> stalls{};   ///< waiting warps per issued instruction, by StallReason::id
  std::map<std::string, double> figures{};  ///< values by ProfileFigure::id; an unknown value is missing
  std::vector<std::string> missing{};       ///< metrics that this chip does not have
  std::string problem{};  ///< one line: why there are no counters, and how to fix that; empty if there are

  /// Return the value with this id; NaN if it is not known.
  double figure(std::string_view id) const { return value_of(figures, id); }
  double stall(std::string_view reason) const { return value_of(stalls, reason); }
  /// Returns the kernel with its settings and version: "cuda-tiled block=256", "mine v3".
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

/// A reason why a warp does not issue an instruction.
struct StallReason {
  const char* id;           ///< id in the names of the GPU's metrics: "long_scoreboard"
  const char* title;        ///< "memory load"
  const char* meaning;      ///< one sentence
  const char* remedy;       ///< one sentence: which variants reduce the stalls
  const char* source_term;  ///< term in "Brute Force N-Body Optimization" and its profiler; empty: none
  bool waits = true;        ///< false: the warp issues, or could issue
};

/// Returns all stall reasons of GPUs since Volta. A chip may lack some of them.
std::span<const StallReason> stall_reasons();

/// Returns the reason with this id; null if there is none.
const StallReason* find_stall_reason(std::string_view id);

/// Returns the metric's name: "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio".
std::string stall_metric(const StallReason& reason);

/// One stall reason in a profile, drawn as a bar.
struct StallShare {
  const StallReason* reason;
  double warps;  ///< waiting warps per issued instruction
  double share;  ///< share of all resident warps, 0 to 1
};

/// Reasons with a smaller share are combined, or shown without their sentences.
inline constexpr double small_share = 0.005;

/// Formats a fraction of 1: "57.1 %"; one below small_share has two decimals: "0.04 %".
std::string share_text(double share);

/// Returns the stall reasons of a profile, largest first. Leaves out values that are negative or not finite.
std::vector<StallShare> stall_shares(const KernelProfile& profile);

/// Returns the waiting warps per issued instruction, summed over all reasons. NaN if there are no counters.
double waiting_warps(const KernelProfile& profile);

/// Returns the waiting warps per issued instruction, summed over the reasons with this StallReason::source_term.
double waiting_warps(const KernelProfile& profile, std::string_view source_term);

/// Description of one number of a profile.
struct ProfileFigure {
  const char* id;
  const char* title;
  const char* unit;      ///< shown after the number; empty: none
  const char* sentence;  ///< meaning, in one sentence
  /// GPU metrics that measure it; the first that the chip has is used. Empty: the figure is not a GPU metric.
  std::array<const char*, 2> metrics{};
  double scale = 1;         ///< factor from the metric to `unit`
  bool bar = false;         ///< drawn as a bar: a share of a limit, in percent
  bool of_machine = false;  ///< a limit of the machine, the same for all kernels
};

/// Returns all figures, in display order. A profile has only the figures that its chip and backend provide.
std::span<const ProfileFigure> profile_figures();

/// Returns the figure with this id; null if there is none.
const ProfileFigure* find_profile_figure(std::string_view id);

/// Formats a value with the figure's unit: "87.3 %", "1.83 T/s"; "-" if it is not finite.
std::string figure_text(const ProfileFigure& figure, double value);

/// Returns the names of all GPU metrics that a profile of a CUDA kernel reads.
std::vector<std::string> profile_metrics();

/// Returns (after - before) / before. 0 if both are 0; NaN if only `before` is 0, or if one is not finite.
double relative_change(double before, double after);

/// Formats a relative change: "−37.85 %", with the minus sign U+2212; "-" if it is NaN.
std::string change_text(double change);

/// Returns the relative change of a figure. NaN for a limit of the machine, which differs only by chance.
double figure_change(const ProfileFigure& figure, const KernelProfile& before, const KernelProfile& after);

/// One number in two profiles.
struct ProfileChange {
  std::string id, title;
  double before = 0, after = 0;  ///< in the figure's unit, or in warps; NaN: not known
  double change = 0;             ///< see relative_change()
};

/// Returns the changes of all stalls together, of each source_term, of each reason, and of the figures that at least
/// one profile has, in this order. Leaves out limits of the machine.
std::vector<ProfileChange> profile_changes(const KernelProfile& before, const KernelProfile& after);

/// Returns the label of `before`: "cuda-tiled block=256". If its scene, bodies or law differ from those of `after`,
/// adds them: "cuda-tiled (plummer, 4,096 bodies, gravity, softening 0.05)".
std::string label_against(const KernelProfile& before, const KernelProfile& after);

/// Returns the main changes in a line: "all stalls −37.85 %, execution dependency −12.10 %, time of an evaluation
/// −20.00 %". Empty if none of them is known.
std::string difference_line(const KernelProfile& before, const KernelProfile& after);

/// Returns the profile as JSON, for profile_of().
Json profile_json(const KernelProfile& profile);
/// Reads JSON of profile_json(). Ignores unknown members. Throws std::runtime_error, one line.
KernelProfile profile_of(const Json& json);
/// Reads the member "profiles" of a JSON file of `orrery profile`. Throws what profile_of() throws.
std::vector<KernelProfile> profiles_of(const Json& file);

inline constexpr std::array<std::string_view, 11> profile_columns{
    "kernel", "settings", "scene", "n", "device", "part", "kind", "name", "value", "unit", "change"};
/// Returns one CSV row with the columns profile_columns for each number of a profile. `before` is the profile to
/// compare with, or null.
std::vector<std::vector<std::string>> profile_csv(const KernelProfile& profile, const KernelProfile* before);

/// Returns a profile as text: its figures, and its stall reasons with a bar and a sentence for each. `before` is the
/// profile to compare with, or null.
std::string profile_text(const KernelProfile& profile, const KernelProfile* before, const TextStyle& style);

}  // namespace orrery
