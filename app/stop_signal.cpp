#include "app/stop_signal.h"

#include <csignal>

namespace orrery {
namespace {

volatile std::sig_atomic_t stopped = 0;

void note(int signal) {
  stopped = 1;
  // A second Ctrl+C is a person who will not wait. A second SIGTERM comes at once from timeout, which tells the process
  // and then its group.
  if (signal == SIGINT) std::signal(signal, SIG_DFL);
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
