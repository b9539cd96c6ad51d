#include "compute/core/stop_signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace orrery {
namespace {

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

}  // namespace
}  // namespace orrery
