#include "app/panels/variant.h"

#include <algorithm>

namespace orrery {
namespace {

bool same_kernel(const Result& result, const Status& status) {
  return result.kernel_id == status.kernel_id && result.settings == status.settings.to_string();
}
bool same_law(const Result& result, const Status& status) {
  return result.law_id == law_info(status.law.id).id;
}

}  // namespace

const KernelInfo* known_kernel(std::string_view id) {
  const auto all = kernels();
  const auto found = std::ranges::find(all, id, [](const KernelInfo* kernel) { return kernel->id; });
  return found != all.end() ? *found : nullptr;
}

Settings::Values values_of(std::string_view settings) {
  Settings::Values values;
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(' '));
    settings.remove_prefix(std::min(setting.size() + 1, settings.size()));
    const std::size_t equals = setting.find('=');
    if (equals != std::string_view::npos) values.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return values;
}

bool is_present_variant(const Result& result, const Status& status) {
  return same_kernel(result, status) && same_law(result, status) && result.integrator_id == status.integrator_id;
}

void return_to(const Result& result, const Status& status, Requests& out) {
  if (!same_kernel(result, status)) out.push_back(SelectKernel{result.kernel_id, values_of(result.settings)});
  if (!same_law(result, status)) out.push_back(SelectLaw{result.law_id});
  if (result.integrator_id != status.integrator_id) out.push_back(SelectIntegrator{result.integrator_id});
}

}  // namespace orrery
