#include "compute/devices/device_list.h"

#include <optional>

#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/kernels/division.h"

namespace orrery {
namespace {

UsageError not_a_list(std::string_view option, std::string_view text) {
  return UsageError{std::string{option} + " cannot be '" + std::string{text} + "'; allowed: all, or up to " +
                    std::to_string(most_devices) + " CUDA devices from 0, separated by commas, such as 0,1"};
}

}  // namespace

DeviceList DeviceList::parsed(std::string_view option, std::string_view text) {
  if (text == "all") return {.all = true, .ordinals = {}};
  DeviceList list;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const std::optional<int> ordinal = parsed_number<int>(word);
    if (!ordinal || *ordinal < 0) throw not_a_list(option, text);
    list.ordinals.push_back(*ordinal);
    if (word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  if (list.ordinals.size() > most_devices) throw not_a_list(option, text);
  return list;
}

std::string DeviceList::to_string() const {
  if (all) return "all";
  std::string text;
  for (const int ordinal : ordinals) text += (text.empty() ? "" : ",") + std::to_string(ordinal);
  return text;
}

}  // namespace orrery
