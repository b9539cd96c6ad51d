// Command-line options that give another process the scene and the law of the shown run.
#pragma once

#include <string>
#include <vector>

#include "compute/core/law.h"
#include "compute/core/text.h"
#include "compute/snapshots/columns.h"
#include "compute/snapshots/snapshot.h"
#include "compute/snapshots/units.h"

namespace orrery {

/// Returns the command-line options for these hints.
inline std::vector<std::string> hint_words(const SnapshotHints& hints) {
  std::vector<std::string> words;
  if (hints.units) words.insert(words.end(), {"--units", units_option(*hints.units)});
  std::string columns;
  for (const BodyColumn column : hints.columns) columns.append(columns.empty() ? "" : ",").append(column_name(column));
  // The value follows '=', because a separate word that begins with "-" would be read as an option.
  if (!columns.empty()) words.push_back("--columns=" + columns);
  if (hints.state) words.insert(words.end(), {"--state", std::to_string(*hints.state)});
  if (hints.cosmological) words.insert(words.end(), {"--cosmological", *hints.cosmological ? "yes" : "no"});
  if (hints.hubble) words.insert(words.end(), {"--hubble", shortest_text(*hints.hubble)});
  return words;
}

/// Returns the options that give another process the law of the shown run and its constants.
inline std::vector<std::string> law_arguments(const Law& law) {
  std::vector<std::string> words{"--law", law_info(law.id).id, "--softening", shortest_text(law.softening)};
  if (law.id == LawId::attract_repel) words.insert(words.end(), {"--repulsion", shortest_text(law.repulsion)});
  return words;
}

/// Returns the options for the constants of all laws.
inline std::vector<std::string> law_constants(const Law& law) {
  return {"--softening", shortest_text(law.softening), "--repulsion", shortest_text(law.repulsion)};
}

}  // namespace orrery
