#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "app/recording/recorder.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"

namespace orrery {
namespace {

using test::contents;
using test::lines;

ConservedProbe probe(std::int64_t step, double kinetic) {
  return {.step = step,
          .sim_time = 0.5,
          .sums = {.kinetic = kinetic, .potential = -4, .momentum = {1, 2, 3}, .angular_momentum = {4, 5, 6}},
          .ms = 7};
}

class ConservedLogTest : public testing::Test {
 protected:
  ConservedLogTest() { std::ofstream{recording} << "rows\n"; }
  std::string path(const char* name) const { return (folder / name).string(); }

  const TemporaryFolder folder;
  const std::string recording = path("run.csv");
  std::vector<ConservedProbe> history;
  ConservedLog log;
};

TEST_F(ConservedLogTest, WritesWhatIsNewBesideTheRecording) {
  log.start(recording, {{"n", 8}});
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "");
  EXPECT_FALSE(std::filesystem::exists(path("run-conserved.csv"))) << "there is no row yet";
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, true) + log.follow(history, true), "");
  history.push_back(probe(20, 3));
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), path("run-conserved.csv"));
  const auto text = lines(contents(log.file()));
  ASSERT_EQ(text.size(), 4u);
  EXPECT_EQ(text[0], "# {\"n\":8}");
  EXPECT_EQ(text[1],
            "step,sim_time,kinetic,potential,total,total_drift,momentum_x,momentum_y,momentum_z,angular_momentum_x,"
            "angular_momentum_y,angular_momentum_z,virial_ratio,cost_ms");
  EXPECT_EQ(text[2], "10,0.5,2,-4,-2,0,1,2,3,4,5,6,1,7");
  EXPECT_EQ(text[3], "20,0.5,3,-4,-1,0.5,1,2,3,4,5,6,1.5,7");
}

TEST_F(ConservedLogTest, WritesOnlyWhatIsMeasuredWhileItIsWanted) {
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, false), "");
  log.start(recording, {});
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "") << "it was measured before the recording";
  history.push_back(probe(20, 3));
  log.stop();
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "");
}

TEST_F(ConservedLogTest, KeepsAnExistingFile) {
  std::ofstream{path("run-conserved.csv")} << "precious\n";
  log.start(recording, {});
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), path("run-conserved-1.csv"));
  EXPECT_EQ(contents(path("run-conserved.csv")), "precious\n");
}

TEST_F(ConservedLogTest, SaysOnceThatItCannotWrite) {
  std::filesystem::create_directory(path("gone"));
  std::ofstream{path("gone/run.csv")} << "rows\n";
  log.start(path("gone/run.csv"), {});
  std::filesystem::remove_all(path("gone"));
  history.push_back(probe(10, 2));
  EXPECT_NE(log.follow(history, true).find("run-conserved.csv"), std::string::npos);
  history.push_back(probe(20, 3));
  EXPECT_EQ(log.follow(history, true), "");
}

TEST_F(ConservedLogTest, WritesNothingBesideADevice) {
  log.start("/dev/null", {});
  history.push_back(probe(10, 2));
  EXPECT_EQ(log.follow(history, true), "");
  EXPECT_EQ(log.file(), "");
}

}  // namespace
}  // namespace orrery
