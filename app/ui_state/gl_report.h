#pragma once

#include <optional>
#include <string>

namespace orrery {

/// The report of `orrery info` about OpenGL, and about CUDA and OpenGL together.
struct GlReport {
  std::string renderer{}, version{};  ///< empty if there is no context
  std::string problem{};              ///< why there is no context of OpenGL 4.5, one line; empty when there is one
  std::optional<bool> same_gpu{};     ///< whether a CUDA device owns the GL context; none if one is missing
  std::string interop{};          ///< the result of the trial: "mapped", "staged" or "host"; empty without a context
  std::string interop_reason{};   ///< why not "mapped", one line; empty when mapped
  std::string window_renderer{};  ///< what draws a window on this display; empty if none can be opened
  std::string window_problem{};   ///< why no window can be opened, one line; empty if one can, or without a display
  std::string cure{};             ///< the cure for `problem` or `interop_reason`, one line; empty if there is none
};

}  // namespace orrery
