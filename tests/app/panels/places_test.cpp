// Parts over the picture have places of their own: the light of a recording, the legend, messages, the card of a body.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/kit/theme.h"
#include "app/panels/sections.h"
#include "app/ui_state/film_commands.h"
#include "tests/app/panels/panels_fixture.h"

namespace orrery::test {
namespace {

struct WindowAt {
  float width, height, scale;
};
constexpr WindowAt windows_at[] = {{400, 300, 1},  {640, 480, 1},  {800, 600, 1},  {800, 600, 2},
                                   {1280, 720, 1}, {1280, 720, 2}, {1920, 1080, 1}};

ImRect place_of(const char* name) {
  const ImGuiWindow* const window = ImGui::FindWindowByName(name);
  return window && window->Active ? window->Rect() : ImRect{};
}

class Places : public Panels {
 protected:
  Places() {
    view.legend = {.quantity = "speed",
                   .low = 0.1f,
                   .high = 3.2f,
                   .colours = {{0, 0, 0}, {1, 1, 1}},
                   .world_per_height = 4,
                   .unit = "length / time"};
    for (int i = 0; i < 50; ++i) {
      view.keys.push_back({i == 1 ? "Right drag, Shift+drag" : "Shift+" + std::to_string(i),
                           "Pins or unpins this run as baseline.", i % 9 == 0 ? "Heading" : ""});
    }
  }
  void show_lessons() {
    view.lesson.shown = view.lesson.listed = true;
    for (int i = 1; i <= 12; ++i) view.lesson.titles.push_back({i, "A lesson"});
  }
  void size_to(const WindowAt& display) {
    resize(display.width, display.height, fitting_scale(display.scale, display.width, display.height));
    for (int i = 0; i < 3; ++i) settle();
  }
  /// Another window than the light's that lies over or below it; none: "".
  static std::string shares_the_place_of_the_light() {
    const ImRect light = place_of("Lights");
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      const std::string_view name = window->Name;
      const bool drawn = window->Active && !window->Hidden && !(window->Flags & ImGuiWindowFlags_ChildWindow);
      if (drawn && name != "Lights" && !name.starts_with("Debug") && window->Rect().Overlaps(light))
        return window->Name;
    }
    return {};
  }
};

TEST_F(Places, TheLightOfARecordingHasAPlaceOfItsOwn) {
  view.recording = {.active = true, .file = "mine.csv", .rows = 1234, .error = {}};
  view.features.of<FilmStatus>().active = true;
  std::vector<WindowAt> displays{std::begin(windows_at), std::end(windows_at)};
  displays.push_back({340, 240, 1});  // the side column takes all of its width, and large type all of the picture
  enum class Shown { panels, lessons, help, both, presentation, nothing };
  show_lessons();
  for (const Shown shown :
       {Shown::panels, Shown::lessons, Shown::help, Shown::both, Shown::presentation, Shown::nothing}) {
    view.lesson.shown = shown == Shown::lessons || shown == Shown::both;
    view.help = shown == Shown::help || shown == Shown::both;
    view.presentation = shown == Shown::presentation;
    view.panel = shown != Shown::nothing;
    for (const WindowAt& display : displays) {
      SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale << " with "
                                      << static_cast<int>(shown));
      size_to(display);
      EXPECT_TRUE(seen("recording") && seen("filming"));
      EXPECT_GE(place_of("Lights").Min.x, 0);
      EXPECT_LE(place_of("Lights").Max.x, display.width);
      EXPECT_EQ(ImGui::GetCurrentContext()->Windows.back(), ImGui::FindWindowByName("Lights")) << "in front";
      if (shown == Shown::presentation && display.width < 400) continue;
      EXPECT_EQ(shares_the_place_of_the_light(), "");
    }
  }
}

TEST_F(Places, TheLightStaysInFrontOfWhatIsClicked) {
  view.recording.active = true;
  show_lessons();
  size_to({1280, 720, 1});
  click("lesson.open.3");
  EXPECT_EQ(ImGui::GetCurrentContext()->Windows.back(), ImGui::FindWindowByName("Lights"));
}

TEST_F(Places, HelpAndLessonsLeaveTheLegendFree) {
  show_lessons();
  for (const bool help : {true, false}) {
    for (const bool lesson : {true, false}) {
      view.help = help;
      view.lesson.shown = lesson;
      for (const WindowAt& display : windows_at) {
        if (display.width < 640) continue;  // no room for both
        SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale << (help ? " help" : "")
                                        << (lesson ? " lesson" : ""));
        size_to(display);
        ASSERT_TRUE(seen("legend.quantity"));
        for (const char* other : {"Help", "Lesson"})
          EXPECT_FALSE(place_of("Legend").Overlaps(place_of(other))) << other;
        EXPECT_TRUE(!help || seen("help.close"));
        EXPECT_TRUE(!lesson || help || seen("lesson.close"));
        for (const char* words : {"speed", "0.1", "3.2", "length"})
          EXPECT_NE(legend_text().find(words), std::string::npos) << words;
      }
    }
  }
}

TEST_F(Places, TheLegendHasAScaleBarInEveryWindow) {
  for (const bool picked : {false, true}) {
    if (picked) view.picked = PickedBody{.number = 7, .part = "disc", .acceleration = {{1, 2, 3}}};
    for (const WindowAt& display : windows_at) {
      SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale << (picked ? " picked" : ""));
      size_to(display);
      EXPECT_TRUE(seen("legend.scale"));
      EXPECT_NE(legend_text().find("length"), std::string::npos);
      for (const std::string& name : ui_cut_off()) EXPECT_FALSE(name.starts_with("legend")) << name;
    }
  }
  view.panel = false;
  size_to({480, 270, 1});
  EXPECT_TRUE(seen("legend.scale"));
}

TEST_F(Places, TheLegendHasNoNumbersWithoutValues) {
  view.legend.colours.clear();
  view.legend.logarithmic = true;
  view.legend.known = 0;
  view.legend.note = "known while two runs are compared";
  for (const WindowAt& display : windows_at) {
    size_to(display);
    const std::string text = legend_text();
    EXPECT_NE(text.find("speed"), std::string::npos) << text;
    EXPECT_NE(text.find("compared"), std::string::npos) << text;
    for (const char* invented : {"0.1", "3.2", "length / time", "%", "log"})
      EXPECT_EQ(text.find(invented), std::string::npos) << text;
  }
}

TEST_F(Places, TheHeadOfTheHelpStaysAndItsListOpensAtTheTop) {
  view.help = true;
  size_to({800, 600, 1});
  const auto list = [] {
    const auto& windows = ImGui::GetCurrentContext()->Windows;
    const auto found = std::ranges::find_if(
        windows, [](const ImGuiWindow* window) { return std::string_view{window->Name}.starts_with("Help/Keys"); });
    return found == windows.end() ? nullptr : *found;
  };
  ASSERT_NE(list(), nullptr);
  ASSERT_GT(list()->ScrollMax.y, 0) << "longer than the window";
  const UiRect close = ui_marked("help.close");
  ImGui::SetScrollY(list(), list()->ScrollMax.y);
  settle();
  EXPECT_GT(list()->Scroll.y, 0);
  EXPECT_TRUE(seen("help.close") && seen("help.lessons"));
  EXPECT_EQ(ui_marked("help.close").y0, close.y0);
  view.help = false;
  settle();
  view.help = true;
  settle();
  EXPECT_EQ(list()->Scroll.y, 0);
}

TEST_F(Places, MessagesLeaveTheCardOfABodyWhereItIs) {
  view.picked = PickedBody{.number = 12, .place = {{0.95f, 0.9f}}};
  for (const WindowAt& display : windows_at) {
    if (display.width < 640) continue;
    SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale);
    view.notice = status.last_error = "";
    size_to(display);
    if (!seen("picked")) continue;
    const ImRect card = place_of("Picked body");
    view.notice = "a picture was saved to a file with a rather long name, in a folder with a longer one";
    status.last_error = "short";
    for (int i = 0; i < 3; ++i) settle();
    EXPECT_EQ(place_of("Picked body").Min.x, card.Min.x);
    EXPECT_EQ(place_of("Picked body").Min.y, card.Min.y);
    ASSERT_TRUE(seen("notice") && seen("error"));
    for (const char* message : {"Notice", "Error"}) EXPECT_FALSE(place_of(message).Overlaps(card)) << message;
  }
}

TEST_F(Places, TheHeaderKeepsTheTime) {
  status.sim_time = 2.504;
  for (const WindowAt& display : windows_at) {
    SCOPED_TRACE(testing::Message() << display.width << " at " << display.scale);
    size_to(display);
    EXPECT_TRUE(!info_fits(view) || seen("info.time"));
  }
}

}  // namespace
}  // namespace orrery::test
