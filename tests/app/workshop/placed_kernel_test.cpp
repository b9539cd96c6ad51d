// The version of a kernel file that the catalog has. It is never created, so this needs no GPU.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "app/features/workshop/kernel_workshop.h"
#include "tests/compute/support/kernel_texts.h"

namespace orrery {
namespace {

class Placed : public testing::Test {
 protected:
  static AcceptedKernel version(int number, const std::string& id) {
    const std::string text = test::with(test::kernel_text("  // " + std::to_string(number)), "mine", id);
    return {number, std::make_shared<const KernelFile>(parse_kernel_file("my.cu", text))};
  }
  /// The text of the kernel with this id in the catalog; empty if there is none.
  std::string text_of(const char* id) const {
    const KernelPtr kernel = kernels.find_or_null(id);
    return kernel ? kernel->file_text : "";
  }

  KernelCatalog kernels;
  PlacedKernel placed{kernels, [](KernelCatalog& catalog, const AcceptedKernel& kernel) {
                        if (kernel.file->id == "taken") throw std::runtime_error("taken");
                        KernelInfo info = *catalog.find("cpu-serial");
                        info.id = kernel.file->id.c_str();
                        info.file_text = kernel.file->text.c_str();
                        info.file_version = kernel.version;
                        return catalog.put(info);
                      }};
};

TEST_F(Placed, TakesARefusedVersionBack) {
  placed.put(version(1, "mine"));
  placed.put(version(2, "mine"));
  EXPECT_EQ(text_of("mine"), version(2, "mine").file->text);
  placed.take_back();
  EXPECT_EQ(text_of("mine"), version(1, "mine").file->text);
  EXPECT_EQ(placed.version(), 1);
  EXPECT_TRUE(placed.is("mine"));
}

TEST_F(Placed, HasTheKernelsOfAllVersionsOfTheOpenFile) {
  placed.put(version(1, "mine"));
  placed.put(version(2, "mine"));
  ASSERT_TRUE(placed.kernel_of(1));
  EXPECT_EQ(placed.kernel_of(1)->file_text, version(1, "mine").file->text);
  EXPECT_EQ(placed.kernel_of(2), kernels.find("mine"));
  EXPECT_FALSE(placed.kernel_of(3));
  placed.forget_numbers();
  EXPECT_FALSE(placed.kernel_of(1));
}

TEST_F(Placed, LeavesNothingOfAFirstVersionThatIsRefused) {
  placed.put(version(1, "mine"));
  placed.take_back();
  EXPECT_FALSE(kernels.find_or_null("mine"));
  EXPECT_FALSE(placed.is("mine"));
  EXPECT_EQ(placed.version(), 0);
}

TEST_F(Placed, TakesAVersionWithAnotherIdBack) {
  placed.put(version(1, "mine"));
  placed.put(version(2, "yours"));
  EXPECT_TRUE(placed.is("yours"));
  placed.take_back();
  EXPECT_FALSE(kernels.find_or_null("yours"));
  EXPECT_EQ(text_of("mine"), version(1, "mine").file->text);
  EXPECT_TRUE(placed.is("mine"));
}

TEST_F(Placed, ChangesNothingIfTheCatalogRefuses) {
  placed.put(version(1, "mine"));
  EXPECT_THROW(placed.put(version(2, "taken")), std::runtime_error);
  EXPECT_TRUE(placed.is("mine"));
  EXPECT_EQ(placed.version(), 1);
  placed.forget_numbers();
  EXPECT_TRUE(placed.is("mine"));
  EXPECT_EQ(placed.version(), 0);
  EXPECT_EQ(placed.version_of("mine", 1), 0);
}

TEST_F(Placed, KnowsVersionsThatWereReplaced) {
  placed.put(version(1, "mine"));
  placed.put(version(3, "mine"));
  placed.put(version(3, "mine"));  // compiled again
  EXPECT_EQ(kernels.find("mine")->revision, 2);
  EXPECT_EQ(placed.version_of("mine", 1), 1);
  EXPECT_EQ(placed.version_of("mine", 2), 3);
  EXPECT_EQ(placed.version_of("mine", 9), 0);
  EXPECT_EQ(placed.version_of("cpu-serial", 0), 0);
}

}  // namespace
}  // namespace orrery
