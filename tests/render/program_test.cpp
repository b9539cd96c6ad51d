#include "render/gl/program.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "render/gl/gl.h"

namespace orrery::render {
namespace {

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

}  // namespace
}  // namespace orrery::render
