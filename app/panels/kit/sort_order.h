#pragma once

#include <string>

namespace orrery {

/// The order of a table's rows.
struct SortOrder {
  std::string column;  ///< its name; empty: the rows' own order
  bool descending = false;
};

}  // namespace orrery
