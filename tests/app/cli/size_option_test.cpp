// How small and how large a window or a picture may be.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "app/cli/verb.h"
#include "app/cli/view_verb.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

TEST(SizeOption, HasOneRuleForEachCase) {
  const auto refused = [](const std::vector<std::string>& words, const char* rule) {
    expect_failure(
        Failure::usage, [&] { parse_options(test::catalog(), words); }, rule);
  };
  refused({"--size", "10x10"}, "--size cannot be 10x10; with the panel it must be at least 320x200");
  refused({"--size", "319x200"}, "at least 320x200");
  refused({"--offscreen", "--panel", "on", "--size", "100x100"}, "with the panel it must be at least 320x200");
  refused({"--offscreen", "--size", "10x10"}, "without the panel it must be at least 16x16");
  refused({"render", "--out", "a", "--size", "16x15"}, "without the panel it must be at least 16x16");
  refused({"report", "--out", "a.html", "--size", "10x10"}, "at least 16x16");
  refused({"--size", "8193x200"}, "each side at most 8192 pixels");
  const std::unique_ptr<Verb> smallest = parse_options(test::catalog(), {"--offscreen", "--size", "16x16"});
  EXPECT_EQ(dynamic_cast<const ShownVerb&>(*smallest).options.size, (WindowSize{16, 16}));
}

}  // namespace
}  // namespace orrery
