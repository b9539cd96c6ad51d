#include <array>
#include <span>
#include <string_view>

#include "app/ui_state/window_commands.h"

namespace orrery {

std::span<const std::string_view> tab_ids() {
#define X(tab, id) std::string_view{id},
  static constexpr std::array ids{
#include "tabs_list.inc"
  };
#undef X
  return ids;
}

}  // namespace orrery
