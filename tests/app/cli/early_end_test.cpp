// One line, whatever ends the program early.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "app/process/this_program.h"

namespace orrery {
namespace {

TEST(EarlyEnd, OfALibraryThatExitsHasALine) {
  EXPECT_EXIT((report_early_end(), std::exit(1)), testing::ExitedWithCode(1),
              "^orrery: a library has ended the program");
  EXPECT_EXIT((report_early_end(), end_as_planned(), std::exit(3)), testing::ExitedWithCode(3), "^$");
}

#ifndef ORRERY_SANITIZED
TEST(EarlyEnd, OfACrashHasALine) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS}) {
    EXPECT_EXIT((report_early_end(), std::raise(signal)), testing::KilledBySignal(signal),
                "^orrery: the program crashed");
  }
}

TEST(EarlyEnd, OfAnExceptionInAThreadHasItsCauseInOwnWords) {
  const auto throws = [](auto failure) { std::thread{[failure] { throw failure; }}.join(); };
  EXPECT_EXIT((report_early_end(), throws(std::system_error(EMFILE, std::generic_category(), "raw"))),
              testing::KilledBySignal(SIGABRT), "^orrery: the program must end: Too many open files\n$");
  EXPECT_EXIT((report_early_end(), throws(std::runtime_error("'a': no such file"))), testing::KilledBySignal(SIGABRT),
              "^orrery: the program must end: 'a': no such file\n$");
}
#endif

}  // namespace
}  // namespace orrery
