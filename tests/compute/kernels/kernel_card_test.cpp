// The kernel card, of each kernel under test.
#include "compute/kernels/kernel.h"
#include "compute/sim/simulation.h"
#include "tests/compute/support/backend.h"
#include "tests/test.h"

namespace orrery {
namespace {

class KernelCards : public test::KernelTest {};

TEST_P(KernelCards, HasACardIfAndOnlyIfItRunsOnTheGpu) {
  const auto kernel = test::backends().make_kernel(*GetParam(), Settings{*GetParam()});
  for (const LawInfo& law : laws()) {
    for (const int count : {1, 10'000}) {
      SCOPED_TRACE(std::string{law.id} + ", n = " + std::to_string(count));
      const auto card =
          kernel_card(*kernel, test::backends().device(), {.id = law.law}, count, {.least = 1, .greatest = 2});
      ASSERT_EQ(card.has_value(), GetParam()->backend == Backend::cuda);
      if (!card) continue;
      EXPECT_TRUE(card->function);
      EXPECT_GT(card->architecture, 0);
      EXPECT_GT(card->registers, 0);
      EXPECT_GE(card->block, 32);
      EXPECT_GE(card->blocks, 1);
      EXPECT_GE(card->blocks_per_multiprocessor, 1);
      EXPECT_GT(card->occupancy, 0);
      EXPECT_LE(card->occupancy, card->best_occupancy);
      EXPECT_LE(card->best_occupancy, 1);
      EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(card->best_block))) << card->best_block;
      EXPECT_GT(card->waves, 0);
    }
  }
}

TEST_P(KernelCards, StatusHasTheCardOfThePresentBlockAndCount) {
  Simulation sim{test::backends(), {.scene = "plummer", .count = 1000}, GetParam()};
  const auto first = sim.status().card;
  ASSERT_EQ(first.has_value(), GetParam()->backend == Backend::cuda);
  if (!first || !GetParam()->tunable("block")) return;  // nothing to choose
  sim.apply(SetTunable{"block", "64"});
  EXPECT_EQ(sim.status().card->block, 64);
  sim.apply(SetTunable{"block", "128"});
  EXPECT_EQ(sim.status().card->block, 128);
  const double waves = sim.status().card->waves;
  sim.apply(LoadScene{{.scene = "plummer", .count = 100'000}});
  EXPECT_GE(sim.status().card->waves, waves);
  sim.apply(SelectKernel{"cpu-serial"});
  EXPECT_FALSE(sim.status().card);
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelCards, testing::ValuesIn(test::kernels_under_test()), test::test_name);

}  // namespace
}  // namespace orrery
