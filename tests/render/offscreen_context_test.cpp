#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

/// Call in a fresh process: the libraries below read the environment once.
[[noreturn]] void exit_with_the_message(const char* variable, const char* value) {
  ::setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
  ::setenv(variable, value, 1);
  try {
    OffscreenContext context;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(3);
  }
  std::exit(0);
}

class ContextInAFreshProcess : public testing::Test {
 protected:
  ContextInAFreshProcess() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST(OffscreenContext, IsOpenGl45AndTellsWhoDraws) {
  for (int round = 0; round < 2; ++round) {  // the first one must leave nothing behind
    const OffscreenContext context;
    EXPECT_FALSE(context.info().renderer.empty());
    EXPECT_GE(context.info().version.substr(0, 3), "4.5");
    EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
  }
}

TEST(OffscreenContext, IsLostOnAReset) {
  const OffscreenContext context;
  GLint strategy = 0;
  glGetIntegerv(GL_RESET_NOTIFICATION_STRATEGY, &strategy);
  EXPECT_EQ(strategy, GL_LOSE_CONTEXT_ON_RESET);
  EXPECT_FALSE(context_was_reset());
}

TEST_F(ContextInAFreshProcess, NamesTheVersionThatIsTooOld) {
  EXPECT_EXIT(exit_with_the_message("MESA_GL_VERSION_OVERRIDE", "4.1"), testing::ExitedWithCode(3),
              "OpenGL 4.5 is needed, but .* offers 4.1");
}

TEST_F(ContextInAFreshProcess, SaysThatThereIsNoDisplay) {
  EXPECT_EXIT(exit_with_the_message("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent.json"), testing::ExitedWithCode(3),
              "no OpenGL without a window");
}

}  // namespace
}  // namespace orrery::render
