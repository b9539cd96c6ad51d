#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/ui_state/command.h"
#include "app/ui_state/status.h"
#include "compute/sim/command.h"

namespace orrery {

/// The one of `kernels` with this id; null if there is none.
const KernelInfo* known_kernel(std::span<const KernelPtr> kernels, std::string_view id);

/// Whether `trial` is running now.
bool is_present(const Trial& trial, const Status& status);
/// Requests a return to `trial`, unless it is running now.
void return_to(const Trial& trial, const Status& status, Requests& out);
/// Describes return_to(), for a tooltip.
std::string return_words(const Trial& trial, const Status& status);

/// The settings, the changed ones first: a cell may be too narrow for all.
std::string changes_first(const Trial& trial, std::span<const KernelPtr> kernels);

/// The generator's id, or the file's name without its folder.
std::string scene_name(const Trial& trial);
/// "collision, seed 1, 16,384 bodies", and on a second line the law, dt, constants and the integrator.
std::string system_words(const Trial& trial);

}  // namespace orrery
