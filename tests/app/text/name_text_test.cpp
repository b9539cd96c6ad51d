#include <gtest/gtest.h>

#include <string>

#include "app/text/csv.h"
#include "app/text/printable.h"

namespace orrery {
namespace {

TEST(NameText, KeepsEveryByteOfAName) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& name : {all, std::string{"Z\xfcrich"}, std::string{"Z\xc3\xbcrich"}, std::string{"\xe2\x82"},
                                  std::string{"\xef\x9e\x80 \xef\x9f\xbf"}, std::string{"\xed\xa0\x80"}}) {
    const std::string text = text_of_name(name);
    EXPECT_EQ(name_of_text(text), name);
    EXPECT_NO_THROW((void)Json(text).dump()) << "it is UTF-8";
  }
  EXPECT_EQ(text_of_name("Z\xc3\xbcrich/a b"), "Z\xc3\xbcrich/a b") << "plain names stay";
}

}  // namespace
}  // namespace orrery
