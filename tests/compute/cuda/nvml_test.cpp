// The state of a GPU by NVIDIA's management library, with one that is not there and with one that answers like it.
#include "compute/cuda/nvml.h"

#include "tests/test.h"

namespace orrery::cuda {
namespace {

TEST(Nvml, ALibraryThatIsNotThereGivesAReason) {
  const Nvml nvml{"libno-such-library.so.1"};
  EXPECT_NE(nvml.reason().find("libno-such-library.so.1"), std::string::npos) << nvml.reason();
  std::string reason;
  EXPECT_FALSE(nvml.state("0000:1b:00.0", &reason));
  EXPECT_EQ(reason, nvml.reason());
  EXPECT_FALSE(nvml.state("0000:1b:00.0"));
}

TEST(Nvml, ALibraryOfAnotherKindGivesAReason) {
  const Nvml nvml{"libc.so.6"};
  EXPECT_NE(nvml.reason().find("nvmlInit_v2"), std::string::npos) << nvml.reason();
}

TEST(Nvml, TellsWhatTheLibrarySays) {
  const Nvml nvml{ORRERY_FAKE_NVML};
  ASSERT_EQ(nvml.reason(), "");
  const auto state = nvml.state("0000:1b:00.0");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->clock_mhz, 1980);
  EXPECT_EQ(state->memory_clock_mhz, 2619);
  EXPECT_EQ(state->power_w, 482.5);
  EXPECT_EQ(state->temperature_c, std::nullopt) << "the library refused to tell";
  const std::vector<std::string> slowed_by{"power cap", "thermal slowdown by hardware",
                                           "reasons that are not known here (2048)"};
  EXPECT_EQ(state->slowed_by, slowed_by);
}

TEST(Nvml, WhereTheGpuDoesNotTellThePowerOfTheMomentItIsTheMean) {
  EXPECT_EQ(Nvml{ORRERY_FAKE_NVML}.state("0000:1c:00.0")->power_w, 310.0);
}

TEST(Nvml, AGpuThatTheLibraryDoesNotKnowGivesAReason) {
  std::string reason;
  EXPECT_FALSE(Nvml{ORRERY_FAKE_NVML}.state("0000:ff:00.0", &reason));
  for (const char* part : {"0000:ff:00.0", "Not Found"}) EXPECT_NE(reason.find(part), std::string::npos) << reason;
}

}  // namespace
}  // namespace orrery::cuda
