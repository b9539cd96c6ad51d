#include "app/viewer/gui.h"

#include <glad/gl.h>
#include <imgui.h>
#include <imgui/backends/imgui_impl_glfw.h>
#include <imgui/backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "app/panels/panels.h"
#include "app/panels/ui_mark.h"

namespace orrery {
namespace {

constexpr double layout_period_s = 0.2;

}  // namespace

Gui::Gui(const Surface& surface) : surface_{surface}, context_{ImGui::CreateContext()}, scale_{surface.scale()} {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // no files beside the ones that are asked for
  apply_style(scale_);
  if (surface.window()) ImGui_ImplGlfw_InitForOpenGL(surface.window(), /*install_callbacks=*/true);
  ImGui_ImplOpenGL3_Init("#version 450 core");
}

Gui::~Gui() {
  ImGui_ImplOpenGL3_Shutdown();
  if (surface_.window()) ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext(context_);
}

void Gui::follow_scale() {
  if (surface_.scale() == scale_) return;
  scale_ = surface_.scale();
  apply_style(scale_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Gui::begin_frame(double seconds) {
  follow_scale();
  ImGui_ImplOpenGL3_NewFrame();
  if (surface_.window()) {
    ImGui_ImplGlfw_NewFrame();
  } else {
    const render::Canvas canvas = surface_.canvas();
    ImGui::GetIO().DisplaySize = {static_cast<float>(canvas.width), static_cast<float>(canvas.height)};
    ImGui::GetIO().DeltaTime = std::max(static_cast<float>(seconds), 1e-6f);
  }
  seconds_to_layout_ -= seconds;
  ImGui::NewFrame();
}

void Gui::end_frame() {
  write_layout();
  ImGui::Render();
  glBindFramebuffer(GL_FRAMEBUFFER, surface_.canvas().framebuffer);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Gui::write_layout() {
  static const char* const file = std::getenv("ORRERY_UI_LAYOUT");
  if (!file || seconds_to_layout_ > 0) return;
  seconds_to_layout_ = layout_period_s;
  const std::filesystem::path part = std::string{file} + ".part";
  std::ofstream{part} << ui_layout();
  std::error_code ignored;  // a reader then sees the layout before
  std::filesystem::rename(part, file, ignored);
}

const ImGuiIO& Gui::io() const {
  return ImGui::GetIO();
}

}  // namespace orrery
