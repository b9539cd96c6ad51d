// Dear ImGui on a surface: its input, its pace, and the picture of the panels.
#include "app/window/gui.h"

#include <GLFW/glfw3.h>
#include <glad/gl.h>
#include <imgui.h>
#include <imgui/backends/imgui_impl_glfw.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <utility>

#include "app/panels/kit/theme.h"
#include "app/panels/kit/widgets.h"
#include "app/panels/panels.h"
#include "compute/core/atomic_file.h"

namespace orrery {
namespace {

using render::PixelRect;

bool overlap(const PixelRect& a, const PixelRect& b) {
  return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top;
}

PixelRect around(const PixelRect& a, const PixelRect& b) {
  return {std::min(a.left, b.left), std::min(a.bottom, b.bottom), std::max(a.right, b.right), std::max(a.top, b.top)};
}

/// Returns the bounding rectangle of all that a window draws, in pixels, before clipping.
PixelRect pixels_of(const ImDrawList& list, const ImDrawData& all, int width, int height) {
  constexpr float far = std::numeric_limits<float>::max();
  ImVec2 low{far, far}, high{-far, -far};
  for (const ImDrawVert& vertex : list.VtxBuffer) {
    low = {std::min(low.x, vertex.pos.x), std::min(low.y, vertex.pos.y)};
    high = {std::max(high.x, vertex.pos.x), std::max(high.y, vertex.pos.y)};
  }
  const auto column = [&](float x) {
    return std::clamp((x - all.DisplayPos.x) * all.FramebufferScale.x, 0.0f, static_cast<float>(width));
  };
  const auto row = [&](float y) {
    return std::clamp((y - all.DisplayPos.y) * all.FramebufferScale.y, 0.0f, static_cast<float>(height));
  };
  return {static_cast<int>(std::floor(column(low.x))), height - static_cast<int>(std::ceil(row(high.y))),
          static_cast<int>(std::ceil(column(high.x))), height - static_cast<int>(std::floor(row(low.y)))};
}

}  // namespace

std::vector<PixelRect> merge_overlapping(std::vector<PixelRect> rects) {
  std::vector<PixelRect> apart;
  while (!rects.empty()) {
    const PixelRect next = rects.back();
    rects.pop_back();
    if (next.left >= next.right || next.bottom >= next.top) continue;
    const auto met = std::ranges::find_if(apart, [&](const PixelRect& other) { return overlap(next, other); });
    if (met == apart.end()) {
      apart.push_back(next);
    } else {  // the larger rectangle may overlap others
      rects.push_back(around(next, *met));
      apart.erase(met);
    }
  }
  return apart;
}

void PanelPicture::take(const ImDrawData& laid_out, PanelPainter& painter, int width, int height) {
  if (width < 1 || height < 1) return;
  if (picture_.width() != width || picture_.height() != height) picture_ = {GL_RGBA8, width, height};
  parts_.clear();
  for (int i = 0; i < laid_out.CmdListsCount; ++i) {
    parts_.push_back(pixels_of(*laid_out.CmdLists[i], laid_out, width, height));
  }
  parts_ = merge_overlapping(std::move(parts_));
  glBindFramebuffer(GL_FRAMEBUFFER, picture_.framebuffer());
  constexpr float nothing[4] = {};
  glClearBufferfv(GL_COLOR, 0, nothing);
  painter.draw(laid_out, picture_.framebuffer());
}

void PanelPicture::draw(const render::Canvas& canvas) const {
  if (canvas.width == picture_.width() && canvas.height == picture_.height()) blend_.draw(picture_, parts_, canvas);
}
namespace {

using What = InputEvent::What;

bool is_shift(int key) {
  return key == GLFW_KEY_LEFT_SHIFT || key == GLFW_KEY_RIGHT_SHIFT;
}

/// Returns whether the key is a Shift, Ctrl, Alt or Super key, left or right.
bool is_modifier(int key) {
  return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER;
}

}  // namespace

void InputQueue::add_key(int key, int scancode, int action, int modifiers, const char* name) {
  InputEvent event{.what = What::key, .code = key, .action = action, .scancode = scancode, .modifiers = modifiers};
  shift_ = (modifiers & GLFW_MOD_SHIFT) != 0;
  repeated_ = action == GLFW_REPEAT;
  if (action != GLFW_RELEASE) {
    const bool control = (modifiers & GLFW_MOD_CONTROL) != 0 && name;  // with Ctrl, the keyboard gives no character
    event.press = control
                      ? KeyPress{.character = static_cast<unsigned char>(*name), .repeated = repeated_, .control = true}
                      : KeyPress{.key = key, .repeated = repeated_};
  }
  events_.push_back(event);
}

void InputQueue::add_character(unsigned character) {
  events_.push_back({.what = What::character,
                     .code = static_cast<int>(character),
                     .press = typed_press(static_cast<char32_t>(character), shift_, repeated_)});
}

void InputQueue::add_button(int button, int action, int modifiers, double x, double y) {
  events_.push_back({.what = What::button, .code = button, .action = action, .modifiers = modifiers, .x = x, .y = y});
}

/// Returns whether the first event must end a part, because later events could undo it or get before it. Such events
/// are buttons and keys that type nothing, such as Backspace. GLFW reports a character right after its key.
bool InputQueue::ends_part() const {
  const InputEvent& event = events_.front();
  if (event.what == What::button) return true;
  if (event.what == What::character || event.action != GLFW_PRESS || is_modifier(event.code)) return false;
  return events_.size() < 2 || events_[1].what != What::character;
}

/// Returns whether characters and releases before the first event need their own layout. Ctrl and Alt would turn the
/// characters into commands, and a key pressed again would never appear released.
bool InputQueue::begins_part() const {
  const InputEvent& event = events_.front();
  const bool modifies = event.what == What::key && event.action == GLFW_PRESS && is_modifier(event.code);
  return ends_part() || (modifies && !is_shift(event.code));
}

std::vector<InputEvent> InputQueue::take_part() {
  std::vector<InputEvent> part;
  bool earlier = false;  // an event for which the next one may have to wait
  while (!events_.empty() && !(earlier && begins_part())) {
    const bool last = ends_part();
    earlier |= events_.front().what == What::character || events_.front().action == GLFW_RELEASE;
    part.push_back(events_.front());
    events_.pop_front();
    if (last) break;
  }
  return part;
}
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

/// Returns whether an edited text takes the key, or whether it is the Esc that closes a list. Call before a layout's
/// widgets, since a text that ended in the last layout takes no more keys.
bool text_takes(const KeyPress& press) {
  if (ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive() && belongs_to_text(press)) return true;
  return press.key == GLFW_KEY_ESCAPE && ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

}  // namespace

Gui::Gui(const Surface& surface) : surface_{surface}, context_{ImGui::CreateContext()}, scale_{surface.scale()} {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // ImGui writes no ini file
  apply_style(scale_);
  io.UserData = this;
  if (surface.window()) {
    ImGui_ImplGlfw_InitForOpenGL(surface.window(), /*install_callbacks=*/true);
    listen(surface.window());
  }
  painter_.emplace();
  if (!render::draws_in_software()) picture_.emplace();
}

Gui::~Gui() {
  if (surface_.window()) ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext(context_);
}

float Gui::display_scale() const {
  const render::Canvas canvas = surface_.canvas();
  const ImVec2 enlarged = ImGui::GetIO().DisplayFramebufferScale;  // above 1 if the system scales windows
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
  painter_->take_fonts();
}

/// Replaces ImGui's callbacks, which would not keep the order of events.
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
  if (surface_.window()) {
    for (const InputEvent& event : part) deliver(event, surface_.window());
    ImGui_ImplGlfw_NewFrame();
    if (!part.empty() && part.back().what == InputEvent::What::button) {  // the pointer may have moved after the click
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
  if (picture_) picture_->take(*ImGui::GetDrawData(), *painter_, canvas.width, canvas.height);
  draw_again();
}

void Gui::draw_again() {
  const render::Canvas canvas = surface_.canvas();
  if (picture_) return picture_->draw(canvas);
  painter_->draw(*ImGui::GetDrawData(), canvas.framebuffer);
}

void Gui::draw_enlarged(float times, const render::Canvas& canvas, const std::function<void()>& widgets) {
  ImGuiIO& io = ImGui::GetIO();
  const ImGuiIO before = io;
  const float magnified = std::exchange(magnified_, times * magnified_);
  follow_style();
  for (int frame = 0; frame < frames_to_settle; ++frame) {
    io.DisplaySize = {static_cast<float>(canvas.width), static_cast<float>(canvas.height)};
    io.DisplayFramebufferScale = {1, 1};
    io.DeltaTime = 1e-6f;
    io.MousePos = {-FLT_MAX, -FLT_MAX};
    ImGui::NewFrame();
    widgets();
    ImGui::Render();
  }
  painter_->draw(*ImGui::GetDrawData(), canvas.framebuffer);
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
