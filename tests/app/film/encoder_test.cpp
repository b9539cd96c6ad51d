// Programs in ffmpeg's place: what they leave, and that none of them holds this program up.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "app/features/film/film_files.h"
#include "compute/core/process.h"
#include "compute/core/temporary_folder.h"
#include "tests/app/support/text_file.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using test::expect_failure;
using test::Failure;

constexpr int side = 64;

class FakeFfmpeg : public testing::Test {
 protected:
  FakeFfmpeg() {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    std::signal(SIGXFSZ, SIG_IGN);
    setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  }
  ~FakeFfmpeg() override { setenv("PATH", path.c_str(), 1); }

  void become(const std::string& script) const {
    const fs::path file = folder.write("ffmpeg", "#!/bin/sh\n" + script + '\n');
    fs::permissions(file, fs::perms::owner_all);
  }
  FilmOptions options() const { return {.out = (folder / "a.mp4").string()}; }
  FilmFrame frame(std::int64_t times) const {
    return {.times = times, .rgba = std::vector<std::uint8_t>(4 * side * side)};
  }

  const std::string path = std::getenv("PATH");
  const TemporaryFolder folder;
};

TEST_F(FakeFfmpeg, ThatWritesNoFilmDoesNotReplaceTheOldOne) {
  for (const char* script : {"cat >/dev/null", "cat >/dev/null; echo no film >/proc/self/fd/3", "exit 0"}) {
    become(script);
    std::ofstream{options().out} << "the old film";
    expect_failure(
        Failure::runtime,
        [&] {
          FilmFile film{options(), {side, side}, Existing::replace};
          film.add(frame(1));
          (void)film.finish();
        },
        "a.mp4", "ffmpeg");
    EXPECT_EQ(test::contents(options().out), "the old film") << script;
  }
}

TEST_F(FakeFfmpeg, ThatWritesAFilmIsBelieved) {
  become("cat >/dev/null; printf '\\000\\000\\000\\040ftypisom' >/proc/self/fd/3");
  FilmFile film{options(), {side, side}, Existing::replace};
  film.add(frame(3));
  EXPECT_EQ(film.finish(), options().out);
}

/// In a process of its own: ends with status 7 after the message of what `action` throws.
[[noreturn]] void report(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    std::_Exit(7);
  }
  std::_Exit(0);
}

/// Uses an encoder after a request to stop.
[[noreturn]] void stop_and_use(const FilmOptions& options, const std::function<void(Encoder&)>& use) {
  watch_stop_signals();
  const int file = open(options.out.c_str(), O_WRONLY | O_CREAT, 0600);
  Encoder encoder{side, side, 30, file, options.out, 50ms};
  std::raise(SIGINT);
  report([&] { use(encoder); });
}

TEST_F(FakeFfmpeg, ThatHangsIsEndedByTheFirstRequestToStop) {
  become("echo $$ >\"$(dirname \"$0\")/number\"; sleep 1000 & sleep 1000");
  const auto begin = std::chrono::steady_clock::now();
  const auto write = [&](Encoder& encoder) { encoder.write(frame(1).rgba, 10'000); };
  EXPECT_EXIT(stop_and_use(options(), write), testing::ExitedWithCode(7), "a.mp4.*ffmpeg hangs");
  EXPECT_EXIT(stop_and_use(options(), &Encoder::finish), testing::ExitedWithCode(7), "a.mp4.*ffmpeg hangs");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_NE(kill(std::stoi(test::contents((folder / "number").string())), 0), 0) << "it is gone";
}

TEST_F(FakeFfmpeg, ThatHasNoRoomIsReportedWithTheCause) {
  become("head -c 100000 /dev/zero >/proc/self/fd/3; echo 'Error initializing output stream 0:0 --' >&2; exit 1");
  const auto film = [&] {
    const rlimit limit{4096, 4096};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    FilmFile film{options(), {side, side}, Existing::replace};
    (void)film.finish();
  };
  EXPECT_EXIT(report(film), testing::ExitedWithCode(7), "a.mp4.*File too large.*Error initializing output");
}

}  // namespace
}  // namespace orrery
