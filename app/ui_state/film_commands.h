#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "app/text/parse_value.h"
#include "compute/sim/command_row.h"

namespace orrery {

/// Throws UsageError if the extension is not that of a film.
inline void check_film_name(const std::string& name) {
  (void)parse_film_name("a film's name", name);
}

/// Films the window until StopFilm, with at most FilmOptions::fps pictures per second.
struct StartFilm {
  std::string file;
};

struct StopFilm {};

/// State of the film of the window.
struct FilmStatus {
  bool active = false;
  std::string file;
  std::int64_t pictures = 0;
};

/// Commands that film the window.
inline constexpr std::tuple film_commands{
    command_row<StartFilm>(
        "film", "Starts a film of the window, as MP4.",
        Argument<&StartFilm::file>{
            {.name = "file", .optional = true, .form = Form::written_file, .check = check_film_name}}),
    command_row<StopFilm>("stop-film", "Completes the film.")};

}  // namespace orrery
