#include "app/stop_signal.h"

#include <csignal>

namespace orrery {
namespace {

volatile std::sig_atomic_t stopped = 0;

void note(int signal) {
  stopped = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_stop_signals() {
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

bool stop_requested() {
  return stopped != 0;
}

}  // namespace orrery
