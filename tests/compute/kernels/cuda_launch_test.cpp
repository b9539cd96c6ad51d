// Settings that no launch can honour are refused before anything changes.
#include <gtest/gtest.h>

#include <string>

#include "compute/core/error.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"

namespace orrery {
namespace {

TEST(CudaLaunch, ABlockWithTooManyRegistersIsRefusedByNameAndNothingIsLost) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  Simulation sim{{.scene = "plummer", .count = 1000}};
  sim.apply(SelectKernel{"cuda-tiled", {{"bodies-per-thread", "8"}, {"block", "128"}}});
  sim.run(2);
  const Bodies state = sim.bodies();
  try {
    sim.apply(SetTunable{"block", "1024"});
    FAIL() << "1024 threads of 8 bodies each fit in no register file";
  } catch (const UsageError& refusal) {
    const std::string text = refusal.what();
    for (const char* part : {"cuda-tiled", "block=1024", "bodies-per-thread=8", "registers", "choose block <= "}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  }
  EXPECT_EQ(sim.status().settings.text("block"), "128");
  EXPECT_EQ(sim.bodies(), state);
  EXPECT_EQ(sim.run(1).steps, 1);
}

TEST(CudaLaunch, MoreBodiesThanTheGpuHoldsAreRefusedAndNothingIsLost) {
  ORRERY_SKIP_WITHOUT_BACKEND();
  Simulation sim{{.scene = "plummer", .count = 1000}};
  const Bodies state = sim.bodies();
  EXPECT_THROW(sim.apply(LoadScene{{.scene = "plummer", .count = 2'147'483'647}}), UsageError);
  EXPECT_EQ(sim.bodies(), state);
  EXPECT_EQ(sim.status().count, 1000);
}

}  // namespace
}  // namespace orrery
