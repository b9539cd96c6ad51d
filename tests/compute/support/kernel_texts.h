#pragma once

#include "tests/test.h"

namespace orrery::test {

/// A kernel file that is correct and slow; in it, `statements` stand before the result is stored.
inline std::string kernel_text(std::string_view statements = "") {
  return "// id: mine\n"
         "// notes: For a test.\n"
         "// tunable block = 32 [128]: Threads in a block.\n"
         "\n"
         "__global__ void accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {\n"
         "  const int place = blockIdx.x * block + threadIdx.x;\n"
         "  if (place >= targets.count) return;\n"
         "  const int i = targets.body(place);\n"
         "  const Vec4 me = sources.bodies[i];\n"
         "  Vec3 sum;\n"
         "  for (int j = 0; j < sources.count; ++j) add_pull(sum, law, me.x, me.y, me.z, sources.bodies[j]);\n" +
         std::string{statements} +
         "\n"
         "  epilogue.finish(i, me.w, sum);\n"
         "}\n";
}
/// The line of `statements`.
inline constexpr int statements_line = 12;

/// `text` with the first `old` replaced.
inline std::string with(std::string text, std::string_view old, std::string_view replacement) {
  return text.replace(text.find(old), old.size(), replacement);
}

}  // namespace orrery::test
