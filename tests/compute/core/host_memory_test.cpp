#include "compute/core/host_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>

#include "compute/core/temporary_folder.h"

namespace orrery {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

class ControlGroups : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    std::ofstream{folder_.path() / file} << text;
  }
  std::int64_t free_bytes(const std::string& membership) {
    write("membership", membership);
    return control_group_free_bytes(folder_ / "membership", folder_ / "mount");
  }
  TemporaryFolder folder_;
};

TEST_F(ControlGroups, LeaveEverythingWhereNoneHasALimit) {
  EXPECT_EQ(control_group_free_bytes(folder_ / "none", folder_ / "mount"), unlimited);
  write("mount/a/memory.max", "max\n");
  write("mount/a/memory.current", "5\n");
  EXPECT_EQ(free_bytes("0::/a\n"), unlimited);
  EXPECT_EQ(free_bytes("0::/elsewhere\n"), unlimited);
}

TEST_F(ControlGroups, OfVersion2LeaveTheLeastOfTheGroupAndThoseItIsIn) {
  write("mount/a/b/memory.max", "1000\n");
  write("mount/a/b/memory.current", "300\n");
  EXPECT_EQ(free_bytes("0::/a/b\n"), 700);
  write("mount/a/b/memory.stat", "anon 200\ninactive_file 50\n");
  EXPECT_EQ(free_bytes("0::/a/b\n"), 750) << "cached files are dropped first";
  write("mount/a/memory.max", "500\n");
  write("mount/a/memory.current", "400\n");
  EXPECT_EQ(free_bytes("0::/a/b\n"), 100);
  write("mount/memory.max", "60\n");  // as a container sees its own group
  write("mount/memory.current", "70\n");
  EXPECT_EQ(free_bytes("0::/a/b\n"), 0);
}

TEST_F(ControlGroups, OfVersion1AreFoundByTheirController) {
  write("mount/memory/a/memory.limit_in_bytes", "1000\n");
  write("mount/memory/a/memory.usage_in_bytes", "100\n");
  EXPECT_EQ(free_bytes("7:cpu,cpuacct:/a\n4:hugetlb,memory:/a\n"), 900);
  EXPECT_EQ(free_bytes("7:cpu,cpuacct:/a\n"), unlimited);
}

}  // namespace
}  // namespace orrery
