#include "render/program.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "render/offscreen_context.h"
#include "render/shader_source.h"

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
  const std::string source = shader_source("enlarge.frag");
  EXPECT_EQ(source.find("#include"), std::string::npos);
  EXPECT_NE(source.find("vec3 tent("), std::string::npos);
}

TEST(ShaderSource, NamesAShaderThatIsNotThere) {
  EXPECT_NE(message_of([] { shader_source("missing.vert"); }).find("missing.vert"), std::string::npos);
}

TEST(Program, ReportsTheCompilersLog) {
  OffscreenContext context;
  const std::string message = message_of([] { Program{"screen.vert", "tent.glsl"}; });
  EXPECT_NE(message.find("shader tent.glsl does not compile: "), std::string::npos) << message;
  EXPECT_NE(message.find("textureLod"), std::string::npos) << message;
}

TEST(Program, ReportsTheLinkersLog) {
  OffscreenContext context;
  const std::string message = message_of([] { Program{"screen.vert", "bodies.frag"}; });
  EXPECT_NE(message.find("screen.vert and bodies.frag do not link: "), std::string::npos) << message;
}

TEST(Program, RefusesAUniformThatNoShaderUses) {
  OffscreenContext context;
  const Program program{"screen.vert", "finish.frag"};
  program.set("exposure", 1.0f);
  EXPECT_THROW(program.set("exposures", 1.0f), std::logic_error);
}

}  // namespace
}  // namespace orrery::render
