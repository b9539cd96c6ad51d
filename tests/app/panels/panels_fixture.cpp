#include "tests/app/panels/panels_fixture.h"

#include <sstream>
#include <utility>

#include "app/panels/kit/theme.h"
#include "app/panels/sections.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {

namespace {

/// The logged text in one line: the width of a window decides where lines end.
std::string logged() {
  std::istringstream words{ImGui::GetClipboardText()};
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

Panels::Panels() : context_{ImGui::CreateContext()} {
  resize(1280, 1400, 1);

  view.kernels = test::kernels();
  view.backends = test::backends().statuses();
  select(view.kernels.front());
  status.integrator_id = "leapfrog";
  status.time_step = 0.01f;
  status.scene_physics = {.integrator_id = "leapfrog", .law = {}, .time_step = 0.01f};
  status.count = 1000;
  status.scene.count = 1000;
  status.scene_name = "collision";
  status.interactions_per_step = 1e6;
  view.colour_maps = {"one", "two"};
  settle();
}

Panels::~Panels() {
  ImGui::DestroyContext(context_);
}

void Panels::resize(float width, float height, float scale) {
  ImGui::GetIO().DisplaySize = {width, height};
  if (scale == scale_) return;
  scale_ = scale;
  apply_style(scale);
  unsigned char* pixels;
  int atlas_width, atlas_height;
  ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &atlas_width, &atlas_height);
}

Requests Panels::frame() {
  Requests out;
  ImGui::GetIO().DeltaTime = 1 / 60.0f;
  ImGui::NewFrame();
  draw_panels(status, view, state, out);
  ImGui::Render();
  return out;
}

void Panels::pass(int frames, Requests& asked) {
  for (int i = 0; i < frames; ++i) {
    for (Request& request : frame()) asked.push_back(std::move(request));
  }
}

Requests Panels::press() {
  Requests asked;
  pass(1, asked);
  ImGui::GetIO().MouseDown[0] = true;
  pass(1, asked);
  ImGui::GetIO().MouseDown[0] = false;
  pass(3, asked);  // popups need a frame or two to take their place
  return asked;
}

void Panels::point_at(std::string_view mark) {
  EXPECT_TRUE(seen(mark)) << mark << " is not on the screen";
  const UiRect rect = ui_marked(mark);
  ImGui::GetIO().MousePos = {(rect.x0 + rect.x1) / 2, (rect.y0 + rect.y1) / 2};
}

Requests Panels::click(std::string_view mark) {
  point_at(mark);
  return press();
}

Requests Panels::double_click(std::string_view mark) {
  Requests asked;
  pass(30, asked);  // or a click before would count as the first
  for (Request& request : click(mark)) asked.push_back(std::move(request));
  for (Request& request : press()) asked.push_back(std::move(request));
  return asked;
}

Requests Panels::type(std::string_view content) {
  ImGuiIO& io = ImGui::GetIO();
  Requests asked;
  for (const char letter : content) {
    io.AddInputCharacter(static_cast<unsigned char>(letter));
    pass(1, asked);
  }
  constexpr int enter = 1;
  io.KeyMap[ImGuiKey_Enter] = enter;
  io.KeysDown[enter] = true;
  pass(1, asked);
  io.KeysDown[enter] = false;
  pass(1, asked);
  return asked;
}

Requests Panels::pick(const std::string& combo, std::string_view entry) {
  Requests all = click(combo);
  for (Request& request : click(combo + "." + std::string{entry})) all.push_back(std::move(request));
  return all;
}

std::string Panels::side_column_text() {
  Requests out;
  ImGui::NewFrame();
  ImGui::LogToClipboard();  // until the end of the first window, which is the side column
  draw_panels(status, view, state, out);
  ImGui::Render();
  return logged();
}

std::string Panels::lab_text() {
  return text_of([this](Requests& out) { lab_panel(status, view, state, out); });
}

std::string Panels::legend_text() {
  return text_of([this](Requests&) { legend_panel(status, view, state); });
}

std::string Panels::picked_text() {
  return text_of([this](Requests& out) { picked_panel(status, view, state, 0, out); });
}

std::string Panels::badge_text() {
  settle();
  point_at("interop");
  settle();
  return logged_text_of([this](Requests& out) { info_panel(status, view, out); });
}

std::string Panels::text_of(const std::function<void(Requests&)>& draw) {
  ImGui::GetIO().MousePos = {-1, -1};  // a tooltip would end the text
  return logged_text_of(draw);
}

std::string Panels::logged_text_of(const std::function<void(Requests&)>& draw) {
  Requests out;
  ImGui::NewFrame();
  ImGui::Begin("Around the panel");
  ImGui::LogToClipboard();
  draw(out);
  ImGui::LogFinish();
  ImGui::End();
  ImGui::Render();
  return logged();
}

void Panels::settle() {
  for (int i = 0; i < 3; ++i) frame();
}

void Panels::open_tab(const std::string& tab) {
  settle();
  EXPECT_TRUE(click("lab." + tab).empty());
  settle();
}

Result tried(const std::string& kernel_id, const std::string& settings) {
  Result result;
  result.kernel_id = kernel_id;
  result.settings = settings;
  result.integrator_id = "leapfrog";
  result.time_step = 0.01f;
  result.scene.count = 1000;
  result.count = 1000;
  result.step_ms.median = 1;
  result.interactions_per_s = 1e9;
  return result;
}

void Panels::select(const KernelPtr& kernel) {
  status.kernel_id = kernel->id;
  status.kernel = kernel;
  status.backend = kernel->backend;
  status.settings = Settings{*kernel};
}

}  // namespace orrery::test
