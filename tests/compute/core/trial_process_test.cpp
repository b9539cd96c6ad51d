#include "compute/core/trial_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

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

}  // namespace
}  // namespace orrery
