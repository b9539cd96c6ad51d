#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/colours/body_colour.h"
#include "compute/core/names.h"

namespace orrery {

// CMake makes colours_list.inc from the list of colours in app/CMakeLists.txt.
#define X(colour) extern const BodyColour colour_##colour;
#include "colours_list.inc"
#undef X

namespace {

constexpr std::array all{
#define X(colour) &colour_##colour,
#include "colours_list.inc"
#undef X
};

}  // namespace

std::span<const BodyColour* const> body_colours() {
  return all;
}

const BodyColour& find_body_colour(std::string_view id) {
  return *find_named(all, id, "colour");
}

const BodyColour& body_colour(const render::Appearance& appearance) {
  return **std::ranges::find(all, appearance.colour_by, &BodyColour::by);
}

std::string colour_reference(bool markdown) {
  std::string text = markdown ? "| colour | in the window | what it is |\n| --- | --- | --- |\n"
                              : "The colours of bodies in 'appearance colour=COLOUR' of a script.\n\n";
  for (const BodyColour* colour : all) {
    if (markdown) {
      std::string notes = colour->notes;
      for (std::size_t at = 0; (at = notes.find('|', at)) != std::string::npos; at += 2) notes.insert(at, 1, '\\');
      text += fmt::format("| `{}` | {} | {} |\n", colour->id, colour->title, notes);
    } else {
      const bool same = std::string_view{colour->id} == colour->title;
      text += fmt::format("{}{}\n    {}\n", colour->id, same ? "" : fmt::format(" ({})", colour->title), colour->notes);
    }
  }
  return text;
}

bool ColourValues::wants_positions(const ValueSources&) {
  return false;
}

}  // namespace orrery
