#pragma once

#include <string>
#include <vector>

#include "compute/core/text.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// The options by which the command line gives these hints.
inline std::vector<std::string> hint_words(const SnapshotHints& hints) {
  std::vector<std::string> words;
  if (hints.units) words.insert(words.end(), {"--units", units_option(*hints.units)});
  std::string columns;
  for (const BodyColumn column : hints.columns) columns.append(columns.empty() ? "" : ",").append(column_name(column));
  if (!columns.empty()) words.push_back("--columns=" + columns);  // a first column "-" is no option
  if (hints.state) words.insert(words.end(), {"--state", std::to_string(*hints.state)});
  if (hints.cosmological) words.insert(words.end(), {"--cosmological", *hints.cosmological ? "yes" : "no"});
  if (hints.hubble) words.insert(words.end(), {"--hubble", shortest_text(*hints.hubble)});
  return words;
}

}  // namespace orrery
