#include "app/recording/output_file.h"

#include <fstream>
#include <utility>

#include "app/text/csv.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::contents;
using test::expect_failure;
using test::Failure;

TEST(NumberedPath, NumbersBeforeTheExtension) {
  EXPECT_EQ(numbered_path("runs/a.csv", 0), "runs/a.csv");
  EXPECT_EQ(numbered_path("runs/a.csv", 2), "runs/a-2.csv");
  EXPECT_EQ(numbered_path("runs.d/a", 1), "runs.d/a-1");
  EXPECT_EQ(numbered_path(".hidden", 1), ".hidden-1");
}

TEST(OutputFile, NeverOverwrites) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.csv").string();
  std::ofstream{path} << "precious";
  OutputFile file = OutputFile::create(path);
  EXPECT_EQ(file.append("one\n"), "");
  EXPECT_EQ(file.path(), (folder / "a-1.csv").string());
  EXPECT_EQ(file.append("two\n"), "");
  EXPECT_EQ(contents(path), "precious");
  EXPECT_EQ(contents(file.path()), "one\ntwo\n") << "with no flush or close";
}

TEST(OutputFile, ReplacesAFileFromTheFirstWriteOn) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.csv").string();
  std::ofstream{path} << "a long old content";
  { const OutputFile unused = OutputFile::create(path, Existing::replace); }
  EXPECT_EQ(contents(path), "a long old content") << "nothing was written";
  OutputFile file = OutputFile::create(path, Existing::replace);
  EXPECT_EQ(file.append("one\n"), "");
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(contents(path), "one\n");
}

TEST(OutputFile, ReplacesNoReadOnlyFile) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.csv").string();
  std::ofstream{path} << "precious";
  std::filesystem::permissions(path, std::filesystem::perms{0444});
  expect_failure(
      Failure::runtime, [&] { OutputFile::create(path, Existing::replace); }, "a.csv", "Permission denied");
  EXPECT_EQ(contents(path), "precious");
}

TEST(OutputFile, LeavesNoEmptyFileBehind) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.csv").string();
  { const OutputFile unused = OutputFile::create(path); }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    OutputFile used = OutputFile::create(path);
    EXPECT_EQ(used.append("one\n"), "");
    const OutputFile moved = std::move(used);
  }
  EXPECT_EQ(contents(path), "one\n");
}

TEST(OutputFile, ReplacesItsTail) {
  const TemporaryFolder folder;
  OutputFile file = OutputFile::create((folder / "a").string());
  EXPECT_EQ(file.append("one\ntwo\nthree\n"), "");
  EXPECT_EQ(file.replace_tail(4, "2\n"), "");
  EXPECT_EQ(contents(file.path()), "one\n2\n") << "a shorter tail leaves nothing of the old one";
  EXPECT_EQ(file.append("3\n"), "");
  EXPECT_EQ(contents(file.path()), "one\n2\n3\n");
  OutputFile moved = std::move(file);
  EXPECT_EQ(moved.append("4\n"), "");
  EXPECT_EQ(moved.size(), 10);
}

TEST(OutputFile, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  expect_failure(
      Failure::runtime, [&] { OutputFile::create((folder / "none").string() + "/a.csv"); }, "a.csv", "No such file");
  expect_failure(
      Failure::runtime, [] { OutputFile::create(""); }, "no name");
  OutputFile full = OutputFile::create("/dev/full");
  EXPECT_EQ(full.path(), "/dev/full");
  EXPECT_EQ(full.append("x\n"), "cannot write '/dev/full': No space left on device");
}

TEST(Csv, QuotesWhatNeedsIt) {
  const std::vector<std::string> fields{"a", "", "b,c", "say \"x\"", "two\nlines", "sp ace"};
  EXPECT_EQ(csv_line(fields), "a,,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",sp ace\n");
  EXPECT_EQ(csv_fields("a,,\"b,c\",\"say \"\"x\"\"\",sp ace\n"),
            (std::vector<std::string>{"a", "", "b,c", "say \"x\"", "sp ace"}));
  EXPECT_EQ(csv_fields("\"\",\"\"\"\",\r\n"), (std::vector<std::string>{"", "\"", ""}));
  EXPECT_EQ(csv_fields(""), std::vector<std::string>{""});
  EXPECT_EQ(csv_number(0.5), "0.5");
  EXPECT_EQ(csv_number(1.834e12), "1.834e+12");
  EXPECT_EQ(csv_number(std::nullopt), "");
  EXPECT_EQ(csv_number(0.0 / 0.0), "");
}

TEST(Csv, HeadsAFileWithItsMetadataInOneLine) {
  const std::vector<std::string_view> columns{"a", "b"};
  EXPECT_EQ(csv_header({{"scene", "two\nlines"}, {"n", 3}}, columns), "# {\"scene\":\"two\\nlines\",\"n\":3}\na,b\n");
  EXPECT_NO_THROW(csv_header({{"scene", "\xff.bin"}}, columns)) << "a file's name need not be UTF-8";
}

}  // namespace
}  // namespace orrery
