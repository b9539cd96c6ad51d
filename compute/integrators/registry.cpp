#include <array>
#include <string>

#include "compute/core/error.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

constexpr std::array all{&leapfrog, &euler};

}  // namespace

std::span<const IntegratorInfo* const> integrators() {
  return all;
}

const IntegratorInfo& find_integrator(std::string_view id) {
  std::string ids;
  for (const IntegratorInfo* info : all) {
    if (id == info->id) return *info;
    ids += std::string{ids.empty() ? "" : ", "} + info->id;
  }
  throw UsageError("unknown integrator '" + std::string{id} + "'; known integrators: " + ids);
}

}  // namespace orrery
