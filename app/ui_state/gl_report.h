#pragma once

#include <optional>
#include <string>

namespace orrery {

/// Report of `orrery info` on OpenGL, and on its use together with CUDA.
struct GlReport {
  std::string renderer{}, version{};  ///< empty without a context
  std::string problem{};              ///< why there is no OpenGL 4.5 context, one line; empty if there is one
  std::optional<bool> same_gpu{};     ///< whether a CUDA device owns the GL context; none without GPU or context
  std::string interop{};              ///< result of the trial: "mapped", "staged" or "host"; empty without a context
  std::string interop_reason{};       ///< why not "mapped", one line; empty if mapped
  std::string window_renderer{};      ///< renderer of a window on this display; empty if none can be opened
  std::string window_problem{};       ///< why no window can be opened, one line; empty if one can, or without a display
  std::string cure{};                 ///< how to fix `problem` or `interop_reason`, one line; empty if there is no fix
};

}  // namespace orrery
