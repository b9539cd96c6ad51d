// Many events of one slow frame reach a text field and the table of keys in order.
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/gui.h"

namespace orrery {
namespace {

/// A keyboard whose events wait.
class InputQueueTest : public testing::Test {
 protected:
  void press(int key, int modifiers = 0, const char* name = nullptr) {
    queue_.add_key(key, 0, GLFW_PRESS, modifiers, name);
  }
  void release(int key, int modifiers = 0) { queue_.add_key(key, 0, GLFW_RELEASE, modifiers, nullptr); }
  void tap(int key) {
    press(key);
    release(key);
  }
  void type(std::string_view text) {
    for (const char letter : text) {
      press(letter);
      queue_.add_character(static_cast<unsigned char>(letter));
      release(letter);
    }
  }
  void select_all() {
    press(GLFW_KEY_LEFT_CONTROL);
    press(GLFW_KEY_A, GLFW_MOD_CONTROL, "a");
    release(GLFW_KEY_A, GLFW_MOD_CONTROL);
    release(GLFW_KEY_LEFT_CONTROL);
  }

  /// The characters that the table of keys gets, part by part.
  std::vector<std::u32string> characters_of_parts() {
    std::vector<std::u32string> parts;
    while (!queue_.empty()) {
      std::u32string& part = parts.emplace_back();
      for (const InputEvent& event : queue_.take_part()) {
        if (event.press && event.press->character) part += event.press->character;
      }
    }
    return parts;
  }

  InputQueue queue_;
};

/// A text field of Dear ImGui that gets a part of the events per layout.
class TextFieldTest : public InputQueueTest {
 protected:
  TextFieldTest() : context_{ImGui::CreateContext()} {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {400, 200};
    unsigned char* pixels;
    int width, height;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    io.KeyMap[ImGuiKey_A] = GLFW_KEY_A;
    io.KeyMap[ImGuiKey_Backspace] = GLFW_KEY_BACKSPACE;
    io.KeyMap[ImGuiKey_End] = GLFW_KEY_END;
    for (int frame = 0; frame < 3; ++frame) lay_out(frame == 0);
  }
  ~TextFieldTest() override { ImGui::DestroyContext(context_); }

  void lay_out(bool focus = false) {
    ImGui::GetIO().DeltaTime = 1 / 60.0f;
    ImGui::NewFrame();
    ImGui::Begin("a window");
    if (focus) ImGui::SetKeyboardFocusHere();
    ImGui::InputText("field", text_.data(), text_.size());
    ImGui::End();
    ImGui::EndFrame();
  }

  std::string_view text_after_all_parts() {
    ImGuiIO& io = ImGui::GetIO();
    while (!queue_.empty()) {
      for (const InputEvent& event : queue_.take_part()) {  // as ImGui's back end does
        if (event.what == InputEvent::What::character) io.AddInputCharacter(static_cast<unsigned>(event.code));
        if (event.what == InputEvent::What::key) io.KeysDown[event.code] = event.action != GLFW_RELEASE;
        io.KeyCtrl = io.KeysDown[GLFW_KEY_LEFT_CONTROL];
      }
      lay_out();
    }
    return text_.data();
  }

 private:
  ImGuiContext* context_;
  std::array<char, 32> text_{"2048"};
};

TEST_F(TextFieldTest, SelectsAllBeforeTheCharactersThatFollow) {
  select_all();
  type("31416");
  EXPECT_EQ(text_after_all_parts(), "31416");
}

TEST_F(TextFieldTest, CountsEachBackspaceBetweenCharacters) {
  tap(GLFW_KEY_END);
  type("12");
  for (int i = 0; i < 5; ++i) tap(GLFW_KEY_BACKSPACE);
  type("7182");
  EXPECT_EQ(text_after_all_parts(), "27182");
}

TEST_F(TextFieldTest, TypesBeforeTheCtrlThatFollows) {
  tap(GLFW_KEY_END);
  type("56");
  select_all();
  EXPECT_EQ(text_after_all_parts(), "204856");
}

TEST_F(InputQueueTest, AsksForEachPressInOrder) {
  type("ccm");
  EXPECT_EQ(characters_of_parts(), (std::vector<std::u32string>{U"ccm"}));
  type("c");
  tap(GLFW_KEY_ENTER);
  type("m");
  EXPECT_EQ(characters_of_parts(), (std::vector<std::u32string>{U"c", U"", U"m"})) << "Enter may end a text";
}

TEST_F(InputQueueTest, AClickComesBeforeTheKeysThatFollow) {
  type("c");
  queue_.add_button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0, 10, 20);
  queue_.add_button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0, 11, 20);
  type("3");
  EXPECT_EQ(queue_.take_part().back().what, InputEvent::What::key);
  const std::vector<InputEvent> pressed = queue_.take_part(), released = queue_.take_part();
  ASSERT_EQ(pressed.size(), 1u);
  EXPECT_EQ(pressed[0].action, GLFW_PRESS);
  EXPECT_EQ(pressed[0].x, 10);
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].x, 11);
  EXPECT_EQ(characters_of_parts(), (std::vector<std::u32string>{U"3"}));
}

TEST_F(InputQueueTest, ShiftAndRepeatsBelongToTheirCharacters) {
  queue_.add_key('K', 0, GLFW_REPEAT, GLFW_MOD_SHIFT, "k");
  queue_.add_character('k');
  const std::vector<InputEvent> part = queue_.take_part();
  ASSERT_EQ(part.size(), 2u);
  EXPECT_EQ(part[1].press, (KeyPress{.character = U'K', .repeated = true}));
}

}  // namespace
}  // namespace orrery
