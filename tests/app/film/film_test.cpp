// Programs in ffmpeg's place: what they leave, and that none of them holds this program up.
#include "app/features/film/film.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <mutex>
#include <random>

#include "compute/core/process.h"
#include "tests/app/support/fake_program.h"
#include "tests/app/support/test.h"

namespace orrery::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int side = 64;

struct FakeFfmpeg : testing::Test {
  FakeFfmpeg() {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    std::signal(SIGXFSZ, SIG_IGN);
  }

  void become(const std::string& script) const { ffmpeg.does(script); }
  FilmOptions options() const { return {.out = (folder / "a.mp4").string()}; }
  FilmFrame frame(std::int64_t times) const {
    return {.times = times, .rgba = std::vector<std::uint8_t>(4 * side * side)};
  }

  const FakeProgram ffmpeg{"ffmpeg"};
  const TemporaryFolder folder;
};

TEST_F(FakeFfmpeg, ThatWritesNoFilmDoesNotReplaceTheOldOne) {
  for (const char* script : {"cat >/dev/null", "cat >/dev/null; echo no film >/proc/self/fd/3", "exit 0"}) {
    become(script);
    std::ofstream{options().out} << "the old film";
    expect_runtime_error({"a.mp4", "ffmpeg"}, [&] {
      FilmFile film{options(), {side, side}, Existing::replace};
      film.add(frame(1));
      (void)film.finish();
    });
    EXPECT_EQ(contents(options().out), "the old film") << script;
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
  become("echo $$ >'" + (folder / "number").string() + "'; sleep 1000 & sleep 1000");
  const auto begin = std::chrono::steady_clock::now();
  const auto write = [&](Encoder& encoder) { encoder.write(frame(1).rgba, 10'000); };
  EXPECT_EXIT(stop_and_use(options(), write), testing::ExitedWithCode(7), "a.mp4.*ffmpeg hangs");
  EXPECT_EXIT(stop_and_use(options(), &Encoder::finish), testing::ExitedWithCode(7), "a.mp4.*ffmpeg hangs");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_NE(kill(std::stoi(contents(folder / "number")), 0), 0) << "it is gone";
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

namespace fs = std::filesystem;

struct FrameFolderTest : testing::Test {
  static constexpr WindowSize size{4, 2};

  FrameFolder folder(WindowSize of = size) const {
    return FrameFolder{{.out = (folder_ / "frames").string(), .folder = true}, of, Existing::keep};
  }
  /// Renders the frames that are missing of three, and returns how many were kept.
  std::size_t render(const Json& run = {{"scene", "a"}}) const {
    FrameFolder frames = folder();
    frames.begin(run);
    const std::size_t kept = frames.kept().size();
    for (std::int64_t number = 0; number < 3; ++number) {
      if (!frames.kept().contains(number)) frames.add({.number = number, .rgba = std::vector<std::uint8_t>(32, 7)});
    }
    return kept;
  }
  fs::path file(const char* name) const { return folder_ / "frames" / name; }

  TemporaryFolder folder_;
};

TEST_F(FrameFolderTest, KeepsOnlyWholeFramesOfItsFilm) {
  EXPECT_EQ(render(), 0u);
  EXPECT_EQ(render(), 3u);
  std::ofstream{file("frame-000001.png")} << "garbage";
  EXPECT_EQ(render(), 2u);
  EXPECT_EQ(render(), 3u) << "it was rendered again";
  fs::resize_file(file("frame-000002.png"), fs::file_size(file("frame-000002.png")) - 5);
  EXPECT_EQ(render(), 2u) << "torn";
  std::fstream{file("frame-000000.png")}.seekp(60).write("?", 1);
  EXPECT_EQ(render(), 2u) << "a damaged byte";
  fs::copy_file(file("frame-000000.png"), file("frame-000001.png"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(render(), 2u) << "another frame";
}

TEST_F(FrameFolderTest, RefusesFramesOfOtherBodies) {
  EXPECT_EQ(render({{"scene", "in.tipsy"}, {"bodies", "0011"}}), 0u);
  expect_runtime_error({"bodies was \"0011\"", "--force"}, [&] {
    (void)render({{"scene", "in.tipsy"}, {"bodies", "0022"}});
  });
}

TEST_F(FrameFolderTest, FollowsNoLinks) {
  fs::create_directories(folder_ / "frames");
  std::ofstream{folder_ / "precious"} << "precious";
  for (const char* name : {"film.json", "frame-000001.png"}) fs::create_symlink(folder_ / "precious", file(name));
  EXPECT_EQ(render(), 0u);
  EXPECT_FALSE(fs::is_symlink(file("film.json")) || fs::is_symlink(file("frame-000001.png")));
  EXPECT_EQ(fs::file_size(folder_ / "precious"), 8u);
}

TEST(FrameWorkers, OneThreadKeepsTheOrder) {
  std::vector<std::int64_t> seen;
  FrameWorkers workers{1, 16, [&](const FilmFrame& frame) { seen.push_back(frame.number); }};
  for (std::int64_t i = 0; i < 50; ++i) {
    FilmFrame frame = workers.take_free();
    EXPECT_EQ(frame.rgba.size(), 16u);
    frame.number = i;
    workers.add(std::move(frame));
  }
  workers.finish();
  ASSERT_EQ(seen.size(), 50u);
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(FrameWorkers, SeveralThreadsWorkOnEveryFrameOnce) {
  std::mutex mutex;
  std::vector<int> times(100);
  FrameWorkers workers{3, 4, [&](const FilmFrame& frame) {
                         const std::lock_guard lock{mutex};
                         ++times[static_cast<std::size_t>(frame.number)];
                       }};
  for (std::int64_t i = 0; i < 100; ++i) {
    FilmFrame frame = workers.take_free();
    frame.number = i;
    workers.add(std::move(frame));
  }
  workers.finish();
  EXPECT_EQ(times, std::vector<int>(100, 1));
}

TEST(FrameWorkers, AFailureReachesWhoeverAddsFramesAndNothingHangs) {
  std::atomic<int> tried = 0;
  FrameWorkers workers{1, 4, [&](const FilmFrame&) {
                         ++tried;
                         throw std::runtime_error("the disk is full");
                       }};
  const auto add_all = [&] {
    for (int i = 0; i < 100; ++i) workers.add(workers.take_free());
  };
  EXPECT_THROW(add_all(), std::runtime_error);
  EXPECT_THROW(workers.finish(), std::runtime_error);
  EXPECT_EQ(tried, 1);
}

using Bytes = std::vector<std::uint8_t>;
using Colour = std::array<double, 3>;

/// ITU-R BT.709 in limited range, in the standard's own terms: Y, Cb and Cr of a colour with parts from 0 to 255.
Colour video_of(const Colour& rgb) {
  const double y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  return {16 + 219 * y / 255, 128 + 224 * (rgb[2] - y) / 1.8556 / 255, 128 + 224 * (rgb[0] - y) / 1.5748 / 255};
}

/// A picture whose rows are given from the bottom.
struct Picture {
  int width, height;
  Bytes rgba = Bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);

  std::uint8_t* at(int x, int from_top) {
    x = std::clamp(x, 0, width - 1);
    from_top = std::min(from_top, height - 1);
    return rgba.data() + 4 * (static_cast<std::ptrdiff_t>(height - 1 - from_top) * width + x);
  }
};

Bytes converted(const Picture& picture) {
  Bytes video;
  write_video_frame(picture.rgba, picture.width, picture.height, video);
  return video;
}

void expect_near(std::uint8_t is, double wanted) {
  EXPECT_LE(std::abs(is - wanted), 0.52);
}

TEST(VideoFrame, IsTheStandardsFromTheTopRowOn) {
  std::mt19937 random{3};
  for (const auto& [width, height] : {std::pair{16, 8}, {1, 1}, {7, 5}, {6, 3}, {35, 2}}) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    Picture picture{width, height};
    for (std::uint8_t& byte : picture.rgba) byte = static_cast<std::uint8_t>(random() % 256);
    const Bytes video = converted(picture);
    const int columns = even_size(width), rows = even_size(height);
    ASSERT_EQ(video.size(), static_cast<std::size_t>(columns * rows * 3 / 2));
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        const std::uint8_t* p = picture.at(x, y);
        expect_near(video[static_cast<std::size_t>(y * columns + x)],
                    video_of({double(p[0]), double(p[1]), double(p[2])})[0]);
      }
    }
    for (int y = 0; y < rows; y += 2) {
      for (int x = 0; x < columns; x += 2) {
        Colour mean{};
        for (const int row : {y, y + 1}) {
          for (const auto& [column, weight] : {std::pair{x - 1, 0.125}, {x, 0.25}, {x + 1, 0.125}}) {
            for (std::size_t part = 0; part < 3; ++part) mean[part] += weight * picture.at(column, row)[part];
          }
        }
        const auto at = static_cast<std::size_t>(columns * rows + y / 2 * columns / 2 + x / 2);
        expect_near(video[at], video_of(mean)[1]);
        expect_near(video[at + static_cast<std::size_t>(columns * rows / 4)], video_of(mean)[2]);
      }
    }
  }
}

TEST(VideoFrame, HasTheWholeRangeAndGreyWithoutColour) {
  for (int grey = 0; grey < 256; ++grey) {
    Picture picture{2, 2};
    std::ranges::fill(picture.rgba, static_cast<std::uint8_t>(grey));
    const Bytes video = converted(picture);
    EXPECT_EQ(video[0], std::lround(16 + 219 * grey / 255.0)) << grey;
    EXPECT_EQ(video[4], 128) << grey;
    EXPECT_EQ(video[5], 128) << grey;
  }
  Picture blue{2, 2};
  for (std::size_t i = 2; i < blue.rgba.size(); i += 4) blue.rgba[i] = 255;
  EXPECT_EQ(converted(blue)[4], 240);
}

}  // namespace
}  // namespace orrery::test
