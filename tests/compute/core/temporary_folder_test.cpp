#include "compute/core/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace orrery {
namespace {

TEST(TemporaryFolder, HasItsFilesUntilItGoes) {
  std::filesystem::path file;
  {
    const TemporaryFolder folder, other;
    file = folder.write("a", "text\n");
    EXPECT_NE(file, other / "a");
    std::string line;
    std::ifstream stream{file};
    ASSERT_TRUE(std::getline(stream, line));
    EXPECT_EQ(line, "text");
    EXPECT_THROW(folder.write("no/such/folder", ""), std::runtime_error);
  }
  EXPECT_FALSE(std::filesystem::exists(file.parent_path()));
}

}  // namespace
}  // namespace orrery
