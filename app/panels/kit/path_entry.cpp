#include "app/panels/kit/path_entry.h"

#include <cstdlib>

namespace orrery {

std::string path_of(std::string_view entry) {
  const char* const home = std::getenv("HOME");
  if (!home || (entry != "~" && !entry.starts_with("~/"))) return std::string{entry};
  return home + std::string{entry.substr(1)};
}

}  // namespace orrery
