#include "app/lab/settings_cells.h"

#include <algorithm>
#include <string_view>

namespace orrery {
namespace {

/// This build may not have the kernel: tables also show results of earlier runs.
bool is_initial(const std::string& kernel_id, const std::string& name, const std::string& value) {
  const auto known = std::ranges::find(kernels(), kernel_id, [](const KernelInfo* kernel) { return kernel->id; });
  const Tunable* tunable = known == kernels().end() ? nullptr : (*known)->tunable(name);
  return tunable && value == tunable->initial;
}

}  // namespace

void SettingsCells::add(const std::string& kernel_id, const Settings::Values& values) {
  Seen& seen = kernels_.try_emplace(kernel_id, Seen{values, {}}).first->second;
  for (const auto& [name, value] : values) {
    const auto first = seen.first.find(name);
    if (first == seen.first.end() || first->second != value) seen.differing.insert(name);
  }
}

std::string SettingsCells::text(const std::string& kernel_id, const Settings::Values& values) const {
  const auto seen = kernels_.find(kernel_id);
  std::string text;
  for (const auto& [name, value] : values) {
    const bool differs = seen != kernels_.end() && seen->second.differing.contains(name);
    if (!all_ && !differs && is_initial(kernel_id, name, value)) continue;
    text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  }
  return text;
}

}  // namespace orrery
