#pragma once

namespace orrery {

struct WindowSize {
  int width = 1280, height = 720;  ///< pixels
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};

/// The smallest window in which the panels can be used, on a display of 96 dots per inch.
inline constexpr WindowSize least_window{320, 200};

}  // namespace orrery
