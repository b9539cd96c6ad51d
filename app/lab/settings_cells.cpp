#include "app/lab/settings_cells.h"

namespace orrery {

void SettingsCells::add(const std::string& kernel_id, const Settings::Values& values, const KernelInfo* kernel) {
  Seen& seen = kernels_[kernel_id];
  if (seen.first.empty()) seen = {values, kernel ? Settings{*kernel}.values() : Settings::Values{}, {}};
  for (const auto& [name, value] : values) {
    const auto first = seen.first.find(name);
    if (first == seen.first.end() || first->second != value) seen.differing.insert(name);
  }
}

std::string SettingsCells::text(const std::string& kernel_id, const Settings::Values& values) const {
  const auto seen = kernels_.find(kernel_id);
  std::string text;
  for (const auto& [name, value] : values) {
    if (!all_ && seen != kernels_.end() && !seen->second.differing.contains(name)) {
      const auto initial = seen->second.initial.find(name);
      if (initial != seen->second.initial.end() && initial->second == value) continue;
    }
    text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  }
  return text;
}

}  // namespace orrery
