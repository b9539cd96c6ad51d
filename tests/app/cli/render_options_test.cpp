// The options of `orrery render`.
#include <fstream>

#include "app/cli/verb.h"
#include "app/cli/view_verb.h"
#include "compute/core/temporary_folder.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/failure.h"

namespace orrery {
namespace {

using test::expect_failure;
using test::Failure;
using Words = std::vector<std::string>;

ViewOptions rendered(Words words) {
  words.insert(words.begin(), "render");
  return dynamic_cast<const ShownVerb&>(*parse_options(test::catalog(), words)).options;
}

template <class... Parts>
void refused(const Words& words, const Parts&... parts) {
  expect_failure(
      Failure::usage, [&] { (void)rendered(words); }, parts...);
}

TEST(RenderOptions, AreThoseOfAnOffscreenViewWithAFilm) {
  const ViewOptions film = rendered({"--out", "a.mp4"});
  ASSERT_TRUE(film.film.has_value());
  EXPECT_FALSE(film.film->folder);
  EXPECT_EQ(film.film->fps, 30);
  EXPECT_TRUE(film.offscreen);
  EXPECT_FALSE(film.panel || film.vsync);
  EXPECT_EQ(film.frames, 300);
  const ViewOptions frames = rendered({"--out", "frames", "--fps", "23.976", "--frames", "7", "-n", "4k", "--panel",
                                       "on", "--size", "7680x4320", "--scene", "plummer"});
  EXPECT_TRUE(frames.film->folder && frames.panel);
  EXPECT_EQ(frames.film->fps, 23.976);
  EXPECT_EQ(frames.frames, 7);
  EXPECT_EQ(frames.scene.count, 4096);
  EXPECT_EQ(frames.size, (WindowSize{7680, 4320}));
}

TEST(RenderOptions, AFolderHasNoExtensionOrIsThere) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "take.2");
  for (const std::string& out : {(folder / "take.2").string(), std::string{"new/"}, std::string{"v1.0/"}}) {
    EXPECT_TRUE(rendered({"--out", out}).film->folder) << out;
  }
  for (const char* out : {"a.avi", "a.png", "a.MP4.part", "take.3"}) refused({"--out", out}, "--out", out, ".mp4");
}

TEST(RenderOptions, WithoutFramesAFilmIsAsLongAsItsPathOrScript) {
  const TemporaryFolder folder;
  const std::string path = (folder / "orbit.txt").string(), script = (folder / "tour.txt").string();
  std::ofstream{path} << "0 0 0 5 0 0 0\n2.5 90 0 5 0 0 0\n";
  std::ofstream{script} << "0 pause\n12 quit\n";
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", path}).frames, 76) << "the last frame is at the last key frame";
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", path, "--fps", "60"}).frames, 151);
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", path, "--frames", "9"}).frames, 9);
  EXPECT_EQ(rendered({"--out", "a.mp4", "--script", script}).frames, 13);
  std::ofstream{path} << "0 0 0 5 0 0 0\n";
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", path}).frames, 300);
  EXPECT_EQ(rendered({"--out", "a.mp4", "--path", path}).path->key_frames().size(), 1u);
}

TEST(RenderOptions, RefuseWhatMakesNoFilm) {
  refused({}, "--out");
  refused({"--out", ""}, "--out");
  refused({"--out", "a.mp4", "--out", "b.mp4"}, "--out is given 2 times");
  for (const char* frames : {"0", "-1", "many", "1e3", "10000001", "99999999999999"}) {
    refused({"--out", "a", "--frames", frames}, "--frames", frames, "from 1 to 10000000 frames");
  }
  EXPECT_EQ(rendered({"--out", "a", "--frames", "10000000"}).frames, 10'000'000);
  for (const char* fps : {"0", "-30", "nan", "inf", "1001", "fast"}) {
    refused({"--out", "a", "--fps", fps}, "--fps", fps, "from 0.1 to 1000 frames per second");
  }
  for (const char* size : {"0x0", "1280", "99999x100", "1280x-720"}) refused({"--out", "a", "--size", size}, "--size");
  refused({"--out", "a.mp4", "--size", "1281x720"}, "--size", "even");
  EXPECT_EQ(rendered({"--out", "a", "--size", "1281x721"}).size.value().width, 1281) << "a PNG may be odd";
  refused({"--out", "a", "--vsync", "on"}, "--vsync", "'orrery view'");
  refused({"--out", "a", "--screenshot", "b.png"}, "--screenshot");
}

TEST(RenderOptions, RefuseAFilmThatAPathOrAScriptMakesTooLong) {
  const TemporaryFolder folder;
  const std::string path = (folder / "orbit.txt").string(), script = (folder / "script.txt").string();
  std::ofstream{path} << "0 0 0 5 0 0 0\n400000 0 0 5 0 0 0\n";
  refused({"--out", "a", "--path", path}, "orbit.txt' ends after 1.2e+07 frames", "at most 10,000,000");
  std::ofstream{script} << "99999999999 quit\n";
  refused({"--out", "a", "--script", script}, "script.txt' ends after 1e+11 frames", "at most 10,000,000");
}

TEST(RenderOptions, RefuseABrokenPathByItsLine) {
  const TemporaryFolder folder;
  const std::string path = (folder / "orbit.txt").string();
  std::ofstream{path} << "0 0 0 5 0 0 0\n1 0 0 -5 0 0 0\n";
  refused({"--out", "a", "--path", path}, "orbit.txt:2: ", "DISTANCE");
  expect_failure(
      Failure::runtime,
      [&] {
        (void)rendered({"--out", "a", "--path", (folder / "none.txt").string()});
      },
      "none.txt");
}

}  // namespace
}  // namespace orrery
