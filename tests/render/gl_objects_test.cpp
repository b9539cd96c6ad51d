// Contexts, programs, timers and the other objects of OpenGL.
#include "render/gl/gl_objects.h"

#include <cstdio>
#include <type_traits>

#include "render/gl/gl.h"
#include "render/gl/program.h"
#include "render/gl/readback.h"
#include "render/passes/body_renderer.h"
#include "tests/render/stage.h"
#include "tests/test.h"

namespace orrery::render::test {
namespace {

static_assert(!std::is_copy_constructible_v<Buffer> && std::is_nothrow_move_constructible_v<Buffer>);
static_assert(!std::is_copy_constructible_v<RenderTarget> && std::is_nothrow_move_assignable_v<RenderTarget>);

TEST(GlBuffer, KeepsWhatIsUploadedAndMovesAway) {
  OffscreenContext context;
  const std::array<int, 4> sent{1, 2, 3, 4};
  Buffer buffer{sizeof sent};
  buffer.upload(std::as_bytes(std::span{sent}));
  Buffer owner{std::move(buffer)};
  EXPECT_FALSE(buffer);
  EXPECT_EQ(buffer.size_bytes(), 0u);
  std::array<int, 4> received{};
  owner.download(std::as_writable_bytes(std::span{received}));
  EXPECT_EQ(received, sent);
}

TEST(GlBuffer, RefusesMoreThanItHolds) {
  OffscreenContext context;
  Buffer buffer{8};
  std::array<std::byte, 9> bytes{};
  EXPECT_THROW(buffer.upload(bytes), std::logic_error);
  EXPECT_THROW(buffer.download(bytes), std::logic_error);
  EXPECT_THROW(Buffer{}.upload(bytes), std::logic_error);
}

TEST(GlBuffer, IsDeletedWithItsOwner) {
  OffscreenContext context;
  unsigned id = 0;
  {
    const Buffer buffer{8};
    id = buffer.id();
    EXPECT_TRUE(glIsBuffer(id));
  }
  EXPECT_FALSE(glIsBuffer(id));
}

TEST(GlRenderTarget, RefusesASizeThatTheDriverCannotDraw) {
  OffscreenContext context;
  int most = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
  EXPECT_THROW((RenderTarget{GL_RGBA8, most + 1, 1}), std::runtime_error);
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(ShaderSource, PutsIncludedSectionsInPlace) {
  const std::string source = shader_source("tone_map.glsl#widen");
  EXPECT_EQ(source.find("#include"), std::string::npos);
  EXPECT_NE(source.find("vec4 nine_samples("), std::string::npos);
}

TEST(ShaderSource, NamesAShaderThatIsNotThere) {
  EXPECT_NE(message_of([] { shader_source("missing.glsl#vertex"); }).find("missing.glsl"), std::string::npos);
  EXPECT_EQ(message_of([] { shader_source("strokes.glsl#vertex"); }), "there is no shader strokes.glsl#vertex");
  EXPECT_EQ(message_of([] { shader_source("strokes.glsl"); }), "there is no shader strokes.glsl");
}

TEST(Program, ReportsTheCompilersLog) {
  OffscreenContext context;
  const std::string message = message_of([] {
    Program{"strokes.glsl#box_vertex", "strokes.glsl#fragment", "const float one = undeclared;\n"};
  });
  EXPECT_NE(message.find("shader strokes.glsl#box_vertex does not compile: "), std::string::npos) << message;
  EXPECT_NE(message.find("undeclared"), std::string::npos) << message;
}

TEST(Program, ReportsTheLinkersLog) {
  OffscreenContext context;
  const std::string message = message_of([] { Program{"bodies.glsl#sprite_vertex", "strokes.glsl#fragment"}; });
  EXPECT_NE(message.find("bodies.glsl#sprite_vertex and strokes.glsl#fragment do not link: "), std::string::npos)
      << message;
}

TEST(Program, RefusesAUniformThatNoShaderUses) {
  OffscreenContext context;
  const Program program{ComputeShader{"tone_map.glsl#tone_map"}};
  program.set("exposure", 1.0f);
  EXPECT_THROW(program.set("exposures", 1.0f), std::logic_error);
}

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

void draw_something(test::Stage& stage) {
  (void)stage.picture({{0, 0, 0, 1}}, 32, 32);
}

TEST(GpuTimer, ReturnsFiniteTimesInOrder) {
  test::Stage stage;
  GpuTimer timer;
  EXPECT_FALSE(timer.poll());
  for (const int tag : {7, 8, 9}) {
    timer.begin(tag);
    draw_something(stage);
    timer.end();
  }
  glFinish();
  for (const int tag : {7, 8, 9}) {
    const auto time = timer.poll();
    ASSERT_TRUE(time);
    EXPECT_EQ(time->tag, tag);
    EXPECT_TRUE(std::isfinite(time->ms));
    EXPECT_GE(time->ms, 0.0);
  }
  EXPECT_FALSE(timer.poll());
}

TEST(GpuTimer, LeavesOutWhatItCannotHoldAndGoesOnAfterwards) {
  test::Stage stage;
  GpuTimer timer;
  for (int tag = 0; tag < GpuTimer::capacity + 3; ++tag) {
    timer.begin(tag);
    draw_something(stage);
    timer.end();
  }
  glFinish();
  for (int tag = 0; tag < GpuTimer::capacity; ++tag) EXPECT_EQ(timer.poll().value().tag, tag);
  EXPECT_FALSE(timer.poll());
  timer.begin(100);
  draw_something(stage);
  timer.end();
  glFinish();
  EXPECT_EQ(timer.poll().value().tag, 100);
  EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
}

TEST(GpuTimer, CountsComputeShaders) {
  const test::Stage stage;
  const RenderTarget light{GL_RG32F, 1024, 1024};
  Glow glow;
  (void)glow.make(light);  // compiles
  GpuTimer timer;
  timer.begin(1);
  (void)glow.make(light);
  timer.end();
  glFinish();
  EXPECT_GT(timer.poll().value().ms, 0.001);
}

TEST(GpuTimer, AnEmptySpanIsShort) {
  test::Stage stage;
  GpuTimer timer;
  for (int tag = 0; tag < 3; ++tag) {
    timer.begin(tag);
    timer.end();
  }
  glFinish();
  for (int tag = 0; tag < 3; ++tag) {
    const auto time = timer.poll();
    ASSERT_TRUE(time);
    EXPECT_EQ(time->tag, tag);
    EXPECT_LT(time->ms, 1000);
  }
}

TEST(GpuTimer, IgnoresAnEndWithoutABeginning) {
  test::Stage stage;
  GpuTimer timer;
  timer.end();
  EXPECT_FALSE(timer.poll());
  EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
}

}  // namespace
}  // namespace orrery::render::test
