#include <array>

#include "compute/core/names.h"
#include "compute/integrators/integrator.h"

namespace orrery {

// The build generates integrators_list.inc from the list of integrators in compute/CMakeLists.txt.
#define X(integrator) extern const IntegratorInfo integrator;
#include "integrators_list.inc"
#undef X

namespace {

constexpr std::array all{
#define X(integrator) &integrator,
#include "integrators_list.inc"
#undef X
};

}  // namespace

std::span<const IntegratorInfo* const> integrators() {
  return all;
}

const IntegratorInfo& find_integrator(std::string_view id) {
  return *find_named(all, id, "integrator");
}

}  // namespace orrery
