#pragma once

#include <string>
#include <vector>

#include "app/text/csv.h"
#include "app/ui_state/workshop_status.h"

namespace orrery {

/// The versions of a kernel file, for a program that goes on in the place of this one.
struct KernelHistory {
  struct Version {
    WorkshopVersion facts;  ///< without step_ms
    std::string text;
  };
  std::string file, kernel_id;
  std::vector<Version> versions;  ///< oldest first
};

/// Without the texts, which may be long.
Json history_json(const KernelHistory& history);
/// Reads back what history_json() made: the texts are empty. Throws Json::exception.
KernelHistory history_of(const Json& json);

}  // namespace orrery
