// Triangles of Dear ImGui, with one texture: the letters.
#include "app/window/panel_painter.h"

#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "render/gl/gl.h"

namespace orrery {
namespace {

/// Binds the part of a framebuffer, `width` x `height` pixels, in which a command may draw. Returns false for an empty
/// one.
bool clip_to(const ImVec4& rect, const ImDrawData& all, int width, int height) {
  const ImVec2 origin = all.DisplayPos, scale = all.FramebufferScale;
  const float left = std::max((rect.x - origin.x) * scale.x, 0.0f), top = std::max((rect.y - origin.y) * scale.y, 0.0f);
  const float right = std::min((rect.z - origin.x) * scale.x, static_cast<float>(width));
  const float bottom = std::min((rect.w - origin.y) * scale.y, static_cast<float>(height));
  if (right <= left || bottom <= top) return false;
  glScissor(static_cast<int>(left), static_cast<int>(static_cast<float>(height) - bottom),
            static_cast<int>(right - left), static_cast<int>(bottom - top));
  return true;
}

}  // namespace

PanelPainter::PanelPainter() {
  const auto attribute = [&](unsigned location, int values, GLenum type, std::size_t offset) {
    glEnableVertexArrayAttrib(array_.id(), location);
    glVertexArrayAttribFormat(array_.id(), location, values, type, GL_TRUE, static_cast<unsigned>(offset));
    glVertexArrayAttribBinding(array_.id(), location, 0);
  };
  attribute(0, 2, GL_FLOAT, offsetof(ImDrawVert, pos));
  attribute(1, 2, GL_FLOAT, offsetof(ImDrawVert, uv));
  attribute(2, 4, GL_UNSIGNED_BYTE, offsetof(ImDrawVert, col));
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // a long list has more than 65,536 vertices
  take_fonts();
}

void PanelPainter::take_fonts() {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
  letters_ = render::make_texture_2d(GL_RGBA8, width, height);
  glTextureSubImage2D(letters_.id(), 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  atlas.SetTexID(
      (ImTextureID) static_cast<std::uintptr_t>(letters_.id()));  // a pointer before ImGui 1.91, then a number
}

/// Copies the triangles of all lists into one pair of buffers.
void PanelPainter::upload(const ImDrawData& laid_out) {
  std::vector<ImDrawVert> vertices;
  std::vector<ImDrawIdx> indices;
  vertices.reserve(static_cast<std::size_t>(laid_out.TotalVtxCount));
  indices.reserve(static_cast<std::size_t>(laid_out.TotalIdxCount));
  for (int i = 0; i < laid_out.CmdListsCount; ++i) {
    const ImDrawList& list = *laid_out.CmdLists[i];
    vertices.insert(vertices.end(), list.VtxBuffer.begin(), list.VtxBuffer.end());
    indices.insert(indices.end(), list.IdxBuffer.begin(), list.IdxBuffer.end());
  }
  vertices_.replace(std::as_bytes(std::span{vertices}));
  indices_.replace(std::as_bytes(std::span{indices}));
  glVertexArrayVertexBuffer(array_.id(), 0, vertices_.id(), 0, sizeof(ImDrawVert));
  glVertexArrayElementBuffer(array_.id(), indices_.id());
}

void PanelPainter::draw(const ImDrawData& laid_out, unsigned framebuffer) {
  const ImVec2 origin = laid_out.DisplayPos, size = laid_out.DisplaySize, scale = laid_out.FramebufferScale;
  const int width = static_cast<int>(size.x * scale.x), height = static_cast<int>(size.y * scale.y);
  if (width < 1 || height < 1 || laid_out.TotalVtxCount == 0) return;
  upload(laid_out);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, width, height);
  glEnable(GL_BLEND);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glEnable(GL_SCISSOR_TEST);
  glUseProgram(program_.id());
  program_.set("origin", glm::vec2{origin.x, origin.y});
  program_.set("size", glm::vec2{size.x, size.y});
  glBindTextureUnit(0, letters_.id());
  glBindVertexArray(array_.id());
  std::size_t index = 0;
  int vertex = 0;
  for (int i = 0; i < laid_out.CmdListsCount; ++i) {
    const ImDrawList& list = *laid_out.CmdLists[i];
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (!clip_to(command.ClipRect, laid_out, width, height)) continue;
      const std::uintptr_t first = (index + command.IdxOffset) * sizeof(ImDrawIdx);
      glDrawElementsBaseVertex(GL_TRIANGLES, static_cast<int>(command.ElemCount),
                               sizeof(ImDrawIdx) == 2 ? GL_UNSIGNED_SHORT : GL_UNSIGNED_INT,
                               reinterpret_cast<const void*>(first), vertex + static_cast<int>(command.VtxOffset));
    }
    index += static_cast<std::size_t>(list.IdxBuffer.Size);
    vertex += list.VtxBuffer.Size;
  }
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_BLEND);
}

}  // namespace orrery
