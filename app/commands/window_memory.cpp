#include "app/commands/window_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "app/commands/command_text.h"
#include "app/text/input_file.h"
#include "app/ui_state/window_commands.h"
#include "compute/core/atomic_file.h"

namespace orrery {
namespace {

constexpr int format = 1;
constexpr std::size_t most_sections = 100, longest_id = 40;
constexpr Range<int> positions{-32768, 32767}, sizes{1, 32767};

/// Returns the command in `json`. Throws UsageError if it is not a `C`.
template <class C>
C command_in(const Json& json) {
  const Request request = command_of(json);
  if (const C* wanted = command_if<C>(request)) return *wanted;
  throw UsageError(fmt::format("'{}' is expected", row_in<C>(window_commands).name));
}

bool is_id(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  return !text.empty() && text.size() <= longest_id && std::ranges::all_of(text, fits);
}

int number_in(const Json& json, const char* name, const Range<int>& range) {
  const Json& value = json.at(name);
  const bool whole = value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= 32767);
  const std::int64_t number = whole ? value.get<std::int64_t>() : 0;
  if (!whole || number < range.least || number > range.most) {
    throw UsageError(fmt::format("'{}' must be a whole number from {} to {}", name, range.least, range.most));
  }
  return static_cast<int>(number);
}

WindowMemory memory_of(const Json& json) {
  if (!json.is_object() || json.at("program") != "orrery") throw UsageError("another program wrote it");
  if (json.at("format") != format) throw UsageError("another version wrote it");
  WindowMemory memory;
  const Json sections = json.value("sections", Json::object());
  if (!sections.is_object() || sections.size() > most_sections) throw UsageError("'sections' has too many values");
  for (const auto& [id, open] : sections.items()) {
    if (!is_id(id) || !open.is_boolean()) throw UsageError("'sections' must hold true or false for each name");
    memory.sections.emplace(id, open.get<bool>());
  }
  if (json.contains("lab")) memory.lab = command_in<ShowLab>(json["lab"]);
  if (json.contains("appearance")) {
    memory.appearance = command_in<SetAppearance>(json["appearance"]);
    check_colour_range(memory.appearance->appearance);
  }
  if (json.contains("theme")) memory.theme = command_in<SetTheme>(json["theme"]);
  if (json.contains("window")) {
    const Json& window = json["window"];
    memory.place = {number_in(window, "x", positions),
                    number_in(window, "y", positions),
                    {number_in(window, "width", sizes), number_in(window, "height", sizes)}};
  }
  return memory;
}

}  // namespace

std::filesystem::path usual_memory_file() {
  const std::filesystem::path folder = user_folder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? folder : folder / "orrery" / "window.json";
}

WindowMemory read_window_memory(const std::filesystem::path& file) {
  std::error_code unknown;
  if (file.empty() || !std::filesystem::exists(file, unknown)) return {};
  const Json json = read_json(file.string());
  try {
    return memory_of(json);
  } catch (const UsageError& error) {
    throw std::runtime_error(fmt::format("'{}': {}", file.string(), error.what()));
  } catch (const Json::exception&) {
    throw std::runtime_error(fmt::format("'{}': a value is missing or of another type", file.string()));
  }
}

void write_window_memory(const std::filesystem::path& file, const WindowMemory& memory) {
  if (file.empty()) return;
  Json json{{"program", "orrery"}, {"format", format}};
  if (!memory.sections.empty()) json["sections"] = memory.sections;
  if (memory.lab) json["lab"] = command_json(*memory.lab);
  if (memory.appearance) json["appearance"] = command_json(*memory.appearance);
  if (memory.theme) json["theme"] = command_json(*memory.theme);
  if (memory.place) {
    const WindowPlace& place = *memory.place;
    json["window"] = {{"x", place.x}, {"y", place.y}, {"width", place.size.width}, {"height", place.size.height}};
  }
  std::error_code cannot;  // ignored: write_file() reports the cause
  std::filesystem::create_directories(file.parent_path(), cannot);
  write_file(file, json.dump(2) + "\n", Existing::replace);
}

}  // namespace orrery
