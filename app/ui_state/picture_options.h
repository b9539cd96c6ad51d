// Sizes of windows and pictures, the picture of a page, and the options of a film.
#pragma once

#include <cstdint>
#include <string>

#include "compute/core/text.h"

namespace orrery {

/// Initially the default one.
struct WindowSize {
  int width = 1280, height = 720;  ///< pixels
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

/// A window on the desktop, without its frame.
struct WindowPlace {
  int x = 0, y = 0;
  WindowSize size;
  friend bool operator==(const WindowPlace&, const WindowPlace&) = default;
};

/// The smallest window in which the panels can be used, on a display of 96 dots per inch.
inline constexpr WindowSize least_window{320, 200};

/// The smallest picture without the panels.
inline constexpr WindowSize least_picture{16, 16};

/// The picture of a page of results.
struct ReportPicture {
  std::string png{};  ///< empty: there is none
  std::string words;  ///< what the picture shows, or why there is none: one sentence
};

/// The film that `orrery render` makes.
struct FilmOptions {
  std::string out;        ///< the name of an MP4 file, or of a folder for numbered PNG frames
  bool folder = false;    ///< `out` is a folder
  double fps = 30;        ///< frames per second of the film
  bool progress = false;  ///< show progress even if stderr is no terminal

  static constexpr Range<std::int64_t> lengths{1, 10'000'000,
                                               "frames"};  ///< at most: four days at 30 frames per second
  static constexpr Range<double> rates{0.1, 1000, "frames per second"};
};

}  // namespace orrery
