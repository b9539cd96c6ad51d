// Profiles in a process of their own, as the window takes them.
#include <cerrno>
#include <csignal>

#include "app/features/profile/profile.h"
#include "app/features/profile/profile_window.h"
#include "compute/core/error.h"
#include "compute/kernels/catalog.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

Status shown_status() {
  Status status;
  status.kernel_id = "cpu-simd";
  status.kernel = KernelCatalog{}.find("cpu-simd");
  status.settings = Settings{*status.kernel, {{"threads", "2"}}};
  status.scene = {.scene = "plummer", .count = 1000, .seed = 7};
  status.count = 1000;
  status.law.softening = 0.05f;
  return status;
}

bool has_pair(const std::vector<std::string>& words, const std::string& option, const std::string& value) {
  const std::array wanted{option, value};
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

TEST(ProfileArguments, NameEverythingThatIsShown) {
  const std::vector<std::string> words = profile_arguments(shown_status(), 1, "out.json");
  EXPECT_EQ(words.front(), "profile");
  EXPECT_TRUE(has_pair(words, "--kernels", "cpu-simd"));
  EXPECT_TRUE(has_pair(words, "--set", "threads=2"));
  EXPECT_TRUE(has_pair(words, "--scene", "plummer"));
  EXPECT_TRUE(has_pair(words, "-n", "1000"));
  EXPECT_TRUE(has_pair(words, "--seed", "7"));
  EXPECT_TRUE(has_pair(words, "--law", "gravity"));
  EXPECT_TRUE(has_pair(words, "--softening", "0.05"));
  EXPECT_TRUE(has_pair(words, "--device", "1"));
  EXPECT_TRUE(has_pair(words, "--json", "out.json"));
  EXPECT_EQ(std::ranges::find(words, "--repulsion"), words.end()) << "gravity has none";
}

TEST(ProfileArguments, NameAFileInsteadOfAScene) {
  Status status = shown_status();
  status.scene = {.scene = {},
                  .file = "-bodies.hdf5",
                  .hints = {.columns = {BodyColumn::skip, BodyColumn::x}, .state = 3, .units = galactic_units}};
  const std::vector<std::string> words = profile_arguments(status, std::nullopt, "out.json");
  EXPECT_TRUE(has_pair(words, "--", "-bodies.hdf5"));
  EXPECT_TRUE(has_pair(words, "--units", "kpc,1e10Msun,km/s"));
  EXPECT_TRUE(has_pair(words, "--columns=-,x", "--state"));
  for (const std::string& option : "--scene -n --seed --device"_words) {
    EXPECT_EQ(std::ranges::find(words, option), words.end()) << option;
  }
}

TEST(ProfileArguments, NameTheFileOfAKernelOfTheUsers) {
  const std::vector<std::string> words = profile_arguments(shown_status(), std::nullopt, "out.json", "/tmp/mine.cu");
  EXPECT_TRUE(has_pair(words, "--kernel-file", "/tmp/mine.cu"));
  EXPECT_EQ(std::ranges::find(words, "--kernels"), words.end()) << "the process does not know its id";
}

/// A program that takes the place of orrery.
std::filesystem::path script(const TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path file = folder / "script";
  std::ofstream{file} << "#!/bin/sh\n" << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

using ProfileControlTest = InFolder;

TEST_F(ProfileControlTest, ShowsAFailureOfTheProcessInOneLine) {
  const struct {
    const char *text, *error;
  } cases[] = {{"echo 'orrery: no right to profile' >&2; exit 1\n", "no right to profile"},
               {"exit 1\n", "the process that profiles ended early"},
               {"kill -9 $$\n", "the process that profiles ended early"},
               {"echo '{\"profiles\": []}' > \"$3\"\n", "the process that profiles returned no profile"}};
  for (const auto& [text, error] : cases) {
    ProfileControl control{script(folder, text)};
    ProfileStatus status;
    control.start(shown_status(), std::nullopt, status);
    EXPECT_TRUE(status.active);
    EXPECT_THROW(control.start(shown_status(), std::nullopt, status), UsageError) << "one at a time";
    control.finish(status);
    EXPECT_FALSE(status.active);
    EXPECT_EQ(status.error, error);
    EXPECT_TRUE(status.profiles.empty());
  }
}

TEST_F(ProfileControlTest, EndsAProcessThatTakesTooLong) {
  ProfileControl control{script(folder, "exec sleep 60\n"), std::chrono::milliseconds{100}};
  ProfileStatus status;
  control.start(shown_status(), std::nullopt, status);
  control.finish(status);
  EXPECT_EQ(status.error, "it was not ready after 0.1 s; fewer bodies take less time");
}

TEST_F(ProfileControlTest, ReadsTheFileWhateverTheKernelPrints) {
  ProfileControl control{
      script(folder, "echo hello from a kernel; echo '{\"profiles\": [{\"kernel\": \"mine\", \"n\": 7}]}' > \"$3\"\n")};
  ProfileStatus status;
  control.start(shown_status(), std::nullopt, status);
  control.finish(status);
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.profiles.size(), 1u);
  EXPECT_EQ(status.profiles[0].count, 7);
  EXPECT_GT(status.taken_s, 0);
}

/// Says that it has got its words, as a spare does. The file after --json gets a profile of the kernel $KERNEL, or of
/// "new".
constexpr const char* writes_profile = R"(echo got
while [ "$1" != --json ]; do shift; done
echo '{"profiles": [{"kernel": "'${KERNEL:-new}'"}]}' > "$2"
)";

TEST_F(ProfileControlTest, GivesTheArgumentsToAProcessThatWaits) {
  const std::filesystem::path started = folder / "started";
  const std::string waits = R"(if [ "$1" = prepare-for-parent ]; then
  echo "$*" >> ")" + started.string() +
                            R"("
  exec env KERNEL=spare xargs -0 -r "$0"
fi
)";
  ProfileControl control{script(folder, waits + writes_profile)};
  ProfileStatus status;
  const auto kernel_of_next = [&](std::optional<int> device) {
    control.start(shown_status(), device, status);
    control.prepare(1);  // one is in flight: nothing is started
    control.finish(status);
    EXPECT_EQ(status.error, "");
    return status.profiles.empty() ? "" : status.profiles.back().kernel_id;
  };
  EXPECT_EQ(kernel_of_next(1), "new");
  for (int call = 0; call < 3; ++call) control.prepare(1);
  EXPECT_EQ(kernel_of_next(1), "spare");
  EXPECT_EQ(kernel_of_next(1), "new") << "each waits for one profile";
  control.prepare(1);
  EXPECT_EQ(kernel_of_next(0), "new") << "it waits on another device";
  EXPECT_EQ(kernel_of_next(1), "spare");
  std::ifstream file{started};
  std::string line;
  int lines = 0;
  for (; std::getline(file, line); ++lines) EXPECT_EQ(line, "prepare-for-parent profile --device 1");
  EXPECT_EQ(lines, 2);
}

TEST_F(ProfileControlTest, StartsAProcessInThePlaceOfOneThatCouldNotPrepareItself) {
  for (const char* end : {"kill -9 $$", "echo 'orrery: out of memory' >&2; exit 1", "exit 0"}) {
    SCOPED_TRACE(end);
    const TemporaryFolder folder;
    ProfileControl control{
        script(folder, "if [ \"$1\" = prepare-for-parent ]; then " + std::string{end} + "; fi\n" + writes_profile)};
    ProfileStatus status;
    control.prepare(0);
    control.start(shown_status(), 0, status);
    control.finish(status);
    EXPECT_EQ(status.error, "");
    ASSERT_EQ(status.profiles.size(), 1u);
    EXPECT_EQ(status.profiles[0].kernel_id, "new");
  }
}

TEST_F(ProfileControlTest, DoesNotRepeatAProfileThatCrashed) {
  ProfileControl control{script(folder, std::string{"if [ \"$1\" = prepare-for-parent ]; then\n"} +
                                            "  cat >/dev/null; echo got; kill -9 $$\nfi\n" + writes_profile)};
  ProfileStatus status;
  control.prepare(0);
  control.start(shown_status(), 0, status);
  control.finish(status);
  EXPECT_EQ(status.error, "the process that profiles ended early");
}

TEST_F(ProfileControlTest, EndsAProcessThatNobodyNeeds) {
  const std::filesystem::path number = folder / "number";
  ProfileControl control{
      script(folder, "echo $$ > \"$0.tmp\"; mv \"$0.tmp\" " + number.string() + "; exec sleep 60\n")};
  control.prepare(0);
  while (!std::filesystem::exists(number)) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  pid_t child = 0;
  std::ifstream{number} >> child;
  ASSERT_GT(child, 0);
  EXPECT_EQ(kill(child, 0), 0);
  control.drop_spare();
  while (kill(child, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});  // reaped, too
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(ProfileControlTest, NamesTheVersionOfAKernelFile) {
  ProfileControl control{script(folder, "echo '{\"profiles\": [{\"kernel\": \"mine\"}]}' > \"$3\"\n")};
  ProfileStatus status;
  Status shown = shown_status();
  KernelInfo info = *shown.kernel;
  info.file_text = "its text";
  info.file_version = 3;
  shown.kernel = std::make_shared<const KernelInfo>(info);
  shown.kernel_id = "mine";
  control.start(shown, std::nullopt, status);
  EXPECT_EQ(status.present, "mine v3 threads=2");
  shown.kernel = nullptr;  // another kernel runs before the profile is there
  control.finish(status);
  ASSERT_EQ(status.profiles.size(), 1u);
  EXPECT_EQ(status.profiles[0].label(), "mine v3");
}

TEST_F(ProfileControlTest, DoesNotWaitForTheEndOfTheProcess) {
  ProfileControl control{script(folder, "echo '{\"profiles\": [{\"kernel\": \"mine\"}]}' > \"$3\"; exec sleep 60\n")};
  ProfileStatus status;
  control.start(shown_status(), std::nullopt, status);
  while (!control.tick(status)) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.profiles.size(), 1u);
  EXPECT_LT(status.taken_s, 30);
  EXPECT_TRUE(status.active) << "the process may still use the GPU";
  EXPECT_THROW(control.start(shown_status(), std::nullopt, status), UsageError);
}

TEST_F(ProfileControlTest, GivesTheProcessTheTextOfAKernelOfTheUsers) {
  const std::filesystem::path seen = folder / "seen";
  ProfileControl control{script(folder, "cp \"$5\" " + seen.string() + "; echo \"$4 $5\" >> " + seen.string() + "\n")};
  Status shown = shown_status();
  KernelInfo own = *shown.kernel;
  own.file_text = "// the text\n";
  shown.kernel = std::make_shared<const KernelInfo>(own);
  ProfileStatus status;
  control.start(shown, std::nullopt, status);
  control.finish(status);
  std::ifstream file{seen};
  std::string text, words;
  ASSERT_TRUE(std::getline(file, text) && std::getline(file, words));
  EXPECT_EQ(text, "// the text");
  EXPECT_TRUE(words.starts_with("--kernel-file /")) << words;
  EXPECT_FALSE(std::filesystem::exists(words.substr(words.find('/')))) << "it goes with the process";
}

TEST_F(ProfileControlTest, WaitsForTheChoiceOfAuto) {
  ProfileStatus status;
  ProfileControl control;
  Status shown = shown_status();
  shown.choosing = true;
  EXPECT_THROW(control.start(shown, std::nullopt, status), UsageError);
  EXPECT_FALSE(status.active);
  EXPECT_FALSE(control.tick(status)) << "nothing is in flight";
}

TEST_F(ProfileControlTest, ComparesWithRowsThatExist) {
  ProfileStatus status;
  EXPECT_THROW(ProfileControl::compare({0}, status), UsageError);
  status.profiles.resize(3);
  ProfileControl::compare({1}, status);
  EXPECT_EQ(status.baseline(), &status.profiles[1]);
  ProfileControl::compare({CompareProfile::previous}, status);
  EXPECT_EQ(status.baseline(), &status.profiles[1]);
  EXPECT_THROW(ProfileControl::compare({3}, status), UsageError);
  ProfileControl::compare({2}, status);
  EXPECT_EQ(status.baseline(), nullptr) << "the latest is not compared with itself";
}

}  // namespace
}  // namespace orrery::test
