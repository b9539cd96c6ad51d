// The table of results.
#include <algorithm>
#include <array>
#include <vector>

#include "app/ui_state/window_commands.h"
#include "tests/app/panels/panels_fixture.h"

namespace orrery::test {
namespace {

TEST_F(Panels, ReturnToARowOfTheResults) {
  view.results = {tried(status.kernel_id, status.settings.to_string()), tried("some-kernel", "block=64 split=auto")};
  settle();
  EXPECT_TRUE(click("result.0").empty()) << "this is what runs now";
  const RunSetup run = only<ReturnToRun>(click("result.1")).run;
  EXPECT_EQ(run.kernel_id, "some-kernel");
  EXPECT_EQ(run.settings, (Settings::Values{{"block", "64"}, {"split", "auto"}}));
}

TEST_F(Panels, ShowTheVersionOfAKernelFileAndReturnToIt) {
  Result first = tried("mine", "");
  first.kernel_revision = first.kernel_version = 1;
  Result third = first;
  third.kernel_revision = 2;  // the second text did not compile
  third.kernel_version = 3;
  view.results = {first, third};
  settle();
  const std::string words = lab_text();
  EXPECT_NE(words.find("mine v1"), std::string::npos) << words;
  EXPECT_NE(words.find("mine v3"), std::string::npos) << words;
  EXPECT_EQ(only<ReturnToRun>(click("result.0")).run.kernel_revision, 1);
}

TEST_F(Panels, ReturnToEverythingOfARow) {
  Result other = tried("some-kernel", "");
  other.law = {.id = LawId::attract_repel, .softening = 0.5f, .drag = 1e-3f};
  other.integrator_id = "euler";
  other.time_step = 0.0355f;
  other.scene = {.scene = "disc", .count = 500, .seed = 7};
  other.count = 500;
  other.error = ForceError{.rms = 1, .median = 1e-7, .p99 = 1, .max = 1};
  view.results = {other};
  const auto expect_all = [&](const RunSetup& run) {
    EXPECT_EQ(run.scene, other.scene);
    EXPECT_EQ(run.physics, (Physics{"euler", other.law, 0.0355f}));
    EXPECT_EQ(run.kernel_id, "some-kernel");
  };
  settle();
  expect_all(only<ReturnToRun>(click("result.0")).run);
  open_tab("speed-error");
  expect_all(only<ReturnToRun>(click("dot.0")).run);
  Measurement row;
  static_cast<Trial&>(row) = other;
  view.sweep.rows = {row};
  open_tab("sweep");
  expect_all(only<ReturnToRun>(click("sweep.row.0")).run);
}

TEST_F(Panels, AnotherTimeStepIsAnotherRun) {
  view.results = {tried(status.kernel_id, status.settings.to_string())};
  view.results[0].time_step *= 2;
  settle();
  EXPECT_EQ(only<ReturnToRun>(click("result.0")).run.physics.time_step, view.results[0].time_step);
}

TEST_F(Panels, PinTheBaselineOfSpeedUps) {
  view.results = {tried("one", ""), tried("two", "")};
  view.results[1].speedup = 2.5;
  settle();
  EXPECT_NE(lab_text().find("2.50"), std::string::npos) << lab_text();
  PinResult pin = only<PinResult>(click("pin.1"));
  EXPECT_EQ(pin.row, 1);
  EXPECT_TRUE(pin.pinned);
  view.results[1].pinned = true;
  settle();
  pin = only<PinResult>(click("pin.1"));
  EXPECT_FALSE(pin.pinned);
}

TEST_F(Panels, ShowMedianP99AndMaximumOfErrorsWhereThereIsRoom) {
  view.results = {tried("some-kernel", "")};
  view.results[0].error = ForceError{1e-3, 3.1e-7, 4.2e-6, 5.3e-5};
  for (const float width : {1280.0f, 1920.0f}) {
    ImGui::GetIO().DisplaySize.x = width;
    settle();
    const std::string words = lab_text();
    for (const char* number : {"3.1e-7", "4.2e-6", "5.3e-5"}) EXPECT_NE(words.find(number), std::string::npos) << words;
  }
  ImGui::GetIO().DisplaySize.x = 1000;
  settle();
  EXPECT_EQ(lab_text().find("4.2e-6"), std::string::npos);
  EXPECT_NE(lab_text().find("3.1e-7"), std::string::npos);
}

TEST_F(Panels, NameLawAndIntegratorWhereRowsDifferInThem) {
  view.results = {tried("one", ""), tried("two", "")};
  settle();
  EXPECT_EQ(lab_text().find("leapfrog"), std::string::npos);
  view.results[1].integrator_id = "euler";
  settle();
  EXPECT_NE(lab_text().find("leapfrog"), std::string::npos);
  EXPECT_EQ(lab_text().find("gravity"), std::string::npos);
}

TEST_F(Panels, NameTheSceneWhereRowsDifferInIt) {
  view.results = {tried("one", ""), tried("two", ""), tried("three", "")};
  settle();
  EXPECT_EQ(lab_text().find("collision"), std::string::npos);
  view.results[1].scene.scene = "plummer";
  view.results[2].scene.file = "/data/sky.bin";
  settle();
  for (const char* name : {"scene", "collision", "plummer", "| sky.bin"}) {
    EXPECT_NE(lab_text().find(name), std::string::npos) << name << " is not in " << lab_text();
  }
}

TEST_F(Panels, ShowSettingsWholeRatherThanEveryError) {
  view.results = {tried("one", "block=64")};
  settle();
  EXPECT_NE(lab_text().find("p99"), std::string::npos) << lab_text();
  view.results.push_back(tried("two", "group=64 leaf=32 order=monopole theta=0.5 threads=auto"));
  settle();
  EXPECT_NE(lab_text().find("order=monopole theta=0.5 threads=auto"), std::string::npos) << lab_text();
  EXPECT_EQ(lab_text().find("p99"), std::string::npos) << lab_text();
}

TEST_F(Panels, ShortenSettingsThatTheirColumnDoesNotHold) {
  view.results = {tried("one", "block=64"), tried("two", "group=64 leaf=32 order=monopole theta=0.5 threads=auto")};
  resize(1000, 1400, 1);
  settle();
  EXPECT_NE(lab_text().find("block=64"), std::string::npos) << lab_text();
  EXPECT_EQ(lab_text().find("threads=auto"), std::string::npos) << lab_text();
  EXPECT_NE(lab_text().find("\u2026"), std::string::npos) << lab_text();
}

TEST_F(Panels, ShowTheErrorBesideTheTime) {
  EXPECT_EQ(side_column_text().find("e-7"), std::string::npos);
  status.force_probe = ForceProbe{.step = 3, .sample = 256, .error = {1e-3, 3.1e-7, 4.2e-6, 5.3e-5}, .ms = 0.1};
  const std::string text = side_column_text();
  for (const char* number : {"3.1e-7", "4.2e-6", "5.3e-5"}) EXPECT_NE(text.find(number), std::string::npos) << text;
  view.results = {tried("some-kernel", "")};
  EXPECT_EQ(lab_text().find("e-7"), std::string::npos);
  view.results[0].error = status.force_probe->error;
  EXPECT_NE(lab_text().find("3.1e-7"), std::string::npos);
}

/// The rows of the results from the top.
std::vector<int> shown_order(int count) {
  std::vector<int> rows;
  for (int i = 0; i < count; ++i) rows.push_back(i);
  std::ranges::sort(rows, {}, [](int row) { return ui_marked("result." + std::to_string(row)).y0; });
  return rows;
}

TEST_F(Panels, SortTheResultsByAClickOnAColumnsHead) {
  using Order = std::vector<int>;
  view.results = {tried("b", ""), tried("a", ""), tried("c", ""), tried("a", "")};
  const std::array times{3.0, 1.0, 2.0, 1.0};
  for (std::size_t i = 0; i < times.size(); ++i) view.results[i].step_ms.median = times[i];
  view.results[2].error = ForceError{1e-3, 3e-7, 4e-6, 5e-5};
  view.results[0].error = ForceError{1e-3, 2e-7, 4e-6, 5e-5};
  view.results[1].pinned = true;
  settle();
  const auto sort_by = [&](const char* head) {
    click(head);
    settle();
    return shown_order(4);
  };
  EXPECT_EQ(shown_order(4), (Order{0, 1, 2, 3}));
  EXPECT_EQ(sort_by("results.by.0"), (Order{1, 3, 0, 2})) << "kernel; equal ones in the order of the runs";
  EXPECT_EQ(sort_by("results.by.0"), (Order{2, 0, 1, 3}));
  EXPECT_EQ(sort_by("results.by.0"), (Order{0, 1, 2, 3})) << "the order of the runs again";
  EXPECT_EQ(sort_by("results.by.3"), (Order{1, 3, 2, 0})) << "time";
  EXPECT_EQ(only<PinResult>(click("pin.1")).row, 1) << "the row is itself wherever it is shown";
  EXPECT_EQ(only<ReturnToRun>(click("result.2")).run.kernel_id, "c");
  EXPECT_EQ(sort_by("results.by.5"), (Order{0, 2, 1, 3})) << "error; unknown ones last";
  EXPECT_EQ(sort_by("results.by.5"), (Order{2, 0, 1, 3})) << "and also in the other direction";
}

TEST_F(Panels, ExportAndClearTheResults) {
  view.results = {tried("some-kernel", "block=64")};
  settle();
  only<ExportResults>(click("results.export"));
  only<SaveReport>(click("results.report"));
  only<ClearResults>(click("results.clear"));
}

}  // namespace
}  // namespace orrery::test
