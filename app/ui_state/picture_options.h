// Sizes of windows and pictures, the picture in a report page, and the options of a film.
#pragma once

#include <cstdint>
#include <string>

#include "compute/core/text.h"

namespace orrery {

/// Size of a window. Its initial value is the default size.
struct WindowSize {
  int width = 1280, height = 720;  ///< in pixels
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

/// Position and size of a window on the desktop, without its frame.
struct WindowPlace {
  int x = 0, y = 0;
  WindowSize size;
  friend bool operator==(const WindowPlace&, const WindowPlace&) = default;
};

/// Smallest window in which the panels can be used, on a display of 96 dots per inch.
inline constexpr WindowSize least_window{320, 200};

/// Smallest picture without panels.
inline constexpr WindowSize least_picture{16, 16};

/// Picture in a page of results.
struct ReportPicture {
  std::string png{};  ///< contents of a PNG file; empty: no picture
  std::string words;  ///< one sentence: what the picture shows, or why there is none
};

/// Options of the film that `orrery render` makes.
struct FilmOptions {
  std::string out;        ///< name of an MP4 file, or of a folder for numbered PNG frames
  bool folder = false;    ///< whether `out` is a folder
  double fps = 30;        ///< frames per second of the film
  bool progress = false;  ///< show progress even if stderr is not a terminal

  static constexpr Range<std::int64_t> lengths{1, 10'000'000, "frames"};  ///< up to four days at 30 frames per second
  static constexpr Range<double> rates{0.1, 1000, "frames per second"};
};

}  // namespace orrery
