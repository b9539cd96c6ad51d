#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Where the time of one kernel with its settings goes: plain values.
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

}  // namespace orrery
