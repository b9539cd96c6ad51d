#include <array>

#include "compute/core/names.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

constexpr std::array all{&leapfrog, &euler};

}  // namespace

std::span<const IntegratorInfo* const> integrators() {
  return all;
}

const IntegratorInfo& find_integrator(std::string_view id) {
  return *find_named(all, id, "integrator");
}

}  // namespace orrery
