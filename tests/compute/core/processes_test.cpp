#include <unistd.h>

#include <any>
#include <csignal>
#include <future>
#include <regex>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/temporary_folder.h"
#include "compute/core/threads.h"
#include "tests/test.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

TrialEnd end_after(int signal) {
  return try_in_copy([signal] { raise(signal); });
}

TEST(TrialProcess, EndsWellIfTheTrialReturnsOrThrows) {
  for (const auto& end :
       {try_in_copy([] {}), try_in_copy([] { throw std::runtime_error("this process will meet it, too"); })}) {
    EXPECT_EQ(end.kind, TrialEnd::well);
    EXPECT_EQ(end.cause, "");
  }
}

TEST(TrialProcess, TellsCrashesFromOtherSignals) {
  for (const int signal : {SIGFPE, SIGBUS, SIGSEGV, SIGILL, SIGABRT}) {
    const TrialEnd end = end_after(signal);
    EXPECT_EQ(end.kind, TrialEnd::crashed) << strsignal(signal);
    EXPECT_EQ(end.cause, strsignal(signal));
  }
  EXPECT_EQ(end_after(SIGXCPU).kind, TrialEnd::too_long);
  EXPECT_NE(end_after(SIGXCPU).cause.find("processor time"), std::string::npos);
  const TrialEnd killed = end_after(SIGKILL);
  EXPECT_EQ(killed.kind, TrialEnd::killed);
  EXPECT_NE(killed.cause.find("if memory is short"), std::string::npos) << killed.cause;
  EXPECT_EQ(end_after(SIGUSR1).kind, TrialEnd::killed);
  EXPECT_EQ(end_after(SIGUSR1).cause.find("memory"), std::string::npos);
}

/// A trial that waits uses no processor time, so that only a limit of wall-clock time ends it. It ends itself after a
/// while, so that this test fails rather than hangs without the limit.
TEST(TrialProcess, IsEndedAfterItsTimeAlsoWhereTheCallerBlocksTheAlarm) {
  sigset_t alarm_alone, before;
  sigemptyset(&alarm_alone);
  sigaddset(&alarm_alone, SIGALRM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &alarm_alone, &before), 0);
  const auto handler = std::signal(SIGALRM, SIG_IGN);
  const auto begin = std::chrono::steady_clock::now();
  const auto wait = [begin] {
    while (std::chrono::steady_clock::now() - begin < 20s) usleep(1000);
  };
  const TrialEnd end = try_in_copy(wait, 1s);
  EXPECT_EQ(end.kind, TrialEnd::too_long);
  EXPECT_EQ(end.cause, "it did not end within 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
  std::signal(SIGALRM, handler);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(StopSignal, WarningsOfBatchSystemsRequestAStopHoweverOftenTheyCome) {
  for (const int signal : {SIGXCPU, SIGUSR1, SIGUSR2}) {
    EXPECT_EXIT(
        {
          watch_stop_signals();
          for (int i = 0; i < 3; ++i) raise(signal);
          raise(SIGTERM);  // the first of its kind: no impatience
          std::_Exit(stop_requested() ? stop_status() : 0);
        },
        testing::ExitedWithCode(128 + signal), "");
  }
}

TEST(ResultWithin, IsWhatTheWorkReturnsOrThrows) {
  const auto keep = [](int&) { ADD_FAILURE() << "it came in time"; };
  EXPECT_EQ(result_within<int>(
                20s, [] { return 7; }, keep),
            7);
  test::expect_failure(
      test::Failure::runtime,
      [&] {
        (void)result_within<int>(
            20s, []() -> int { throw std::runtime_error("a bad day"); }, keep);
      },
      "a bad day");
}

TEST(ResultWithin, ComesTooLate) {
  std::promise<void> go_on;
  std::promise<int> late;
  std::future<int> result = late.get_future();
  const auto work = [wait = go_on.get_future().share()] {
    wait.wait();
    return 7;
  };
  EXPECT_EQ(result_within<int>(10ms, work, [&](int& value) { late.set_value(value); }), std::nullopt);
  go_on.set_value();
  ASSERT_EQ(result.wait_for(20s), std::future_status::ready) << "the thread has ended without a word";
  EXPECT_EQ(result.get(), 7);
}

// Exceptions as people read them, whoever throws them.

struct Injected {
  std::function<void()> fail;
  std::string text;  ///< expected
};

std::string text_of(const std::function<void()>& fail, bool& of_library) {
  try {
    fail();
  } catch (const std::exception& failure) {
    of_library = is_of_library(failure);
    return failure_text(failure);
  }
  return "nothing was thrown";
}

TEST(FailureText, IsThatOfThisProgramsExceptions) {
  const std::vector<Injected> own{{[] { throw std::runtime_error("'a': no such file"); }, "'a': no such file"},
                                  {[] { throw UsageError("unknown scene 'x'"); }, "unknown scene 'x'"},
                                  {[] { throw std::bad_alloc(); }, "not enough memory"}};
  for (const auto& [fail, text] : own) {
    bool of_library = true;
    EXPECT_EQ(text_of(fail, of_library), text);
    EXPECT_FALSE(of_library) << text;
  }
}

TEST(FailureText, IsTheCauseAndTheFileOfALibrarysExceptions) {
  namespace fs = std::filesystem;
  const std::string name = std::string(300, 'a'), unexpected = "a case that the program does not expect (";
  const std::vector<Injected> of_libraries{
      {[&] { (void)fs::exists(name); }, "'" + name + "': File name too long"},
      {[] { fs::rename("/nowhere/a", "/nowhere/b"); }, "'/nowhere/a' to '/nowhere/b': No such file or directory"},
      {[] { throw fs::filesystem_error("cannot", std::make_error_code(std::errc::no_space_on_device)); },
       "No space left on device"},
      {[] { throw std::system_error(EMFILE, std::generic_category(), "pipe"); }, "Too many open files"},
      {[] { (void)std::vector<int>{}.at(3); }, unexpected + "std::out_of_range)"},
      {[] { (void)std::stoi("x"); }, unexpected + "std::invalid_argument)"},
      {[] { (void)std::optional<int>{}.value(); }, unexpected + "std::bad_optional_access)"},
      {[] { (void)std::get<1>(std::variant<int, float>{}); }, unexpected + "std::bad_variant_access)"},
      {[] { (void)std::any_cast<int>(std::any{1.0}); }, unexpected + "std::bad_any_cast)"},
      {[] { throw std::overflow_error("x"); }, unexpected + "std::overflow_error)"},
      {[] { std::regex{"("}; }, unexpected + "std::"},
      {[] { throw std::length_error("vector::_M_default_append"); }, unexpected + "std::length_error)"},
      {[] { (void)std::future<int>{}.get(); }, unexpected + "std::future_error)"}};
  for (const auto& [fail, text] : of_libraries) {
    bool of_library = false;
    const std::string said = text_of(fail, of_library);
    EXPECT_EQ(said.substr(0, text.size()), text);
    EXPECT_TRUE(of_library) << said;
    for (const char* raw : {"filesystem error", "vector::", "stoi", "bad optional access", "[json"}) {
      EXPECT_EQ(said.find(raw), std::string::npos) << said;
    }
  }
}

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
