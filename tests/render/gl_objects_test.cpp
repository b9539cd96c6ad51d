#include "render/gl/gl_objects.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <type_traits>

#include "render/gl/gl.h"

namespace orrery::render {
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

}  // namespace
}  // namespace orrery::render
