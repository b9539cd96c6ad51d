#include "app/window/keys.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>

#include <numbers>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "app/ui_state/camera_commands.h"
#include "app/ui_state/film_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/camera_control.h"
#include "tests/compute/support/backends.h"

namespace orrery {
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
  view.kernels = test::kernels();
  view.backends = test::backends().statuses();
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
  Status status = status_of(test::find_kernel("cpu-simd"));
  status.integrator_id = "yoshida4";
  EXPECT_EQ(asked<SelectIntegrator>({.character = U'i'}, status).id, "leapfrog");
  status.auto_choice = AutoChoice{};
  EXPECT_EQ(asked<SelectIntegrator>({.character = U'i'}, status).id, "hermite4") << "auto chooses another";
  EXPECT_EQ(asked<SelectIntegrator>({.character = U'i'}, status_of(test::find_kernel("cpu-jerk"))).id,
            "leapfrog-blocks");
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
    EXPECT_NE(printed.find(line.action), std::string::npos) << line.action;
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
  const Status status = status_of(test::backends().default_kernel());
  ViewStatus view = view_of_all_kernels();
  EXPECT_TRUE(asked<SetPresentation>({.character = U'P'}, status, view).on);
  view.presentation = view.fullscreen = true;
  EXPECT_FALSE(asked<SetPresentation>({.character = U'P'}, status, view).on);
  EXPECT_FALSE(asked<SetPresentation>({.key = GLFW_KEY_ESCAPE}, status, view).on);
}

TEST(Keys, UnknownOnesAskForNothing) {
  EXPECT_FALSE(request_for({.character = U'§'}, status_of(test::backends().default_kernel()), {}));
  EXPECT_FALSE(request_for({.key = GLFW_KEY_ESCAPE}, status_of(test::backends().default_kernel()), {}))
      << "there is nothing to leave";
}

TEST(Keys, SpaceTurnsPauseOnAndOff) {
  Status status = status_of(test::backends().default_kernel());
  EXPECT_TRUE(asked<SetPaused>({.character = U' '}, status).paused);
  status.paused = true;
  EXPECT_FALSE(asked<SetPaused>({.character = U' '}, status).paused);
}

TEST(Keys, KernelKeyGoesOnOrWithShiftBack) {
  const Status status = status_of(test::backends().default_kernel());
  EXPECT_EQ(asked<SelectNextKernel>({.character = U'k'}, status).direction, Direction::forward);
  EXPECT_EQ(asked<SelectNextKernel>({.character = U'K'}, status).direction, Direction::back);
}

TEST(Keys, BlockKeyVisitsEveryValueOfTheFirstSetting) {
  for (const KernelPtr& kernel : test::kernels()) {
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
  const Status status = status_of(test::backends().default_kernel());
  asked<Restart>({.character = U'r'}, status);
  asked<Reset>({.character = U'R'}, status);
}

TEST(Keys, WithCtrlALetterHasAMeaningOfItsOwn) {
  Status status = status_of(test::backends().default_kernel());
  EXPECT_FALSE(request_for({.character = U'z', .control = true}, status, {})) << "there is nothing to undo";
  status.undo_step = 3;
  asked<UndoReturn>({.character = U'z', .control = true}, status);
  EXPECT_FALSE(request_for({.character = U'z'}, status_of(test::backends().default_kernel()), {}));
  EXPECT_FALSE(request_for({.character = U'q', .control = true}, status_of(test::backends().default_kernel()), {}));
}

TEST(Keys, PinKeyPinsTheRowOfWhatRuns) {
  const Status status = status_of(test::backends().default_kernel());
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
  Status status = status_of(test::backends().default_kernel());
  status.steps_per_frame = 1;
  EXPECT_EQ(asked<SetStepsPerFrame>({.character = U'-'}, status).steps, 1);
  EXPECT_EQ(asked<SetStepsPerFrame>({.character = U'+'}, status).steps, 2);
  status.steps_per_frame = 700;
  EXPECT_EQ(asked<SetStepsPerFrame>({.character = U'+'}, status).steps, SetStepsPerFrame::range.most);
}

TEST(Keys, FollowKeyFollowsThePickedBodyOrStops) {
  const Status status = status_of(test::backends().default_kernel());
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
  const Status status = status_of(test::backends().default_kernel());
  ViewStatus view;
  view.fullscreen = true;
  view.picked = PickedBody{.number = 3};
  asked<Unpick>({.key = GLFW_KEY_ESCAPE}, status, view);
  view.picked.reset();
  asked<ToggleFullscreen>({.key = GLFW_KEY_ESCAPE}, status, view);
}

TEST(Keys, DigitsLookAlongTheAxes) {
  const Status status = status_of(test::backends().default_kernel());
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
  const Status status = status_of(test::backends().default_kernel());
  ViewStatus view;
  asked<StartRecording>({.key = GLFW_KEY_F5}, status, view);
  view.recording.active = true;
  asked<StopRecording>({.key = GLFW_KEY_F5}, status, view);
  asked<StartFilm>({.key = GLFW_KEY_F6}, status, view);
  view.features.of<FilmStatus>().active = true;
  asked<StopFilm>({.key = GLFW_KEY_F6}, status, view);
}

TEST(Keys, HeldDownOnlyTheOnesThatGoOnAskAgain) {
  const Status status = status_of(test::backends().default_kernel());
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
  const Status status = status_of(test::backends().default_kernel());
  ViewStatus view;
  view.colour_maps = {"a", "b"};
  view.appearance.colour_map = 1;
  EXPECT_EQ(asked<SetAppearance>({.character = U'c'}, status, view).appearance.colour_map, 0);
}

TEST(Keys, QuantityKeyGoesRoundAndFreesTheRange) {
  const Status status = status_of(test::backends().default_kernel());
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
  const Status status = status_of(test::find_kernel("cpu-openmp"));
  ViewStatus view = view_of_all_kernels();
  EXPECT_EQ(asked<FrameAll>({U'f'}, status, view).bodies, FramedBodies::all);
  view.framed_all = true;
  EXPECT_EQ(asked<FrameAll>({U'f'}, status, view).bodies, FramedBodies::most);
}

}  // namespace
}  // namespace orrery
