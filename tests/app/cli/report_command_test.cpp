// `orrery report` as a person runs it.
#include "tests/app/report/page_check.h"
#include "tests/app/support/program.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

struct ReportCommand : ProgramTest {
  Outcome report(const Words& more) const {
    return run("report --kernels cpu-serial,cpu-simd --size 64x48"_words + more);
  }
};

TEST_F(ReportCommand, WritesAPageWithEveryResultAndTheCommand) {
  const Outcome outcome = report("-n 8,64 --repeat 6 --seed 7 --out a.html"_words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "wrote a.html")) << outcome.out;
  const std::string text = read("a.html");
  expect_page(text);
  for (const char* part : {"collision, 8 bodies", "collision, 64 bodies", "<td>cpu-serial</td>", "<td>cpu-simd</td>",
                           "orrery report --kernels cpu-serial,cpu-simd --size 64x48 -n 8,64 --repeat 6 --seed 7 --out "
                           "a.html",
                           "<td>Seed</td><td>7</td>", "<td>CPU</td>", "hardware threads"}) {
    EXPECT_TRUE(holds(text, part)) << part;
  }
  EXPECT_EQ(count_of(text, "<svg"), 4u);
  EXPECT_TRUE(holds(text, "data:image/png;base64,iVBOR") || holds(text, "There is no picture: "))
      << text.substr(0, 5000);
}

TEST_F(ReportCommand, NamesOneReasonOnce) {
  const bool all_run = !ORRERY_HAVE_CUDA || backends().status(Backend::cuda).available;
  if (all_run) GTEST_SKIP() << "every kernel of this build runs here";
  const Outcome outcome = succeed("report -n 8 --repeat 1 --size 64x48 --out a.html"_words);
  const std::string text = read("a.html");
  const std::size_t gaps = text.find("Not measured");
  const std::string reason = backends().status(Backend::cuda).reason.substr(0, 20);
  ASSERT_NE(gaps, std::string::npos);
  EXPECT_EQ(count_of(text.substr(gaps, text.find("</table>", gaps) - gaps), "<tr>"), 2u) << "titles and a row";
  EXPECT_TRUE(holds(text.substr(gaps), "cuda-naive, ") && holds(text.substr(gaps), reason));
}

TEST_F(ReportCommand, KeepsAnExistingPageUnlessForced) {
  const Words measure = "-n 8 --repeat 1 --out a.html"_words;
  ASSERT_EQ(report(measure).status, 0);
  const std::string first = read("a.html");
  EXPECT_TRUE(holds(report(measure).out, "wrote a-1.html"));
  EXPECT_EQ(read("a.html"), first);
  Words forced = measure;
  forced.emplace_back("--force");
  EXPECT_TRUE(holds(report(forced).out, "wrote a.html"));
  EXPECT_NE(read("a.html"), first) << "its command has --force";
}

TEST_F(ReportCommand, RefusesWhatCannotBeWrittenOrMeasuredBeforeAnyWork) {
  std::filesystem::create_directory(path("folder.html"));
  expect_refused(report("-n 8 --out folder.html"_words), 1, {"--out", "folder.html", "it is a folder"});
  expect_refused(report("-n 8 --out none/a.html"_words), 1, {"--out", "none/a.html"});
  expect_refused(report({"-n", "8"}), 2, {"--out FILE.html"});
  expect_refused(report("-n 8 --out a.pdf"_words), 2, {"--out", "a.pdf", ".html"});
  expect_refused(report({"-n", "8", "--out", ""}), 2, {"--out"});
  expect_refused(report("-n 0 --out a.html"_words), 2, {"-n"});
  expect_refused(report("-n 8 --budget nan --out a.html"_words), 2, {"--budget", "nan"});
  expect_refused(report("-n 8 --csv a.csv --out a.html"_words), 2, {"--csv"});
  expect_refused(report({"none.bin", "--out", "a.html"}), 1, {"none.bin"});
  std::ofstream{path("b.html")} << "bodies";
  expect_refused(report({"b.html", "--out", "b.html"}), 2, {"b.html", "FILE reads"});
  EXPECT_FALSE(std::filesystem::exists(path("a.html")));
}

TEST_F(ReportCommand, EscapesAHostileFileName) {
  const std::string name = "<script>&\"'.tipsy";
  const Outcome saved = run({"view", "--offscreen", "--frames", "1", "-n", "16", "--kernel", "cpu-serial", "--size",
                             "64x48", "--save", name});
  if (saved.status != 0) GTEST_SKIP() << saved.err;  // without OpenGL, nothing is saved
  EXPECT_EQ(report({name, "--repeat", "1", "--out", "a.html"}).status, 0);
  const std::string text = read("a.html");
  expect_page(text);
  EXPECT_FALSE(holds(text, "<script"));
  EXPECT_TRUE(holds(text, "&lt;script&gt;&amp;&quot;&#39;.tipsy, 16 bodies"));
}

TEST_F(ReportCommand, EndsMeasuringAtItsBudget) {
  const Outcome outcome = report("-n 64 --repeat 1000000 --budget 0 --out a.html"_words);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string text = read("a.html");
  expect_page(text);
  EXPECT_TRUE(holds(text, "Measuring ended after 0 s, as asked: 0 of 2 variants were measured."));
  EXPECT_TRUE(holds(text, "Nothing was measured"));
  EXPECT_TRUE(holds(text, "cpu-simd")) << "among what was not measured";
}

TEST_F(ReportCommand, KeepsWhatWasMeasuredWhenItIsStopped) {
  std::ofstream{path("run.sh")}
      << "cd '" << folder.path().string() << "' || exit 1\n"
      << ORRERY_PROGRAM
      << " report --kernels cpu-serial,cpu-simd -n 64 --repeat 1000000 --size 64x48 --progress "
         "--out a.html >out 2>err &\n"
         "until grep -q left err; do sleep 0.05; done\nsleep 1\nkill -TERM $!\nwait $!\n";
  const int status = std::system(("timeout 200 bash '" + path("run.sh") + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 143);
  const std::string text = read("a.html");
  expect_page(text);
  EXPECT_TRUE(holds(text, "Measuring was interrupted: ")) << text.substr(0, 4000);
}

}  // namespace
}  // namespace orrery::test
