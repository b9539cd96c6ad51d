// The list of kernels and their settings: what the command line, the panel and the benchmark rely on.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"

namespace orrery {

#define X(stem) extern const KernelInfo kernel_##stem;
#include "kernel_list.inc"
#undef X

namespace {

template <class Function>
std::string usage_error(Function&& function) {
  try {
    function();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

std::string quoted(const char* text) {
  return std::string{'\''}.append(text).append(1, '\'');
}

TEST(Registry, IdsAreTheFileStems) {
  std::size_t listed = 0;
#define X(stem)                                            \
  {                                                        \
    std::string id = #stem;                                \
    std::ranges::replace(id, '_', '-');                    \
    EXPECT_EQ(kernel_##stem.id, id);                       \
    EXPECT_EQ(&find_kernel(id), &kernel_##stem);           \
    EXPECT_EQ(kernels()[listed], &kernel_##stem) << #stem; \
    ++listed;                                              \
  }
#include "kernel_list.inc"
#undef X
  EXPECT_EQ(kernels().size(), listed);
}

TEST(Registry, IdsAreUnique) {
  std::set<std::string> ids;
  for (const KernelInfo* kernel : kernels()) EXPECT_TRUE(ids.insert(kernel->id).second) << kernel->id;
  EXPECT_GE(ids.size(), 3u);
}

TEST(Registry, DescriptorsAreComplete) {
  for (const KernelInfo* kernel : kernels()) {
    SCOPED_TRACE(kernel->id);
    for (const char* text : {kernel->title, kernel->notes, kernel->source}) EXPECT_FALSE(std::string{text}.empty());
    EXPECT_NE(std::string{kernel->source}.find("row"), std::string::npos) << "names its row of the literature";
    EXPECT_EQ(std::string{kernel->id}.starts_with("cuda-"), kernel->backend == Backend::cuda);
    EXPECT_GT(kernel->tolerance.median, 0);
    EXPECT_GE(kernel->tolerance.max, kernel->tolerance.median);
    EXPECT_TRUE(kernel->create);
    EXPECT_FALSE(kernel->is_tree && kernel->full_fp32) << "`auto` would take it unseen";
    std::set<std::string> names;
    for (const Tunable& tunable : kernel->tunables) {
      SCOPED_TRACE(tunable.name);
      EXPECT_TRUE(names.insert(tunable.name).second) << "declared twice";
      EXPECT_FALSE(std::string{tunable.notes}.empty());
      const std::set<std::string> values(tunable.values.begin(), tunable.values.end());
      EXPECT_EQ(values.size(), tunable.values.size()) << "a value twice";
      EXPECT_TRUE(values.contains(tunable.initial));
    }
  }
}

TEST(Registry, RefusesAnUnknownKernelAndListsTheKnown) {
  for (const char* id : {"cpu-sreial", "", "cpu_serial"}) {
    const std::string message = usage_error([&] { find_kernel(id); });
    EXPECT_NE(message.find(quoted(id)), std::string::npos) << message;
    for (const KernelInfo* kernel : kernels()) EXPECT_NE(message.find(kernel->id), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Settings, StartAtTheInitialValuesAndTakeEveryAllowedOne) {
  for (const KernelInfo* kernel : kernels()) {
    SCOPED_TRACE(kernel->id);
    Settings settings{*kernel};
    EXPECT_EQ(settings.values().size(), kernel->tunables.size());
    for (const Tunable& tunable : kernel->tunables) {
      EXPECT_EQ(settings.text(tunable.name), tunable.initial);
      for (const char* value : tunable.values) {
        settings.set(tunable.name, value);
        EXPECT_EQ(settings.text(tunable.name), value);
        const std::string shown = tunable.name + std::string{'='} + value;
        EXPECT_NE(settings.to_string().find(shown), std::string::npos) << settings.to_string();
      }
    }
  }
}

TEST(Settings, RefuseAnUnknownTunableAndListTheKnown) {
  Settings simd{find_kernel("cpu-simd")};
  const Settings before = simd;
  const std::string message = usage_error([&] { simd.set("blokc", "64"); });
  for (const char* part : {"cpu-simd", "'blokc'", "threads", "rows"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(simd, before);

  Settings serial{find_kernel("cpu-serial")};
  EXPECT_NE(usage_error([&] { serial.set("threads", "1"); }).find("none"), std::string::npos);
  Settings of_no_kernel;
  EXPECT_NE(usage_error([&] { of_no_kernel.set("threads", "1"); }).find("none"), std::string::npos);
}

TEST(Settings, RefuseAnUnknownValueAndListTheAllowed) {
  Settings settings{find_kernel("cpu-openmp")};
  settings.set("threads", "2");
  for (const char* value : {"3", "", "02", "Auto", "2 "}) {
    const std::string message = usage_error([&] { settings.set("threads", value); });
    EXPECT_NE(message.find(quoted(value)), std::string::npos) << message;
    for (const char* part : {"cpu-openmp", "threads", "auto, 1, 2, 4, 8, 16, 32, 64, 128"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    EXPECT_EQ(settings.text("threads"), "2");
  }
}

TEST(Settings, ReadNumbersAndNamesApart) {
  Settings settings{find_kernel("cpu-simd")};
  EXPECT_EQ(settings.integer("threads", -7), -7) << "auto is no number";
  settings.set("threads", "16");
  EXPECT_EQ(settings.integer("threads", -7), 16);
  EXPECT_TRUE(settings.has("threads"));
  EXPECT_FALSE(settings.has("block"));
}

}  // namespace
}  // namespace orrery
