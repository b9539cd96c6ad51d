#include "app/window/keys.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include <numbers>
#include <regex>

#include "app/ui_state/camera_commands.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/camera_control.h"
#include "app/window/gui.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

Status status_of(const KernelPtr& kernel) {
  Status status;
  status.kernel_id = kernel->id;
  status.kernel = kernel;
  status.backend = kernel->backend;
  status.settings = Settings{*kernel};
  status.integrator_id = "leapfrog";
  return status;
}

ViewStatus view_of_all_kernels() {
  ViewStatus view;
  view.kernels = kernels();
  view.backends = backends().statuses();
  return view;
}

template <class T>
T asked(KeyPress press, const Status& status, const ViewStatus& view = view_of_all_kernels()) {
  const auto request = request_for(press, status, view);
  EXPECT_TRUE(request.has_value());
  if (!request) return {};
  const T* found = command_if<T>(*request);
  EXPECT_NE(found, nullptr) << "the key asks for something else";
  return found ? *found : T{};
}

TEST(Keys, NoneMeansTwoThings) {
  std::set<std::pair<char32_t, int>> seen;
  for (const KeyBinding& binding : key_bindings()) {
    EXPECT_FALSE(binding.presses.empty()) << binding.keys;
    for (const KeyPress& press : binding.presses) {
      EXPECT_TRUE((press.character == 0) != (press.key == 0)) << binding.keys;
      EXPECT_TRUE(seen.emplace(press.character, press.key).second) << binding.keys << " is bound twice";
    }
  }
}

TEST(Keys, IPassesOverIntegratorsThatTheKernelDoesNotSuit) {
  Status status = status_of(find_kernel("cpu-simd"));
  status.integrator_id = "yoshida4";
  EXPECT_EQ(asked<SelectIntegrator>({.character = U'i'}, status).id, "leapfrog");
  status.auto_choice = AutoChoice{};
  EXPECT_EQ(asked<SelectIntegrator>({.character = U'i'}, status).id, "hermite4") << "auto chooses another";
  EXPECT_EQ(asked<SelectIntegrator>({.character = U'i'}, status_of(find_kernel("cpu-jerk"))).id, "leapfrog-blocks");
}

TEST(Keys, AreAllInTheHelp) {
  const auto help = key_help();
  ASSERT_EQ(help.size(), key_bindings().size() + mouse_help().size());
  const std::string printed = std::regex_replace(key_table({}), std::regex{"\\s+"}, " ");  // long lines are wrapped
  std::set<std::string> keys;
  for (const KeyHelp& line : help) {
    EXPECT_FALSE(line.action.empty());
    EXPECT_LE(line.action.size(), 36u) << line.action;
    EXPECT_TRUE(keys.insert(line.keys).second) << line.keys;
    expect_holds(printed, {line.action});
  }
}

TEST(Keys, HaveAHeadingEach) {
  const auto help = key_help();
  EXPECT_EQ(help.front().group, "Camera");
  std::vector<std::string> groups;
  for (const KeyHelp& line : help) {
    if (!line.group.empty()) groups.push_back(line.group);
  }
  EXPECT_EQ(groups, (std::vector<std::string>{"Camera", "Run", "Kernel", "Picture", "Files", "Window"}));
}

TEST(Keys, ShowThePresentationAndLeaveItByEsc) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view = view_of_all_kernels();
  EXPECT_TRUE(asked<SetPresentation>({.character = U'P'}, status, view).on);
  view.presentation = view.fullscreen = true;
  EXPECT_FALSE(asked<SetPresentation>({.character = U'P'}, status, view).on);
  EXPECT_FALSE(asked<SetPresentation>({.key = GLFW_KEY_ESCAPE}, status, view).on);
}

TEST(Keys, UnknownOnesAskForNothing) {
  EXPECT_FALSE(request_for({.character = U'§'}, status_of(backends().default_kernel()), {}));
  EXPECT_FALSE(request_for({.key = GLFW_KEY_ESCAPE}, status_of(backends().default_kernel()), {}))
      << "there is nothing to leave";
}

TEST(Keys, SpaceTurnsPauseOnAndOff) {
  Status status = status_of(backends().default_kernel());
  EXPECT_TRUE(asked<SetPaused>({.character = U' '}, status).paused);
  status.paused = true;
  EXPECT_FALSE(asked<SetPaused>({.character = U' '}, status).paused);
}

TEST(Keys, KernelKeyGoesOnOrWithShiftBack) {
  const Status status = status_of(backends().default_kernel());
  EXPECT_EQ(asked<SelectNextKernel>({.character = U'k'}, status).direction, Direction::forward);
  EXPECT_EQ(asked<SelectNextKernel>({.character = U'K'}, status).direction, Direction::back);
}

TEST(Keys, BlockKeyVisitsEveryValueOfTheFirstSetting) {
  for (const KernelPtr& kernel : kernels()) {
    Status status = status_of(kernel);
    if (kernel->tunables.empty()) {
      EXPECT_FALSE(request_for({.character = U'b'}, status, {})) << kernel->id;
      continue;
    }
    const Tunable& first = kernel->tunables.front();
    std::set<std::string> visited;
    for (std::size_t i = 0; i < first.values.size(); ++i) {
      const auto set = asked<SetTunable>({.character = U'b'}, status);
      EXPECT_EQ(set.name, first.name);
      status.settings.set(set.name, set.value);
      visited.insert(set.value);
    }
    EXPECT_EQ(visited.size(), first.values.size()) << kernel->id;
  }
}

TEST(Keys, RestartKeepsTheSettingsAndWithShiftItResets) {
  const Status status = status_of(backends().default_kernel());
  asked<Restart>({.character = U'r'}, status);
  asked<Reset>({.character = U'R'}, status);
}

TEST(Keys, WithCtrlALetterHasAMeaningOfItsOwn) {
  Status status = status_of(backends().default_kernel());
  EXPECT_FALSE(request_for({.character = U'z', .control = true}, status, {})) << "there is nothing to undo";
  status.undo_step = 3;
  asked<UndoReturn>({.character = U'z', .control = true}, status);
  EXPECT_FALSE(request_for({.character = U'z'}, status_of(backends().default_kernel()), {}));
  EXPECT_FALSE(request_for({.character = U'q', .control = true}, status_of(backends().default_kernel()), {}));
}

TEST(Keys, PinKeyPinsTheRowOfWhatRuns) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view;
  EXPECT_FALSE(request_for({.character = U'p'}, status, view)) << "there is no row yet";
  Result swept, other, present;
  static_cast<Trial&>(swept) = static_cast<Trial&>(present) = trial_of(status);
  swept.swept = true;
  view.results = {other, swept, present};
  EXPECT_EQ(asked<PinResult>({.character = U'p'}, status, view).row, 2);
  EXPECT_TRUE(asked<PinResult>({.character = U'p'}, status, view).pinned);
  view.results[2].pinned = true;
  EXPECT_FALSE(asked<PinResult>({.character = U'p'}, status, view).pinned);
}

TEST(Keys, StepsAFrameStayInRange) {
  Status status = status_of(backends().default_kernel());
  status.steps_per_frame = 1;
  EXPECT_EQ(asked<SetStepsPerFrame>({.character = U'-'}, status).steps, 1);
  EXPECT_EQ(asked<SetStepsPerFrame>({.character = U'+'}, status).steps, 2);
  status.steps_per_frame = 700;
  EXPECT_EQ(asked<SetStepsPerFrame>({.character = U'+'}, status).steps, SetStepsPerFrame::range.most);
}

TEST(Keys, FollowKeyFollowsThePickedBodyOrStops) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view;
  EXPECT_FALSE(request_for({.character = U'F'}, status, view));
  view.picked = PickedBody{.number = 3};
  EXPECT_EQ(asked<Follow>({.character = U'F'}, status, view).what, Followed::body);
  view.followed = {Followed::cluster};
  EXPECT_EQ(asked<Follow>({.character = U'F'}, status, view).what, Followed::body);
  view.followed = {Followed::body};
  EXPECT_EQ(asked<Follow>({.character = U'F'}, status, view).what, Followed::nothing);
  view.picked.reset();
  view.followed = {Followed::part, "disc"};
  EXPECT_EQ(asked<Follow>({.character = U'F'}, status, view).what, Followed::nothing);
}

TEST(Keys, EscPicksNoBodyBeforeItLeavesFullScreen) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view;
  view.fullscreen = true;
  view.picked = PickedBody{.number = 3};
  asked<Unpick>({.key = GLFW_KEY_ESCAPE}, status, view);
  view.picked.reset();
  asked<ToggleFullscreen>({.key = GLFW_KEY_ESCAPE}, status, view);
}

TEST(Keys, DigitsLookAlongTheAxes) {
  const Status status = status_of(backends().default_kernel());
  const auto looks = [&](char32_t digit, float azimuth, float elevation) {
    const auto look = asked<LookFrom>({.character = digit}, status);
    EXPECT_FLOAT_EQ(look.azimuth, azimuth);
    EXPECT_FLOAT_EQ(look.elevation, elevation);
    EXPECT_NO_THROW(check_arguments(row_in<LookFrom>(camera_commands), look));
  };
  constexpr float right_angle = std::numbers::pi_v<float> / 2;
  looks(U'1', -right_angle, 0);
  looks(U'3', 0, 0);
  looks(U'7', -right_angle, right_angle);
}

TEST(Keys, RecordingKeyStopsWhatItStarted) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view;
  asked<StartRecording>({.key = GLFW_KEY_F5}, status, view);
  view.recording.active = true;
  asked<StopRecording>({.key = GLFW_KEY_F5}, status, view);
  asked<StartFilm>({.key = GLFW_KEY_F6}, status, view);
  view.features.of<FilmStatus>().active = true;
  asked<StopFilm>({.key = GLFW_KEY_F6}, status, view);
}

TEST(Keys, HeldDownOnlyTheOnesThatGoOnAskAgain) {
  const Status status = status_of(backends().default_kernel());
  EXPECT_TRUE(request_for({.character = U'+', .repeated = true}, status, {}));
  EXPECT_TRUE(request_for({.character = U']', .repeated = true}, status, {}));
  for (const char32_t once : {U' ', U'k', U'r', U'v', U'q'}) {
    EXPECT_TRUE(request_for({.character = once}, status, {}));
    EXPECT_FALSE(request_for({.character = once, .repeated = true}, status, {}));
  }
  EXPECT_FALSE(request_for({.key = GLFW_KEY_F12, .repeated = true}, status, {}));
}

TEST(Keys, CapsLockChangesNothing) {
  EXPECT_EQ(typed_press(U'K', false, false).character, U'k');
  EXPECT_EQ(typed_press(U'k', true, false).character, U'K');
  EXPECT_EQ(typed_press(U'K', true, false).character, U'K');
  EXPECT_EQ(typed_press(U'?', true, false).character, U'?');
  EXPECT_EQ(typed_press(U'+', false, true), (KeyPress{.character = U'+', .repeated = true}));
}

TEST(Keys, FunctionKeysWorkWhileTextIsEdited) {
  EXPECT_FALSE(belongs_to_text({.key = GLFW_KEY_F5}));
  EXPECT_FALSE(belongs_to_text({.key = GLFW_KEY_F12}));
  for (const int key : {GLFW_KEY_TAB, GLFW_KEY_ESCAPE, GLFW_KEY_HOME}) EXPECT_TRUE(belongs_to_text({.key = key}));
  EXPECT_TRUE(belongs_to_text({.character = U'q'}));
}

TEST(Keys, ColourMapKeyGoesRound) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view;
  view.colour_maps = {"a", "b"};
  view.appearance.colour_map = 1;
  EXPECT_EQ(asked<SetAppearance>({.character = U'c'}, status, view).appearance.colour_map, 0);
}

TEST(Keys, QuantityKeyGoesRoundAndFreesTheRange) {
  const Status status = status_of(backends().default_kernel());
  ViewStatus view;
  view.appearance.low = 1;
  std::set<const render::ColourBy*> seen;
  while (seen.insert(view.appearance.colour_by).second) {
    view.appearance = asked<SetAppearance>({.character = U'm'}, status, view).appearance;
    EXPECT_FALSE(view.appearance.low);
  }
  EXPECT_EQ(seen.size(), body_colours().size());
  EXPECT_EQ(view.appearance.colour_by, find_body_colour("speed").by);
}

TEST(Keys, FShowsAllBodiesThenMostOfThemThenAll) {
  const Status status = status_of(find_kernel("cpu-openmp"));
  ViewStatus view = view_of_all_kernels();
  EXPECT_EQ(asked<FrameAll>({U'f'}, status, view).bodies, FramedBodies::all);
  view.framed_all = true;
  EXPECT_EQ(asked<FrameAll>({U'f'}, status, view).bodies, FramedBodies::most);
}

std::optional<Request> requested(KeyPress press, const ViewStatus& view) {
  return request_for(press, {}, view);
}

/// The request of the key, which must be a T.
template <class T>
T lesson_request(KeyPress press, const ViewStatus& view) {
  const auto request = requested(press, view);
  const T* found = request ? command_if<T>(*request) : nullptr;
  EXPECT_NE(found, nullptr) << "the key asks for nothing or something else";
  return found ? *found : T{};
}

TEST(LessonKeys, TwoDigitsInOneGoOpenALessonFromTen) {
  ViewStatus view;
  for (int number = 1; number <= 12; ++number) view.lesson.titles.push_back({number, "A lesson"});
  view.lesson.shown = true;
  EXPECT_EQ(lesson_request<ShowLesson>({.character = U'1'}, view).number, 1);
  view.lesson.listed = false;
  view.lesson.number = 1;
  view.lesson.opened = std::chrono::steady_clock::now();
  for (const char32_t digit : {U'0', U'1', U'2'}) {
    EXPECT_EQ(lesson_request<ShowLesson>({.character = digit}, view).number, 10 + static_cast<int>(digit - U'0'));
  }
  lesson_request<LookFrom>({.character = U'3'}, view);  // there is no lesson 13
  view.lesson.opened -= std::chrono::seconds{2};
  lesson_request<LookFrom>({.character = U'1'}, view);
}

TEST(LessonKeys, LeadThroughALesson) {
  ViewStatus view;
  EXPECT_FALSE(lesson_request<ShowLesson>({.key = GLFW_KEY_F7}, view).number) << "the list";
  EXPECT_FALSE(requested({.key = GLFW_KEY_ENTER}, view));
  view.lesson.shown = true;
  EXPECT_EQ(lesson_request<ShowLesson>({.character = U'4'}, view).number, 4);
  lesson_request<CloseLesson>({.key = GLFW_KEY_F7}, view);
  lesson_request<CloseLesson>({.key = GLFW_KEY_ESCAPE}, view);
  view.lesson.listed = false;
  view.lesson.title = "A lesson";
  view.lesson.choices = {"No.", "Yes."};
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_ENTER}, view).page, LessonPage::predict);
  EXPECT_FALSE(requested({.key = GLFW_KEY_BACKSPACE}, view)) << "there is no page before";
  lesson_request<LookFrom>({.character = U'1'}, view);
  view.lesson.page = LessonPage::predict;
  EXPECT_EQ(lesson_request<PredictLesson>({.character = U'1'}, view).choice, 0);
  lesson_request<LookFrom>({.character = U'3'}, view);  // there are two choices
  view.lesson.page = LessonPage::measure;
  EXPECT_TRUE(lesson_request<MeasureLesson>({.key = GLFW_KEY_ENTER}, view).on);
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_BACKSPACE}, view).page, LessonPage::predict);
  view.lesson.measuring = true;
  EXPECT_FALSE(requested({.key = GLFW_KEY_ENTER}, view));
  view.lesson.measuring = false;
  view.lesson.measured = true;
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_ENTER}, view).page, LessonPage::answer);
  view.lesson.shown = false;
  EXPECT_EQ(lesson_request<TurnLessonPage>({.key = GLFW_KEY_F7}, view).page, LessonPage::measure) << "where it was";
  view.quit_question = {"The recording ends."};
  lesson_request<Quit>({.key = GLFW_KEY_ENTER}, view);
}

// Many events of one slow frame reach a text field and the table of keys in order.

/// A keyboard whose events wait.
struct InputQueueTest : testing::Test {
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
}  // namespace orrery::test
