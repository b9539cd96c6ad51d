// The versions of a kernel file. The window shows them, and leaves them to a program that continues in its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/text/csv.h"

namespace orrery {

/// One text of the file that was compiled.
struct WorkshopVersion {
  int number = 1;
  std::string time;  ///< of day: "12:03:41"
  bool compiles = false, accepted = false;
  bool unchecked = false;                 ///< nothing here can run it
  std::string error{};                    ///< why it was rejected, one line; empty while it is not known
  std::optional<double> largest_error{};  ///< |da|/|a| against the fp64 sum, of all checks
  std::string remark{};                   ///< which shown bodies it was not checked with; empty: it was with all
  double compile_ms = 0, check_s = 0;
  std::string
      kernel{};  ///< with which SelectKernel selects it, such as "mine@2"; empty: it is no kernel of this window
  std::optional<double> step_ms{};  ///< the best median of one step with the current system; none: not measured
};

/// The versions of a kernel file, for a program that continues in the place of this one.
struct KernelHistory {
  struct Version {
    WorkshopVersion facts;  ///< without step_ms
    std::string text;
  };
  std::string file, kernel_id;
  std::vector<Version> versions;  ///< oldest first
};

/// The history as JSON, without the texts, which may be long.
Json history_json(const KernelHistory& history);

/// Reads back what history_json() made: the texts are empty. Throws Json::exception.
KernelHistory history_of(const Json& json);

}  // namespace orrery
