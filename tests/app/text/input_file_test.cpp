#include "app/text/input_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "compute/core/temporary_folder.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;

class InputFile : public testing::Test {
 protected:
  Json json(const std::string& text) const {
    std::ofstream{file} << text;
    return read_json(file);
  }
  void expect_refused(const std::string& text, const char* cause) const {
    expect_failure(
        Failure::runtime, [&] { (void)json(text); }, "'" + file + "'", cause);
  }

  const TemporaryFolder folder;
  const std::string file = (folder / "input").string();
};

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST_F(InputFile, LeavesOutTheByteOrderMark) {
  EXPECT_EQ(json("\xEF\xBB\xBF[1]"), Json::parse("[1]"));
  EXPECT_EQ(read_text(file), "[1]") << "as lessons, scripts, camera paths and replays are read";
}

TEST_F(InputFile, ReadsWholeFiles) {
  for (const std::size_t size : {0u, 1u, 4096u, 100'000u}) {
    const std::string text(size, 'a');
    std::ofstream{file} << text;
    EXPECT_EQ(read_text(file), text);
  }
  EXPECT_FALSE(read_text("/proc/self/status").empty()) << "its size is said to be 0";
}

TEST_F(InputFile, RefusesAtOnceWhatIsNoRegularFile) {
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string{"/dev/null"}, std::string{"/dev/zero"}}) {
    expect_failure(
        Failure::runtime, [&] { (void)read_text(path); }, path, "not a regular file");
  }
  expect_failure(
      Failure::runtime, [&] { (void)read_text(folder.path().string()); }, folder.path().string(), "folder");
  expect_failure(
      Failure::runtime, [&] { (void)read_text(file); }, file, "No such file");
}

TEST_F(InputFile, DoesNotTakeAnErrorForTheEnd) {
  // Its first page is never mapped.
  expect_failure(
      Failure::runtime, [] { (void)read_text("/proc/self/mem"); }, "/proc/self/mem", "Input/output error");
}

TEST_F(InputFile, RefusesLargeFiles) {
  std::ofstream{file} << ' ';
  std::filesystem::resize_file(file, 64'000'000);
  EXPECT_EQ(read_text(file).size(), 64'000'000u);
  std::filesystem::resize_file(file, 64'000'001);
  expect_failure(
      Failure::runtime, [&] { (void)read_text(file); }, file, "64 MB");
}

TEST_F(InputFile, BoundsTheDepthOfJson) {
  EXPECT_EQ(json(repeated("[", 64) + repeated("]", 64)).size(), 1u);
  expect_refused(repeated("[", 65) + repeated("]", 65), "64 levels");
  expect_refused(repeated("[", 1'000'000), "64 levels");
  expect_refused(repeated("{\"a\":", 1'000'000), "64 levels");
}

TEST_F(InputFile, BoundsTheNumberOfValues) {
  EXPECT_EQ(json("[0" + repeated(",0", 999'998) + "]").size(), 999'999u);
  expect_refused("[0" + repeated(",0", 999'999) + "]", "1000000 values");
  expect_refused("[0" + repeated(",0", 20'000'000) + "]", "1000000 values");
}

TEST_F(InputFile, BoundsTheMembersOfAnObject) {
  const auto object = [](int members) {
    std::string text;
    for (int i = 0; i < members; ++i) text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(json(object(1000)).size(), 1000u);
  EXPECT_EQ(json("[" + object(1000) + "," + object(1000) + "]").size(), 2u);
  expect_refused(object(1001), "1000 members");
}

TEST_F(InputFile, BoundsTheLengthOfTexts) {
  EXPECT_EQ(json("[\"" + std::string(65'536, 'a') + "\"]")[0].get<std::string>().size(), 65'536u);
  expect_refused("[\"" + std::string(65'537, 'a') + "\"]", "65536 bytes");
  expect_refused("{\"" + std::string(65'537, 'a') + "\": 1}", "65536 bytes");
}

TEST_F(InputFile, RefusesTextsThatANameWouldCut) {
  expect_refused(R"(["cpu\u0000simd"])", "the character 0");
  expect_refused(R"({"a\u0000b": 1})", "the character 0");
}

TEST_F(InputFile, NamesTheLineThatIsNotJson) {
  expect_refused("", "not JSON, see line 1");
  expect_refused("{\n\"a\": 1,\n\"b\": x\n}", "not JSON, see line 3");
  expect_refused("[1] [2]", "not JSON, see line 1");
  expect_refused("[1e999]", "not JSON, see line 1");
  expect_refused("\"\xff\"", "not JSON, see line 1");
}

TEST(JsonCount, TakesNumbersOfBodiesOnly) {
  for (const char* text : {"1", "16384", "2147483647"}) EXPECT_EQ(json_count(Json::parse(text)), std::stoi(text));
  EXPECT_EQ(json_count(Json(7)), 7);
  for (const char* text : {"0", "-1", "2147483648", "18446744073709551615", "-9223372036854775808", "1.0", "1e300",
                           "-1e300", "null", "true", "\"1\"", "[1]", "{}"}) {
    EXPECT_FALSE(json_count(Json::parse(text))) << text;
  }
}

}  // namespace
}  // namespace orrery
