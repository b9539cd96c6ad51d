#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/doctor/symptoms.h"

namespace orrery {

enum class Health {
  healthy,   ///< nothing is wrong; a machine without a GPU is healthy as well
  degraded,  ///< all works, but something is slow, or a part cannot be used
  broken,    ///< no picture can be drawn, or forces are wrong
};
const char* to_string(Health health);
/// The exit status of `orrery info`: 0, 3 or 4.
int exit_status(Health health);

/// What is wrong and what cures it, one sentence each, without the full stop.
struct Finding {
  Health health = Health::healthy;  ///< healthy: worth knowing, and nothing is wrong
  std::string what, cure;           ///< no cure: none is needed
};

/// The gravest first. `bodies`: also whether so many fit into memory.
std::vector<Finding> diagnose(const Symptoms& symptoms, std::optional<std::int64_t> bodies = {});
/// Of the gravest.
Health health_of(const std::vector<Finding>& findings);

}  // namespace orrery
