#pragma once

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

}  // namespace orrery
