#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "compute/sim/command_row.h"
#include "compute/snapshots/columns.h"

namespace orrery {

/// The columns of a text table by their names; "-" skips one.
template <>
struct EnumWords<BodyColumn> {
  static std::array<std::pair<BodyColumn, std::string_view>, column_count + 1> all() {
    std::array<std::pair<BodyColumn, std::string_view>, column_count + 1> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = {static_cast<BodyColumn>(i), column_name(static_cast<BodyColumn>(i))};
    }
    return words;
  }
};

}  // namespace orrery
