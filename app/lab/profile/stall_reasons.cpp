#include "app/lab/profile/stall_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/lab/profile/kernel_profile.h"

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

}  // namespace orrery
