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

TEST(ShaderSource, PutsIncludedFilesInPlace) {
  const std::string source = shader_source("widen.comp");
  EXPECT_EQ(source.find("#include"), std::string::npos);
  EXPECT_NE(source.find("vec4 nine_samples("), std::string::npos);
}

TEST(ShaderSource, NamesAShaderThatIsNotThere) {
  EXPECT_NE(message_of([] { shader_source("missing.vert"); }).find("missing.vert"), std::string::npos);
}

TEST(Program, ReportsTheCompilersLog) {
  OffscreenContext context;
  const std::string message = message_of([] { Program{"boxes.vert", "nine_samples.glsl"}; });
  EXPECT_NE(message.find("shader nine_samples.glsl does not compile: "), std::string::npos) << message;
  EXPECT_NE(message.find("textureLod"), std::string::npos) << message;
}

TEST(Program, ReportsTheLinkersLog) {
  OffscreenContext context;
  const std::string message = message_of([] { Program{"sprite.vert", "stroke.frag"}; });
  EXPECT_NE(message.find("sprite.vert and stroke.frag do not link: "), std::string::npos) << message;
}

TEST(Program, RefusesAUniformThatNoShaderUses) {
  OffscreenContext context;
  const Program program{ComputeShader{"tone_map.comp"}};
  program.set("exposure", 1.0f);
  EXPECT_THROW(program.set("exposures", 1.0f), std::logic_error);
}

}  // namespace
}  // namespace orrery::render
