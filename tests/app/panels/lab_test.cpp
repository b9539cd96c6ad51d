#include "tests/app/panels/panels_fixture.h"

namespace orrery::test {
namespace {

TEST_F(Panels, ReturnToARowOfTheResults) {
  view.results = {tried(status.kernel_id, status.settings.to_string()), tried("some-kernel", "block=64 split=auto")};
  settle();
  EXPECT_TRUE(click("result.0").empty());
  const auto select = only<SelectKernel>(click("result.1"));
  EXPECT_EQ(select.id, "some-kernel");
  EXPECT_EQ(select.settings, (Settings::Values{{"block", "64"}, {"split", "auto"}}));
}

TEST_F(Panels, ReturnToTheLawAndTheIntegratorOfARow) {
  Result other = tried(status.kernel_id, status.settings.to_string());
  other.law_id = "attract-repel";
  other.integrator_id = "euler";
  view.results = {other};
  settle();
  const Requests asked = click("result.0");
  EXPECT_EQ(asked.size(), 2u);
  EXPECT_EQ(request<SelectLaw>(asked, 0).id, "attract-repel");
  EXPECT_EQ(request<SelectIntegrator>(asked, 1).id, "euler");
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

TEST_F(Panels, ExportAndClearTheResults) {
  view.results = {tried("some-kernel", "block=64")};
  settle();
  only<ExportResults>(click("results.export"));
  only<ClearResults>(click("results.clear"));
}

TEST_F(Panels, FoldTheLaboratory) {
  view.results = {tried("some-kernel", "block=64")};
  settle();
  EXPECT_TRUE(click("lab.fold").empty());
  settle();
  EXPECT_FALSE(seen("result.0"));
  EXPECT_TRUE(click("lab.results").empty());
  settle();
  EXPECT_TRUE(seen("result.0"));
}

}  // namespace
}  // namespace orrery::test
