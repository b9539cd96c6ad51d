#include "app/window/keys.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "app/text/table.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/lessons_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "app/window/camera_control.h"
#include "compute/integrators/integrator.h"

namespace orrery {
namespace {

using Asked = std::optional<Request>;

/// Returns the entry `by` places after the current one, cyclically.
template <class Range, class IsPresent>
const auto& neighbour(const Range& range, IsPresent is_present, int by) {
  const auto size = static_cast<std::ptrdiff_t>(std::size(range));
  const auto present = std::find_if(range.begin(), range.end(), is_present) - range.begin();
  return range[static_cast<std::size_t>(((present + by) % size + size) % size)];
}

/// Changes the first setting, which matters most: the block size of a CUDA kernel, the threads of a CPU kernel.
Asked other_setting(const Status& status, int by) {
  const KernelInfo& kernel = *status.kernel;
  if (kernel.tunables.empty()) return {};
  const Tunable& tunable = kernel.tunables.front();
  const std::string& present = status.settings.text(tunable.name);
  return Command{
      SetTunable{tunable.name, neighbour(
                                   tunable.values_with(present), [&](auto& v) { return v == present; }, by)}};
}

/// Selects the next integrator that the kernel supports, or for which `auto` chooses another kernel.
Asked other_integrator(const Status& status) {
  std::vector<const IntegratorInfo*> suitable;
  for (const IntegratorInfo* integrator : integrators()) {
    const bool suits = !integrator->needs_jerks || status.auto_choice || status.kernel->gives_jerks;
    if (suits) suitable.push_back(integrator);
  }
  return Command{SelectIntegrator{neighbour(
                                      suitable, [&](auto* i) { return status.integrator_id == i->id; }, 1)
                                      ->id}};
}

Asked other_law(const Status& status) {
  return Command{SelectLaw{neighbour(
                               laws(), [&](const LawInfo& l) { return status.law.id == l.law; }, 1)
                               .id}};
}

Asked scaled_steps(const Status& status, bool more) {
  const int steps = more ? status.steps_per_frame * 2 : status.steps_per_frame / 2;
  return Command{SetStepsPerFrame{std::clamp(steps, SetStepsPerFrame::range.least, SetStepsPerFrame::range.most)}};
}

/// Pins or unpins the row of the results that is being measured.
Asked other_pin(const Status& status, const ViewStatus& view) {
  const Trial present = trial_of(status);
  const auto row = std::ranges::find_if(
      view.results, [&](const Result& r) { return !r.swept && static_cast<const Trial&>(r) == present; });
  if (row == view.results.end()) return {};
  return ViewCommand{PinResult{static_cast<int>(row - view.results.begin()), !row->pinned}};
}

Asked changed(const ViewStatus& view, void (*change)(render::Appearance&, const ViewStatus&)) {
  render::Appearance appearance = view.appearance;
  change(appearance, view);
  return ViewCommand{SetAppearance{appearance}};
}

void next_colours(render::Appearance& a, const ViewStatus& view) {
  const int next = render::shown_colour_map(a) + 1;
  a.colour_map =
      view.colour_maps.empty() ? render::automatic_colour_map : next % static_cast<int>(view.colour_maps.size());
}

void other_colouring(render::Appearance& a, const ViewStatus&) {
  const auto colours = body_colours();
  const auto next = std::next(std::ranges::find(colours, &body_colour(a)));
  a.colour_by = (next == colours.end() ? colours.front() : *next)->by;
  a.low = a.high = std::nullopt;
}

Asked leave(const ViewStatus& view) {
  if (!view.quit_question.empty()) return ViewCommand{CancelQuit{}};
  if (view.help) return ViewCommand{ToggleHelp{}};
  if (view.presentation) return ViewCommand{SetPresentation{false}};
  if (view.lesson.shown) return ViewCommand{CloseLesson{}};
  if (view.picked) return ViewCommand{Unpick{}};
  if (view.fullscreen) return ViewCommand{ToggleFullscreen{}};
  return {};
}

/// Turns the lesson `by` pages; none beyond the first or last page.
Asked other_page(const ViewStatus& view, int by) {
  const int page = static_cast<int>(view.lesson.page) + by;
  if (!view.lesson.shown || view.lesson.listed || page < 0 || page >= lesson_pages) return {};
  return ViewCommand{TurnLessonPage{static_cast<LessonPage>(page)}};
}

/// Returns the action of the lesson's current page or, if it has none, turns to the next page.
Asked lesson_action(const ViewStatus& view) {
  const LessonStatus& lesson = view.lesson;
  if (!lesson.shown || lesson.listed || lesson.measuring) return {};
  if (lesson.page == LessonPage::measure && !lesson.measured) return ViewCommand{MeasureLesson{}};
  return other_page(view, 1);
}

/// Returns the lesson whose second digit is `digit`, if its first digit was typed shortly before; 0: there is none.
int two_digit_lesson(const LessonStatus& lesson, int digit) {
  constexpr std::chrono::milliseconds in_one_go{1500};
  const int number = 10 * lesson.number + digit;
  const bool soon = std::chrono::steady_clock::now() - lesson.opened < in_one_go;
  const bool known = std::ranges::find(lesson.titles, number, &LessonTitle::number) != lesson.titles.end();
  return soon && known && lesson.number > 0 && lesson.page == LessonPage::read ? number : 0;
}

/// Handles a digit: opens a lesson of the list, or chooses a prediction.
Asked lesson_digit(const KeyPress& press, const ViewStatus& view) {
  const LessonStatus& lesson = view.lesson;
  if (!lesson.shown || press.control || press.character < U'0' || press.character > U'9') return {};
  const int number = static_cast<int>(press.character - U'0');
  if (!lesson.listed) {
    if (const int both = two_digit_lesson(lesson, number)) return ViewCommand{ShowLesson{both}};
  }
  if (number == 0) return {};
  if (lesson.listed) return ViewCommand{ShowLesson{number}};
  const bool asks = lesson.page == LessonPage::predict && !lesson.measured && !lesson.measuring;
  if (!asks || number > static_cast<int>(lesson.choices.size())) return {};
  return ViewCommand{PredictLesson{number - 1}};
}

Asked other_framing(const ViewStatus& view) {
  return ViewCommand{FrameAll{view.framed_all ? FramedBodies::most : FramedBodies::all}};
}

Asked other_follow(const ViewStatus& view) {
  if (view.picked && view.followed.what != Followed::body) return ViewCommand{Follow{Followed::body}};
  if (view.followed.what != Followed::nothing) return ViewCommand{Follow{Followed::nothing}};
  return {};
}

Asked other_trails(const ViewStatus& view) {
  ShowTrails trails = view.overlays.trails;
  trails.of = trails.of == TrailsOf::nobody ? TrailsOf::sample : TrailsOf::nobody;
  return ViewCommand{trails};
}

Asked other_vectors(const ViewStatus& view) {
  constexpr std::array order{Vectors::none, Vectors::velocity, Vectors::acceleration};
  return ViewCommand{ShowVectors{neighbour(
      order, [&](Vectors v) { return v == view.overlays.vectors.quantity; }, 1)}};
}

Asked other_film(const ViewStatus& view) {
  return view.features.of<FilmStatus>().active ? ViewCommand{StopFilm{}} : ViewCommand{StartFilm{}};
}

/// Looks along an axis, with the same keys as in Blender.
template <int azimuth_degrees, int elevation_degrees>
Asked axis_view(const Status&, const ViewStatus&) {
  constexpr float radian = std::numbers::pi_v<float> / 180;
  return ViewCommand{LookFrom{azimuth_degrees * radian, elevation_degrees * radian}};
}

/// Returns command C in any state.
template <class C>
Asked always(const Status&, const ViewStatus&) {
  return C{};
}

template <class C>
KeyBinding plain(std::vector<KeyPress> presses, const char* keys, const char* action) {
  return {.presses = std::move(presses), .keys = keys, .action = action, .request = always<C>};
}

/// Returns the row as the first one of a heading.
KeyBinding first_of(const char* group, KeyBinding row) {
  row.group = group;
  return row;
}

const std::vector<KeyBinding>& table() {
  using S = const Status&;
  using V = const ViewStatus&;
  static const std::vector<KeyBinding> bindings{
      first_of("Camera", {{{U'f'}}, "F", "Shows all bodies; again: 95 %.", [](S, V v) { return other_framing(v); }}),
      {{{U'F'}}, "Shift+F", "Follows the body, or stops.", [](S, V v) { return other_follow(v); }},
      plain<ResetCamera>({{0, GLFW_KEY_HOME}}, "Home", "Returns to the first view."),
      {{{U'1'}}, "1", "Looks along the y axis.", axis_view<-90, 0>},
      {{{U'3'}}, "3", "Looks along the x axis.", axis_view<0, 0>},
      {{{U'7'}}, "7", "Looks down the z axis.", axis_view<-90, 90>},
      plain<AddKeyFrame>({{0, GLFW_KEY_F2}}, "F2", "Adds this view to the camera path."),
      plain<PlayPath>({{0, GLFW_KEY_F3}}, "F3", "Plays the camera path."),
      plain<SavePath>({{0, GLFW_KEY_F4}}, "F4", "Saves the camera path."),

      first_of("Run",
               {{{U' '}}, "Space", "Runs or pauses.", [](S s, V) -> Asked { return Command{SetPaused{!s.paused}}; }}),
      plain<StepOnce>({{U'.'}}, ".", "One step, then a pause."),
      plain<Restart>({{U'r'}}, "R", "Returns to the first state."),
      plain<Reset>({{U'R'}}, "Shift+R", "Returns to the first physics, too."),
      {{{.character = U'z', .control = true}},
       "Ctrl+Z",
       "Undoes the last return.",
       [](S s, V) -> Asked { return s.undo_step ? Asked{Command{UndoReturn{}}} : Asked{}; }},
      {{{U'p'}}, "P", "Pins or unpins this run as baseline.", [](S s, V v) { return other_pin(s, v); }},

      first_of("Kernel", plain<SelectNextKernel>({{U'k'}}, "K", "Next kernel that is fast enough.")),
      {{{U'K'}},
       "Shift+K",
       "Previous kernel that is fast enough.",
       [](S, V) -> Asked { return ViewCommand{SelectNextKernel{Direction::back}}; }},
      {{{U'b'}}, "B", "First setting: next value.", [](S s, V) { return other_setting(s, 1); }},
      {{{U'B'}}, "Shift+B", "First setting: previous value.", [](S s, V) { return other_setting(s, -1); }},
      {{{U'i'}}, "I", "Next integrator.", [](S s, V) { return other_integrator(s); }},
      {{{U'l'}}, "L", "Next law.", [](S s, V) { return other_law(s); }},
      {{{U'+'}, {U'='}}, "+", "Twice the steps per frame.", [](S s, V) { return scaled_steps(s, true); }, true},
      {{{U'-'}}, "-", "Half the steps per frame.", [](S s, V) { return scaled_steps(s, false); }, true},

      first_of("Picture", {{{U'c'}}, "C", "Next colour map.", [](S, V v) { return changed(v, next_colours); }}),
      {{{U'm'}}, "M", "Next quantity of colours.", [](S, V v) { return changed(v, other_colouring); }},
      {{{U']'}}, "]", "Brighter.", [](S, V v) { return changed(v, [](auto& a, V) { a.exposure *= 1.25f; }); }, true},
      {{{U'['}}, "[", "Darker.", [](S, V v) { return changed(v, [](auto& a, V) { a.exposure /= 1.25f; }); }, true},
      {{{U't'}},
       "T",
       "Shows or hides tree cells.",
       [](S, V v) -> Asked {
         return ViewCommand{ShowTreeCells{!v.overlays.cells.on, v.overlays.cells.level}};
       }},
      {{{U'x'}},
       "X",
       "Shows or hides the axes.",
       [](S, V v) -> Asked { return ViewCommand{ShowAxes{!v.overlays.axes.on}}; }},
      {{{U'o'}}, "O", "Shows or hides trails.", [](S, V v) { return other_trails(v); }},
      {{{U'a'}}, "A", "Velocity, acceleration or no arrows.", [](S, V v) { return other_vectors(v); }},

      first_of("Files", {{{0, GLFW_KEY_F5}},
                         "F5",
                         "Records frame timings.",
                         [](S, V v) -> Asked {
                           return v.recording.active ? ViewCommand{StopRecording{}} : ViewCommand{StartRecording{}};
                         }}),
      {{{0, GLFW_KEY_F6}}, "F6", "Films the window.", [](S, V v) { return other_film(v); }},
      plain<SaveScreenshot>({{0, GLFW_KEY_F12}}, "F12", "Saves a picture, as PNG."),
      plain<SaveSnapshot>({{0, GLFW_KEY_F8}}, "F8", "Saves the bodies."),
      plain<ExportResults>({{0, GLFW_KEY_F9}}, "F9", "Saves the results, as CSV."),

      first_of(
          "Window",
          {{{U'v'}}, "V", "Turns vsync on or off.", [](S, V v) -> Asked { return ViewCommand{SetVsync{!v.vsync}}; }}),
      plain<TogglePanel>({{0, GLFW_KEY_TAB}}, "Tab", "Shows or hides the panel."),
      {{{U'P'}},
       "Shift+P",
       "Shows or hides a few large numbers.",
       [](S, V v) -> Asked { return ViewCommand{SetPresentation{!v.presentation}}; }},
      plain<ToggleFullscreen>({{0, GLFW_KEY_F11}}, "F11", "Full screen, or a window."),
      plain<ToggleHelp>({{U'?'}, {0, GLFW_KEY_F1}}, "? or F1", "Shows or hides this list."),
      {{{0, GLFW_KEY_F7}},
       "F7",
       "Opens or closes the lessons.",
       [](S, V v) -> Asked {
         if (v.lesson.shown) return ViewCommand{CloseLesson{}};
         if (v.lesson.title.empty()) return ViewCommand{ShowLesson{}};
         return ViewCommand{TurnLessonPage{v.lesson.page}};
       }},
      {{{0, GLFW_KEY_BACKSPACE}},
       "Backspace",
       "Previous page of the lesson.",
       [](S, V v) { return other_page(v, -1); }},
      {{{0, GLFW_KEY_ESCAPE}}, "Esc", "Closes what is open; picks no body.", [](S, V v) { return leave(v); }},
      plain<AskToQuit>({{U'q'}}, "Q", "Quits; asks first if work is lost."),
      {{{0, GLFW_KEY_ENTER}, {0, GLFW_KEY_KP_ENTER}},
       "Enter",
       "Confirms quitting; lesson: goes on.",
       [](S, V v) -> Asked { return v.quit_question.empty() ? lesson_action(v) : ViewCommand{Quit{}}; }},
  };
  return bindings;
}

}  // namespace

KeyPress typed_press(char32_t character, bool shift, bool repeated) {
  const bool small = character >= U'a' && character <= U'z', large = character >= U'A' && character <= U'Z';
  if (small && shift) character -= U'a' - U'A';
  if (large && !shift) character += U'a' - U'A';
  return {.character = character, .repeated = repeated};
}

bool belongs_to_text(const KeyPress& press) {
  return press.key < GLFW_KEY_F1 || press.key > GLFW_KEY_F25;
}

std::span<const KeyBinding> key_bindings() {
  return table();
}

std::optional<Request> request_for(KeyPress press, const Status& status, const ViewStatus& view) {
  if (Asked asked = lesson_digit(press, view)) return asked;
  for (const KeyBinding& binding : table()) {
    const bool meant = std::ranges::any_of(binding.presses, [&](const KeyPress& p) {
      return p.character == press.character && p.key == press.key && p.control == press.control;
    });
    if (meant) return press.repeated && !binding.repeats ? std::nullopt : binding.request(status, view);
  }
  return {};
}

std::vector<KeyHelp> key_help() {
  std::vector<KeyHelp> help = mouse_help();  // under the camera's heading, like the first rows of the table
  for (const KeyBinding& binding : table()) {
    const bool begins = binding.group && (help.empty() || help.front().group != binding.group);
    help.push_back({binding.keys, binding.action, begins ? binding.group : ""});
  }
  return help;
}

std::string key_table(const TextStyle& style) {
  Table table{"llt", {"for", "key or mouse", "what it does"}};
  for (const KeyHelp& line : key_help()) table.add({line.group, line.keys, line.action});
  return table.text(style);
}

}  // namespace orrery
