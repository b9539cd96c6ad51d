#pragma once

#include <optional>
#include <string>

namespace orrery {

/// What `orrery info` says of OpenGL and of how CUDA and OpenGL meet here.
struct GlReport {
  std::string renderer{}, version{};  ///< empty where no context could be made
  std::string problem{};              ///< why there is no context of OpenGL 4.5, one line; empty when there is one
  std::optional<bool> same_gpu{};     ///< whether a CUDA device owns the GL context; none where either is missing
  std::string interop{};              ///< how the trial ended: "mapped", "staged" or "host"; empty without a context
  std::string interop_reason{};       ///< why not "mapped", one line; empty when mapped
  std::string cure{};  ///< what to do about `problem` or `interop_reason`, one line; empty when all is well
};

}  // namespace orrery
