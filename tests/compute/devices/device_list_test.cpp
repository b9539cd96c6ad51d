#include "compute/devices/device_list.h"

#include <gtest/gtest.h>

#include "compute/kernels/division.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

TEST(DeviceList, IsReadAndWritten) {
  EXPECT_TRUE(DeviceList::parsed("--devices", "all").all);
  for (const auto& [text, ordinals] :
       {std::pair<const char*, std::vector<int>>{"0", {0}}, {"0,1", {0, 1}}, {"3,0,12", {3, 0, 12}}, {"0,0", {0, 0}}}) {
    const DeviceList list = DeviceList::parsed("--devices", text);
    EXPECT_FALSE(list.all) << text;
    EXPECT_EQ(list.ordinals, ordinals) << text;
    EXPECT_EQ(list.to_string(), text);
  }
  EXPECT_EQ(DeviceList::parsed("--devices", "all").to_string(), "all");
}

TEST(DeviceList, ThatIsNoneIsRefusedInOneLine) {
  std::string many = "0";
  for (int i = 0; i < most_devices; ++i) many += ",0";
  for (const std::string& wrong : {std::string{}, std::string{","}, std::string{"0,"}, std::string{",0"},
                                   std::string{"-1"}, std::string{"0,-1"}, std::string{"0 1"}, std::string{"one"},
                                   std::string{"0,all"}, std::string{"1.5"}, std::string{"99999999999"}, many}) {
    test::expect_failure(
        test::Failure::usage, [&] { (void)DeviceList::parsed("--devices", wrong); }, "--devices cannot be '" + wrong,
        "all", "0,1");
  }
}

}  // namespace
}  // namespace orrery
