// The panels in windows of every size: nothing in them may end the program, and nothing may be cut off.
#include <fmt/ranges.h>

#include "app/features/race/race_status.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/picture_options.h"
#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

/// Everything that the panels can show at once.
class FullPanels : public Panels {
 protected:
  FullPanels() {
    select(test::find_kernel("cpu-tree"));
    status.chosen = "AVX-512, leaf 32, group 64, threads 128";
    status.auto_choice = AutoChoice{"auto: cpu-tree theta=0.5", "One step with 1000 bodies"};
    status.tree = TreeReport{.interactions = 123'000'000, .cells = 456'789, .depth = 19, .phases = {}};
    for (const char* phase : {"keys", "sort", "build", "summarize", "walk", "update"}) {
      status.tree->phases.push_back({phase, 12.5});
    }
    status.card = KernelCard{};
    status.law.id = LawId::attract_repel;
    status.last_error = "a line that tells at some length what could not be done, and why";
    status.force_probe = ForceProbe{.step = 3, .sample = 256, .error = {1e-3, 3.1e-7, 4.2e-6, 5.3e-5}, .ms = 0.1};
    view.measured = 120;
    status.timing = {.steps = 1, .step_ms = 0.888, .force_ms = 0.823, .integrate_ms = 0.0659};
    view.step_ms_median = 12.25;
    view.step_ms_history.assign(240, 12.25f);
    view.times = {.map_ms = 0.588, .draw_ms = 0.299, .gui_ms = 0.0868, .swap_ms = 0.0998, .frame_ms = 15.75};
    view.recording = {.active = true, .file = "orrery-out/timings-12.csv", .rows = 123'456, .error = {}};
    view.notice = "wrote orrery-out/a-rather-long-name-of-a-picture.png";
    view.picked = PickedBody{.number = 9'999'999,
                             .part = "star",
                             .mass = 1.234e-7f,
                             .position = {-1.234e-5f, -1.234e-5f, -1.234e-5f},
                             .velocity = {-1.234e-5f, -1.234e-5f, -1.234e-5f},
                             .place = {{0.5f, 0.5f}}};
    view.followed = {Followed::body};
    view.parts = {"a part with a long name", "disc"};
    view.keys = {{"Space", "run or pause"}, {"Ctrl + left drag", "a long explanation of what the mouse does"}};
    for (int i = 0; i < 12; ++i) {
      Result result = tried("cpu-tree", "group=64 leaf=32 order=monopole theta=0.5 threads=auto");
      result.error = ForceError{1e-3, 3.1e-7, 4.2e-6, 5.3e-5};
      result.step_ms.median = i + 1;
      view.results.push_back(result);
      Measurement row;
      static_cast<Trial&>(row) = result;
      row.step_ms.median = row.step_ms.low = row.step_ms.high = result.step_ms.median;
      row.rank.first = row.rank.last = i + 1;
      view.sweep.rows.push_back(row);
      RaceRun raced;
      static_cast<Trial&>(raced) = result;
      raced.seconds = i + 1;
      raced.energy_error = 1e-4 / (i + 1);
      raced.on_front = true;
      view.features.of<RaceStatus>().rows.push_back(raced);
      view.features.of<RaceStatus>().best.push_back({1e-4, 0});
      view.conserved_history.push_back({.step = i, .sim_time = 0.1 * i, .sums = {}});
      view.conserved_history.back().sums.potential = -2.0 - i;
    }
    view.lesson.titles = {{1, "A lesson with a rather long title"}};
    view.lesson.title = "A lesson with a rather long title";
    view.lesson.introduction = {{.text = "Words, `code` and a_word_that_no_narrow_window_holds_in_one_of_its_lines"},
                                {.kind = TextBlock::Kind::code, .text = "for each body\n"},
                                {.kind = TextBlock::Kind::table, .rows = {{"what", "here"}, {"a word", "1"}}}};
    view.compare.active = true;
    view.compare.with.kernel = "cpu-tree";
    view.compare.runs[1] = {"cpu-tree group=64 leaf=32 order=monopole theta=0.5 euler dt=0.0025", 12.25, 1e9};
    for (int i = 0; i < 12; ++i) {
      view.compare.samples.push_back(
          {.time = 0.1 * i, .distances = {.rms = 1e-6 * i, .median = 1e-7 * i}, .energy_error = {1e-6, 1e-7}});
    }
    view.sweep.files = {"orrery-out/sweep.csv", "orrery-out/sweep.json"};
    view.features.of<RaceStatus>().files = {"orrery-out/race.csv", "orrery-out/race.json"};
  }

  /// Draws a frame with every section open.
  void draw() {
    state.lab.folded = false;
    for (auto& [id, fold] : state.folds) fold.open = true;
    frame();
  }

  /// With each part of the laboratory in turn, and what lies over the picture only sometimes.
  void draw_all() {
    for (const std::string_view tab : tab_ids()) {
      state.lab.tab = tab;
      view.help = view.sweep.active = tab == "sweep";
      view.lesson.shown = tab == "card" || tab == "conservation";
      view.lesson.listed = tab == "card";
      draw();
    }
  }
};

/// Small widths by `step`, and some of the larger ones. CutNothingOff draws at more of them.
int next_width(int width, int scale, int step) {
  return width < 400 * scale ? width + step : width + 7 * scale;
}

/// Widgets that are cut off. A row of a table is not one: it spans all cells, and each is clipped by itself.
std::vector<std::string> cut_off() {
  std::vector<std::string> names = ui_cut_off();
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("result.") || name.starts_with("sweep.row.") || name.starts_with("race.best.");
  });
  return names;
}

class AtScale : public FullPanels, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Panels, AtScale, testing::Values(1, 2, 4));

TEST_P(AtScale, DrawInAWindowOfAnyWidth) {
  const int scale = GetParam();
  for (int width = 1; width <= 3840; width = next_width(width, scale, 3 * scale)) {
    for (const int height : {least_window.height, 720}) {
      resize(static_cast<float>(width), static_cast<float>(height * scale), static_cast<float>(scale));
      draw_all();
    }
  }
}

TEST_P(AtScale, CutNothingOff) {
  const int scale = GetParam();
  for (int width = least_window.width * scale; width <= 3840; width = next_width(width, scale, scale)) {
    for (const int height : {least_window.height, 720}) {
      resize(static_cast<float>(width), static_cast<float>(height * scale), static_cast<float>(scale));
      for (const std::string_view tab : tab_ids()) {
        state.lab.tab = tab;
        draw();
        draw();  // windows that fit their content have found their size
        EXPECT_TRUE(cut_off().empty()) << fmt::format("{} x {}, {}: {}", width, height * scale, tab,
                                                      fmt::join(cut_off(), " "));
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace orrery::test
