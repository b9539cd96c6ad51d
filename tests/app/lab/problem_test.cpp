#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "app/lab/variants.h"
#include "compute/core/error.h"
#include "compute/sim/kernel_chooser.h"

namespace orrery {
namespace {

TEST(Problems, AreNoneIfTheActionSucceeds) {
  bool called = false;
  EXPECT_FALSE(problem_of([&] { called = true; }));
  EXPECT_TRUE(called);
}

TEST(Problems, TellARefusalFromAFailure) {
  const Problem refusal = problem_of([] { throw UsageError("no room for\nits rows"); });
  EXPECT_EQ(refusal.text, "no room for its rows") << "one line";
  EXPECT_TRUE(refusal.refused);
  const Problem failure = problem_of([] { throw std::runtime_error("it\nbroke"); });
  EXPECT_EQ(failure.text, "it broke");
  EXPECT_FALSE(failure.refused);
  const Problem memory = problem_of([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.text, "not enough memory");
  EXPECT_FALSE(memory.refused);
}

TEST(Problems, AreNotWhatCancelsAMeasurement) {
  EXPECT_THROW(problem_of([] { throw Cancelled{}; }), Cancelled);
}

}  // namespace
}  // namespace orrery
