#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/ui_state/status.h"
#include "app/ui_state/window_commands.h"
#include "compute/sim/command.h"

namespace orrery {

/// Choice of SelectNextKernel, and the kernels that it passes over.
struct NextKernel {
  static constexpr double longest_step_s = 0.5;

  std::string id;                 ///< of a kernel, or auto_kernel; the present one if there is no other
  std::vector<std::string> slow;  ///< ids of the kernels on the way that would need more than longest_step_s per step
  /// One line about them; empty if there are none.
  std::string notice() const;
};

/// Goes through `auto` and the kernels that can run here, in the order of the list; after the last comes the first.
/// `results` are the measured times to go by.
NextKernel next_kernel(const Status& status, const ViewStatus& view, std::span<const Result> results,
                       Direction direction);

/// Time of a step of `status` with this kernel, in s: from `results` if the kernel is there, otherwise a guess. 0 if
/// nothing is known of such a kernel: a GPU's, or a tree.
double forecast_step_s(const KernelInfo& kernel, const Status& status, std::span<const Result> results);
/// The same for one evaluation, of every kernel of which something is known, by its id.
std::map<std::string, double, std::less<>> evaluation_times(std::span<const KernelPtr> kernels, const Status& status,
                                                            std::span<const Result> results);

}  // namespace orrery
