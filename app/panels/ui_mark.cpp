#include "app/panels/ui_mark.h"

#include <imgui.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace orrery {
namespace {

struct Marks {
  const char* file = std::getenv("ORRERY_UI_LAYOUT");
  std::map<std::string, ImVec4> rectangles;
  std::chrono::steady_clock::time_point written{};
};

Marks& marks() {
  static Marks the_marks;
  return the_marks;
}

}  // namespace

void ui_mark(const std::string& name) {
  Marks& m = marks();
  if (!m.file || !ImGui::IsItemVisible()) return;
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  m.rectangles[name] = {low.x, low.y, high.x, high.y};
}

void ui_mark(const char* name) {
  if (marks().file) ui_mark(std::string{name});
}

void write_ui_marks() {
  Marks& m = marks();
  if (!m.file) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - m.written > std::chrono::milliseconds{200}) {
    m.written = now;
    const std::filesystem::path part = std::string{m.file} + ".part";
    std::ofstream out{part};
    for (const auto& [name, r] : m.rectangles)
      out << name << ' ' << r.x << ' ' << r.y << ' ' << r.z << ' ' << r.w << '\n';
    out.close();
    std::error_code ignored;
    if (out) std::filesystem::rename(part, m.file, ignored);
  }
  m.rectangles.clear();
}

}  // namespace orrery
