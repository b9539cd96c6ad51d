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
#include <set>
#include <stdexcept>
#include <utility>

#include "app/panels/kit/style.h"
#include "app/panels/kit/ui_mark.h"
#include "app/panels/panels.h"
#include "compute/core/atomic_file.h"

namespace orrery {
namespace {

constexpr double layout_period_s = 0.2;

}  // namespace

Gui::Gui(const Surface& surface) : surface_{surface}, context_{ImGui::CreateContext()}, scale_{surface.scale()} {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // writes no file of its own
  apply_style(scale_);
  io.UserData = this;
  if (surface.window()) {
    window_keys_ = glfwSetKeyCallback(surface.window(), nullptr);
    ImGui_ImplGlfw_InitForOpenGL(surface.window(), /*install_callbacks=*/true);
    glfwSetKeyCallback(surface.window(), [](GLFWwindow* w, int key, int scancode, int action, int modifiers) {
      Gui& gui = *static_cast<Gui*>(ImGui::GetIO().UserData);
      if (gui.window_keys_) gui.window_keys_(w, key, scancode, action, modifiers);
      gui.keys_.push_back({key, scancode, action, modifiers});
    });
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

/// ImGui looks at keys once per frame, so a pressed key stays down for one frame: its release and later keys wait.
void Gui::deliver_keys() {
  std::set<int> pressed;
  for (; !keys_.empty(); keys_.pop_front()) {
    const KeyEvent& event = keys_.front();
    if (event.action == GLFW_PRESS) pressed.insert(event.key);
    if (event.action == GLFW_RELEASE && pressed.contains(event.key)) return;
    ImGui_ImplGlfw_KeyCallback(surface_.window(), event.key, event.scancode, event.action, event.modifiers);
  }
}

/// Whether there is input that the panels have not seen.
bool Gui::input_waits() {
  const ImGuiIO& io = ImGui::GetIO();
  bool waits = !keys_.empty() || !io.InputQueueCharacters.empty() || io.MouseWheel != 0 || io.MouseWheelH != 0;
  if (surface_.window()) {
    std::array<double, 2> pointer{};
    glfwGetCursorPos(surface_.window(), &pointer[0], &pointer[1]);
    waits |= pointer != std::exchange(pointer_, pointer);
    for (const int button : {GLFW_MOUSE_BUTTON_LEFT, GLFW_MOUSE_BUTTON_RIGHT, GLFW_MOUSE_BUTTON_MIDDLE}) {
      waits |= glfwGetMouseButton(surface_.window(), button) == GLFW_PRESS;
    }
  }
  return waits;
}

bool Gui::needs_layout() {
  const auto now = LayoutPace::Clock::now();
  const bool held = ImGui::IsAnyMouseDown();
  if (input_waits() || held) pace_.used(now);
  const ImDrawData* const drawn = ImGui::GetDrawData();
  if (!drawn || held || !keys_.empty() || pace_.due(now)) return true;
  const render::Canvas canvas = surface_.canvas();
  const bool resized = std::lround(drawn->DisplaySize.x * drawn->FramebufferScale.x) != canvas.width ||
                       std::lround(drawn->DisplaySize.y * drawn->FramebufferScale.y) != canvas.height;
  return resized || style_changed();
}

void Gui::begin_frame(double seconds) {
  follow_style();
  ImGui_ImplOpenGL3_NewFrame();
  if (surface_.window()) {
    deliver_keys();
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

bool Gui::takes(const KeyPress& press) const {
  if (ImGui::GetIO().WantTextInput && belongs_to_text(press)) return true;
  return press.key == GLFW_KEY_ESCAPE && ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

const ImGuiIO& Gui::io() const {
  return ImGui::GetIO();
}

}  // namespace orrery
