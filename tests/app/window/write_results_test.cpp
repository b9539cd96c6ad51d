#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "app/window/step_statistics.h"

namespace orrery {
namespace {

/// A folder that is gone afterwards.
class WriteResults : public testing::Test {
 protected:
  WriteResults() { std::filesystem::create_directories(folder_); }
  ~WriteResults() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& file) {
    std::stringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("orrery_results_test_" + std::to_string(::getpid()));
};

TEST_F(WriteResults, WritesOneLineARow) {
  StepStatistics statistics;
  const StepWork pairs{.evaluations = 1, .interactions = 1e6};
  const Trial serial{.kernel_id = "cpu-serial", .integrator_id = "leapfrog", .count = 1000};
  statistics.add(serial, pairs, {.steps = 1, .evaluations = 1, .step_ms = 10});
  Trial other{.kernel_id = "cpu-simd", .settings = "threads=2", .integrator_id = "leapfrog", .count = 1000};
  other.law.id = LawId::attract_repel;
  other.scene.file = "a.tipsy";
  other.time_step = 0.25f;
  other.digits = Digits::compensated;
  other.kernel_version = 3;
  statistics.add(other, pairs, {.steps = 1, .evaluations = 1, .step_ms = 2.5});
  statistics.add_error(other, {.rms = 1, .median = 3e-7, .p99 = 4e-6, .max = 5e-5});
  statistics.pin(1, true);
  const std::string file = (folder_ / "results.csv").string();
  EXPECT_EQ(write_results(file, {{"program", "orrery"}}, statistics.results()), file);
  EXPECT_EQ(
      read(file),
      "# {\"program\":\"orrery\"}\n"
      "kernel,settings,law,softening,repulsion,drag,integrator,dt,eta,scene,seed,n,median_ms,interactions_per_s,"
      "speedup,"
      "pinned,steps,error_median,error_p99,error_max,by,digits,version\n"
      "cpu-serial,,gravity,0.02,,,leapfrog,0,,collision,1,1000,10,1e+08,,,1,,,,view,float,\n"
      "cpu-simd,threads=2,attract-repel,0.02,0.002,1e-06,leapfrog,0.25,,a.tipsy,,1000,2.5,4e+08,1,yes,1,3e-07,4e-06,"
      "5e-05,view,compensated,3\n");
}

TEST_F(WriteResults, KeepsWhatIsThere) {
  std::ofstream{folder_ / "results.csv"} << "an unfinished recording";
  EXPECT_EQ(write_results((folder_ / "results.csv").string(), {}, {}), (folder_ / "results-1.csv").string());
  EXPECT_EQ(read(folder_ / "results.csv"), "an unfinished recording");
}

TEST_F(WriteResults, NamesTheFileThatCannotBeWritten) {
  const std::string file = (folder_ / "missing" / "results.csv").string();
  try {
    (void)write_results(file, {}, {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string{error.what()}, "cannot write '" + file + "': No such file or directory");
  }
}

}  // namespace
}  // namespace orrery
