#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct KernelProfile;

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
/// The same for the reasons of one of the source's terms.
double waiting_warps(const KernelProfile& profile, std::string_view source_term);

}  // namespace orrery
