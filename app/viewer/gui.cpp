#include "app/viewer/gui.h"

#include <GLFW/glfw3.h>
#include <glad/gl.h>
#include <imgui.h>
#include <imgui/backends/imgui_impl_glfw.h>
#include <imgui/backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "app/panels/kit/style.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/panels.h"
#include "compute/core/atomic_file.h"

namespace orrery {
namespace {

constexpr double layout_period_s = 0.2;

Gui& this_gui() {
  return *static_cast<Gui*>(ImGui::GetIO().UserData);
}

void deliver(const InputEvent& event, GLFWwindow* window) {
  switch (event.what) {
    case InputEvent::What::key:
      return ImGui_ImplGlfw_KeyCallback(window, event.code, event.scancode, event.action, event.modifiers);
    case InputEvent::What::character:
      return ImGui_ImplGlfw_CharCallback(window, static_cast<unsigned>(event.code));
    case InputEvent::What::button:
      return ImGui_ImplGlfw_MouseButtonCallback(window, event.code, event.action, event.modifiers);
  }
}

/// Whether the key belongs to a text that is being edited, or is the Esc that closes a list. Before the widgets of a
/// layout: a text that ended in the last one takes nothing more.
bool text_takes(const KeyPress& press) {
  if (ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive() && belongs_to_text(press)) return true;
  return press.key == GLFW_KEY_ESCAPE && ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

}  // namespace

Gui::Gui(const Surface& surface) : surface_{surface}, context_{ImGui::CreateContext()}, scale_{surface.scale()} {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // writes no file of its own
  apply_style(scale_);
  io.UserData = this;
  if (surface.window()) {
    ImGui_ImplGlfw_InitForOpenGL(surface.window(), /*install_callbacks=*/true);
    listen(surface.window());
  }
  if (!ImGui_ImplOpenGL3_Init("#version 450 core")) {
    throw std::runtime_error("the panel cannot be drawn: ImGui cannot load libGL.so.1 (Debian: libgl1)");
  }
  if (!render::draws_in_software()) picture_.emplace();
}

Gui::~Gui() {
  ImGui_ImplOpenGL3_Shutdown();
  if (surface_.window()) ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext(context_);
}

float Gui::display_scale() const {
  const render::Canvas canvas = surface_.canvas();
  const ImVec2 enlarged = ImGui::GetIO().DisplayFramebufferScale;  // more than 1 if the system scales windows
  return fitting_scale(surface_.scale(), static_cast<float>(canvas.width) / enlarged.x,
                       static_cast<float>(canvas.height) / enlarged.y);
}

bool Gui::style_changed() const {
  return display_scale() * magnified_ != scale_ || tone_ != styled_tone_;
}

void Gui::follow_style() {
  if (!style_changed()) return;
  scale_ = display_scale() * magnified_;
  styled_tone_ = tone_;
  apply_style(scale_, styled_tone_);
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

/// Instead of ImGui's callbacks, which would not keep the order.
void Gui::listen(GLFWwindow* window) {
  glfwSetKeyCallback(window, [](GLFWwindow*, int key, int scancode, int action, int modifiers) {
    this_gui().events_.add_key(key, scancode, action, modifiers, glfwGetKeyName(key, scancode));
  });
  glfwSetCharCallback(window, [](GLFWwindow*, unsigned character) { this_gui().events_.add_character(character); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int modifiers) {
    double x = 0, y = 0;
    glfwGetCursorPos(w, &x, &y);
    this_gui().events_.add_button(button, action, modifiers, x, y);
  });
}

bool Gui::pointer_is_used() {
  const ImGuiIO& io = ImGui::GetIO();
  bool used = ImGui::IsAnyMouseDown() || io.MouseWheel != 0 || io.MouseWheelH != 0;
  if (surface_.window()) {
    std::array<double, 2> pointer{};
    glfwGetCursorPos(surface_.window(), &pointer[0], &pointer[1]);
    used |= pointer != std::exchange(pointer_, pointer);
  }
  return used;
}

bool Gui::needs_layout() {
  const auto now = LayoutPace::Clock::now();
  const bool held = ImGui::IsAnyMouseDown();
  if (pointer_is_used()) pace_.used(now);
  const ImDrawData* const drawn = ImGui::GetDrawData();
  if (!drawn || held || pace_.due(now)) return true;
  const render::Canvas canvas = surface_.canvas();
  const bool resized = std::lround(drawn->DisplaySize.x * drawn->FramebufferScale.x) != canvas.width ||
                       std::lround(drawn->DisplaySize.y * drawn->FramebufferScale.y) != canvas.height;
  return resized || style_changed();
}

void Gui::begin_frame(double seconds) {
  begin(seconds, {});
}

std::vector<KeyPress> Gui::begin_frame_with_events(double seconds) {
  pace_.used(LayoutPace::Clock::now());
  const std::vector<InputEvent> part = events_.take_part();
  begin(seconds, part);
  std::vector<KeyPress> presses;
  for (const InputEvent& event : part) {
    if (event.press && !text_takes(*event.press)) presses.push_back(*event.press);
  }
  return presses;
}

void Gui::begin(double seconds, const std::vector<InputEvent>& part) {
  follow_style();
  ImGui_ImplOpenGL3_NewFrame();
  if (surface_.window()) {
    for (const InputEvent& event : part) deliver(event, surface_.window());
    ImGui_ImplGlfw_NewFrame();
    if (!part.empty() && part.back().what == InputEvent::What::button) {  // the pointer may have moved since
      ImGui::GetIO().MousePos = {static_cast<float>(part.back().x), static_cast<float>(part.back().y)};
    }
  } else {
    const render::Canvas canvas = surface_.canvas();
    ImGui::GetIO().DisplaySize = {static_cast<float>(canvas.width), static_cast<float>(canvas.height)};
    ImGui::GetIO().DeltaTime = std::max(static_cast<float>(seconds), 1e-6f);
  }
  seconds_to_layout_ -= seconds;
  ImGui::NewFrame();
}

void Gui::end_unseen_frame() {
  ImGui::EndFrame();
}

void Gui::end_frame() {
  write_layout();
  ImGui::Render();
  pace_.laid_out(LayoutPace::Clock::now());
  const render::Canvas canvas = surface_.canvas();
  if (picture_) picture_->take(*ImGui::GetDrawData(), canvas.width, canvas.height);
  draw_again();
}

void Gui::draw_again() {
  const render::Canvas canvas = surface_.canvas();
  if (picture_) return picture_->draw(canvas);
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Gui::draw_enlarged(float times, const render::Canvas& canvas, const std::function<void()>& widgets) {
  ImGuiIO& io = ImGui::GetIO();
  const ImGuiIO before = io;
  const float magnified = std::exchange(magnified_, times * magnified_);
  follow_style();
  for (int frame = 0; frame < frames_to_settle; ++frame) {
    ImGui_ImplOpenGL3_NewFrame();
    io.DisplaySize = {static_cast<float>(canvas.width), static_cast<float>(canvas.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = 1e-6f;
    io.MousePos = {-FLT_MAX, -FLT_MAX};
    ImGui::NewFrame();
    widgets();
    ImGui::Render();
  }
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  magnified_ = magnified;
  pace_.forget();
  io.DisplaySize = before.DisplaySize;
  io.DisplayFramebufferScale = before.DisplayFramebufferScale;
  io.MousePos = before.MousePos;
}

void Gui::write_layout() {
  static const char* const file = std::getenv("ORRERY_UI_LAYOUT");
  if (!file || seconds_to_layout_ > 0) return;
  seconds_to_layout_ = layout_period_s;
  try {
    write_file(file, ui_layout(), Existing::replace);
  } catch (const std::runtime_error&) {
    // Readers then see the previous layout.
  }
}

const ImGuiIO& Gui::io() const {
  return ImGui::GetIO();
}

}  // namespace orrery
