// Films and camera paths of runs without a window.
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "app/features/film/film_window.h"
#include "app/ui_state/camera_commands.h"
#include "app/ui_state/camera_path.h"
#include "app/ui_state/film_commands.h"
#include "app/ui_state/overlays_commands.h"
#include "app/ui_state/window_commands.h"
#include "render/gl/gl.h"
#include "render/gl/gl_objects.h"
#include "tests/app/window/offscreen_viewer.h"
#include "tests/compute/support/failure.h"
#include "tests/render/picture.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using test::expect_failure;
using test::Failure;

class ViewerFilm : public test::OffscreenViewer {
 protected:
  ViewerFilm() { std::signal(SIGPIPE, SIG_IGN); }  // as the program does

  ViewOptions film(const std::string& out, std::int64_t frames) const {
    ViewOptions o = options(frames);
    o.film = FilmOptions{.out = path(out), .folder = !out.ends_with(".mp4")};
    return o;
  }

  std::map<std::string, std::string> files(const std::string& folder) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator{path(folder)}) {
      files[entry.path().filename()] = read(entry.path());
    }
    return files;
  }

  static bool installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
  }

  static std::string output_of(const std::string& command) {
    std::string text;
    std::array<char, 256> part{};
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), pclose};
    while (std::fgets(part.data(), static_cast<int>(part.size()), pipe.get())) text += part.data();
    return text;
  }
};

/// Restricts the search for programs to `folder` while it lives.
class SearchPath {
 public:
  explicit SearchPath(const std::string& folder) { setenv("PATH", folder.c_str(), 1); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  ~SearchPath() { setenv("PATH", before_.c_str(), 1); }

 private:
  const std::string before_ = std::getenv("PATH");
};

TEST_F(ViewerFilm, AFolderHasEveryFrameAndTheLastIsTheScreenshot) {
  ViewOptions o = film("frames", 5);
  o.screenshot_file = path("last.png");
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  const auto made = files("frames");
  ASSERT_EQ(made.size(), 6u);
  EXPECT_TRUE(made.contains("film.json"));
  EXPECT_EQ(render::test::read_png(path("frames/frame-000004.png")).rgb, render::test::read_png(path("last.png")).rgb);
  EXPECT_NE(made.at("frame-000000.png"), made.at("frame-000004.png"));
}

TEST_F(ViewerFilm, AnInterruptedFolderIsContinuedWithTheSameBytes) {
  ASSERT_EQ(run_view(test::catalog(), film("whole", 9)), 0);
  ASSERT_EQ(run_view(test::catalog(), film("parts", 4)), 0);
  const auto first = files("parts");
  ASSERT_EQ(first.size(), 5u);
  fs::remove(path("parts/frame-000001.png"));
  const auto before = fs::last_write_time(path("parts/frame-000002.png"));
  std::ofstream{path("parts/frame-000003.png")} << "";  // an empty file is no frame
  ASSERT_EQ(run_view(test::catalog(), film("parts", 9)), 0);
  EXPECT_EQ(files("parts"), files("whole"));
  EXPECT_EQ(fs::last_write_time(path("parts/frame-000002.png")), before) << "it was kept";
  ASSERT_EQ(run_view(test::catalog(), film("parts", 9)), 0);
  EXPECT_EQ(files("parts"), files("whole")) << "nothing is left to do";
}

TEST_F(ViewerFilm, FramesThatDependOnEarlierOnesAreContinuedWithTheSameBytes) {
  const auto with_memory = [this](const std::string& out, std::int64_t frames) {
    ViewOptions o = film(out, frames);
    o.scene.scene = "cold-collapse";  // which becomes brighter and faster
    render::Appearance exposed;
    exposed.auto_exposure = true;
    o.script = {{.frame = 0, .request = Command{SetStepsPerFrame{40}}, .line = 1},
                {.frame = 0, .request = ViewCommand{SetAppearance{exposed}}, .line = 2},
                {.frame = 2, .request = ViewCommand{ShowTrails{.of = TrailsOf::sample}}, .line = 3},
                {.frame = 6, .request = Command{SetPaused{true}}, .line = 4}};
    return o;
  };
  ASSERT_EQ(run_view(test::catalog(), with_memory("whole", 9)), 0);
  ASSERT_EQ(run_view(test::catalog(), with_memory("parts", 5)), 0);
  ASSERT_EQ(run_view(test::catalog(), with_memory("parts", 9)), 0);
  EXPECT_EQ(files("parts"), files("whole"));
}

TEST_F(ViewerFilm, FramesOfAnotherFilmAreNotContinued) {
  ASSERT_EQ(run_view(test::catalog(), film("frames", 3)), 0);
  const auto before = files("frames");
  ViewOptions other = film("frames", 3);
  other.scene.count = 400;
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), other); }, "frames", "n was 500, and is 400", "--force");
  EXPECT_EQ(files("frames"), before);
  other.existing = Existing::replace;
  other.frames = 2;
  ASSERT_EQ(run_view(test::catalog(), other), 0);
  EXPECT_EQ(files("frames").size(), 3u) << "no frame of the old film is left";
  fs::remove(path("frames/film.json"));
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), film("frames", 3)); }, "no film.json");
}

TEST_F(ViewerFilm, AFolderThatCannotBeUsedIsNamed) {
  std::ofstream{path("file")} << "text";
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), film("file", 2)); }, "file", "it is a file");
  ViewOptions o = film("x", 2);
  o.film->out = "/proc/frames";
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), o); }, "/proc/frames");
  fs::create_directories(path("frames/frame-000001.png"));
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), film("frames", 3)); }, "frame-000001.png", "it is a folder");
}

TEST_F(ViewerFilm, AFilmHasItsFramesAndItsDuration) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  ViewOptions o = film("a.mp4", 24);
  o.film->fps = 12;
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  const std::string probed = output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries "
      "stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames:format=duration -of default=nw=1 " +
      path("a.mp4"));
  for (const char* line : {"codec_name=h264", "width=160", "height=96", "pix_fmt=yuv420p", "r_frame_rate=12/1",
                           "duration=2.000000", "nb_read_frames=24"}) {
    EXPECT_NE(probed.find(line), std::string::npos) << line << " is not in:\n" << probed;
  }
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_EQ(read(path("a.mp4")), read(path("a-1.mp4"))) << "the same in every run; the first one is kept";
}

TEST_F(ViewerFilm, AFilmOfTheWindowHasEverySecondOf60FramesPerSecond) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  ViewOptions o = options(14);
  o.size = {161, 97};  // H.264 needs even lengths
  o.script = {{.frame = 2, .request = StartFilm{path("w.mp4")}, .line = 1},
              {.frame = 12, .request = StopFilm{}, .line = 2}};
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  const std::string probed = output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries stream=width,height,nb_read_frames -of "
      "default=nw=1 " +
      path("w.mp4"));
  for (const char* line : {"width=162", "height=98", "nb_read_frames=5"}) {
    EXPECT_NE(probed.find(line), std::string::npos) << line << " is not in:\n" << probed;
  }
  o.script.pop_back();
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  EXPECT_TRUE(fs::exists(path("w-1.mp4"))) << "the end of the run completes it";
  o.script.front().request = StartFilm{path("nowhere/w.mp4")};
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), o); }, "nowhere/w.mp4");
}

/// Five pictures per second, each brighter, but for one that stays a second.
TEST_F(ViewerFilm, AFilmOfASlowWindowPlaysAtTheWindowsPace) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  constexpr WindowSize size{64, 48};
  const render::OffscreenContext context;
  const render::RenderTarget target{GL_RGBA8, size.width, size.height};
  LiveFilm slow{FilmOptions{.out = path("slow.mp4")}, size, Existing::keep, Json::object()};
  float light = 0;
  for (const double at_s : {7.0, 7.2, 7.4, 7.6, 8.6, 8.8}) {
    const std::array colour{light += 0.15f, light, light, 1.0f};
    glClearNamedFramebufferfv(target.framebuffer(), GL_COLOR, 0, colour.data());
    ASSERT_TRUE(slow.add({target.framebuffer(), size.width, size.height, target.texture()}, at_s));
    std::this_thread::sleep_for(std::chrono::milliseconds{50});  // else ffmpeg might have no time for all of them
  }
  EXPECT_NE(slow.finish(9).find("60 frames, 2 s at 30 frames/s"), std::string::npos);
  const std::string probed = output_of(
      "ffprobe -v error -count_frames -select_streams v:0 -show_entries stream=nb_read_frames:format=duration -of "
      "default=nw=1 " +
      path("slow.mp4"));
  for (const char* line : {"duration=2.000000", "nb_read_frames=60"}) {
    EXPECT_NE(probed.find(line), std::string::npos) << line << " is not in:\n" << probed;
  }
  const std::string luma =
      output_of("ffmpeg -v error -i " + path("slow.mp4") + " -vf format=gray -f rawvideo -pix_fmt gray -");
  constexpr std::size_t pixels = size.width * size.height;
  ASSERT_EQ(luma.size(), 60 * pixels);
  std::vector<int> changes;
  for (int frame = 1; frame < 60; ++frame) {
    const auto middle = [&](int of) {
      return static_cast<unsigned char>(luma[static_cast<std::size_t>(of) * pixels + pixels / 2]);
    };
    if (middle(frame) > middle(frame - 1) + 15) changes.push_back(frame);
  }
  EXPECT_EQ(changes, (std::vector{6, 12, 18, 48, 54}));
}

TEST_F(ViewerFilm, AFilmOfAFastWindowKeepsThePaceIfPicturesAreLeftOut) {
  if (!installed("ffmpeg") || !installed("ffprobe")) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  constexpr WindowSize size{1280, 720};
  const render::OffscreenContext context;
  const render::RenderTarget target{GL_RGBA8, size.width, size.height};
  LiveFilm fast{FilmOptions{.out = path("fast.mp4")}, size, Existing::keep, Json::object()};
  for (int frame = 0; frame < 60; ++frame) {
    ASSERT_TRUE(fast.add({target.framebuffer(), size.width, size.height, target.texture()}, frame / 60.0));
  }
  EXPECT_NE(fast.finish(1).find("30 frames, 1 s at 30 frames/s"), std::string::npos);
}

TEST_F(ViewerFilm, AFilmShowsTheFramesTheRightWayUp) {
  if (!installed("ffmpeg")) GTEST_SKIP() << "ffmpeg is not installed";
  ViewOptions o = film("a.mp4", 1), pictures = film("frames", 1);
  o.scene = pictures.scene = {.scene = "two-body"};
  o.path = pictures.path = parse_camera_path("0 0 0 6 0 0 -1\n", "above");  // both bodies are in the upper half
  ASSERT_EQ(run_view(test::catalog(), o), 0);
  ASSERT_EQ(run_view(test::catalog(), pictures), 0);
  const std::string luma = " -vf format=gray -f rawvideo -pix_fmt gray -";
  const std::string from_film = output_of("ffmpeg -v error -i " + path("a.mp4") + luma);
  const std::string from_picture = output_of("ffmpeg -v error -i " + path("frames/frame-000000.png") + luma);
  ASSERT_EQ(from_film.size(), 160u * 96u);
  ASSERT_EQ(from_picture.size(), from_film.size());
  double difference = 0, brightness = 0;
  for (std::size_t i = 0; i < from_film.size(); ++i) {
    const auto value = [&](const std::string& text) {
      return static_cast<double>(static_cast<unsigned char>(text[i]));
    };
    difference += std::abs(value(from_film) - value(from_picture));
    brightness += value(from_picture);
  }
  EXPECT_GT(brightness, 0);
  EXPECT_LT(difference / static_cast<double>(from_film.size()), 3) << "of 255 levels";
}

TEST_F(ViewerFilm, WithoutFfmpegOneLineNamesThePackageAndTheFolder) {
  const SearchPath none{path("")};
  expect_failure(
      Failure::runtime, [&] { run_view(test::catalog(), film("a.mp4", 2)); }, "a.mp4",
      "ffmpeg is not installed (Debian: ffmpeg)", "--out FOLDER");
  EXPECT_FALSE(fs::exists(path("a.mp4")));
}

TEST_F(ViewerFilm, AnFfmpegThatDiesIsReportedWithItsLastLine) {
  const std::string fake = path("ffmpeg");
  std::ofstream{fake} << "#!/bin/sh\n/usr/bin/head -c 100000 >/dev/null\necho first >&2\n"
                         "echo 'Unknown encoder' >&2\necho >&2\nexit 7\n";
  chmod(fake.c_str(), 0755);
  ViewOptions o = film("a.mp4", 50);
  o.record_file = path("run.csv");
  {
    const SearchPath fakes{path("")};
    expect_failure(
        Failure::runtime, [&] { run_view(test::catalog(), o); }, "a.mp4",
        "ffmpeg ended with status 7: Unknown encoder");
  }
  EXPECT_FALSE(fs::exists(path("a.mp4")));
  EXPECT_TRUE(fs::exists(path("run.csv"))) << "what was recorded until then is kept";
}

TEST_F(ViewerFilm, AFailedRunKeepsTheFramesBeforeIt) {
  ViewOptions o = film("frames", 9);
  o.script_file = "tour.txt";
  std::ofstream{path("tour.txt")} << "3 record /nonexistent/a.csv\n";
  o.script_file = path("tour.txt");
  o.script = {{.frame = 3, .request = ViewCommand{StartRecording{"/nonexistent/a.csv"}}, .line = 1}};
  EXPECT_THROW(run_view(test::catalog(), o), std::runtime_error);
  EXPECT_TRUE(fs::exists(path("frames/frame-000000.png")));
  EXPECT_FALSE(fs::exists(path("frames/frame-000003.png")));
}

TEST_F(ViewerFilm, APathMovesTheCameraAlikeFromAnOptionAndAScript) {
  std::ofstream{path("orbit.txt")} << "0 0 10 8 0 0 0\n0.1 90 40 3 0 0 0\n";
  ViewOptions by_option = film("option", 4), still = film("still", 4), by_script = film("script", 4);
  by_option.path = read_camera_path(path("orbit.txt"));
  by_script.script_file = path("tour.txt");
  std::ofstream{path("tour.txt")} << "0 play-path orbit.txt\n";
  by_script.script = {{.frame = 0, .request = ViewCommand{PlayPath{path("orbit.txt")}}, .line = 1}};
  for (const ViewOptions& o : {by_option, still, by_script}) ASSERT_EQ(run_view(test::catalog(), o), 0);
  const auto pictures = [this](const std::string& folder) {  // the files name their films, which differ
    std::vector<std::vector<std::uint8_t>> found;
    for (int frame = 0; frame < 4; ++frame) {
      found.push_back(render::test::read_png(path(folder + "/frame-00000" + std::to_string(frame) + ".png")).rgb);
    }
    return found;
  };
  EXPECT_EQ(pictures("option"), pictures("script"));
  EXPECT_NE(pictures("option"), pictures("still"));
}

TEST_F(ViewerFilm, APathThatAScriptMadePlaysAsTheSavedFileDoes) {
  ViewOptions made = options(6);
  made.script_file = "tour.txt";
  made.script = {{.frame = 1, .request = ViewCommand{AddKeyFrame{}}, .line = 1},
                 {.frame = 2, .request = ViewCommand{OrbitView{0.2f, 0.1f}}, .line = 2},
                 {.frame = 2, .request = ViewCommand{ZoomView{5}}, .line = 3},
                 {.frame = 3, .request = ViewCommand{AddKeyFrame{0.05}}, .line = 4},
                 {.frame = 4, .request = ViewCommand{SavePath{path("orbit.txt")}}, .line = 5}};
  ASSERT_EQ(run_view(test::catalog(), made), 0);
  const CameraPath saved = read_camera_path(path("orbit.txt"));
  ASSERT_EQ(saved.key_frames().size(), 2u);
  EXPECT_EQ(saved.end_s(), 0.05);
  EXPECT_LT(saved.at(1).distance, saved.at(0).distance);

  ViewOptions nothing = options(2);
  nothing.script_file = "tour.txt";
  for (const ViewCommand& request : {ViewCommand{PlayPath{}}, ViewCommand{SavePath{}}}) {
    nothing.script = {{.frame = 0, .request = request, .line = 3}};
    expect_failure(
        Failure::usage, [&] { run_view(test::catalog(), nothing); }, "tour.txt:3: ", "no camera path", "press F2");
  }
}

}  // namespace
}  // namespace orrery
