#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/text/csv.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"

namespace orrery {

/// One frame of a film: 4 bytes per pixel, red first, bottom row first as OpenGL reads it. The fourth byte has no
/// meaning.
struct FilmFrame {
  std::int64_t number = 0;  ///< from 0
  std::int64_t times = 1;   ///< that a film file shows it, one after the other; >= 1
  std::vector<std::uint8_t> rgba;
};

/// Where the frames of a film go. Every failure throws std::runtime_error with one line that names the output.
class FilmOutput {
 public:
  virtual ~FilmOutput() = default;

  /// Call once, before the first frame. `run` is an object with everything that the frames depend on.
  virtual void begin(const Json& run) = 0;
  /// Frames that an earlier run has made, which are not to be added.
  const std::set<std::int64_t>& kept() const { return kept_; }
  /// How many threads may call add() at once. If it is 1, frames come in order.
  virtual int threads() const = 0;
  virtual void add(const FilmFrame& frame) = 0;
  /// Completes the output after the last frame. Call once, if there was a frame. Returns its name.
  virtual std::string finish() = 0;

 protected:
  std::set<std::int64_t> kept_;
};

/// The size of a frame in the video: even, as H.264 with 4:2:0 needs it.
constexpr int even_size(int size) {
  return size + size % 2;
}

/// Writes a frame as video players expect it: planar YCbCr 4:2:0 of HD video (ITU-R BT.709, limited range), top row
/// first. A width or height that is odd grows by a copy of the last column or row.
/// `rgba`: 4 bytes for each of width x height pixels, bottom row first, as FilmFrame holds them. `video` is given the
/// size that it needs: 3/2 bytes per pixel of the even size.
void write_video_frame(std::span<const std::uint8_t> rgba, int width, int height, std::vector<std::uint8_t>& video);

/// The program ffmpeg, which encodes raw frames as H.264 in an MP4 file. Ctrl+C on the terminal does not reach it. If
/// this process is killed, it ends by itself. If it hangs after a request to stop, it is ended.
class Encoder {
 public:
  /// Starts ffmpeg. `file` is open for writing and empty; ffmpeg opens it once more. `name` is that of the film, for
  /// messages. After a request to stop, ffmpeg is ended if it has used no processor for `patience`. Throws
  /// std::runtime_error, one line, if ffmpeg cannot be started.
  Encoder(int width, int height, double fps, int file, std::string name,
          std::chrono::milliseconds patience = std::chrono::seconds{3});
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  /// Kills ffmpeg if finish() was not called.
  ~Encoder();

  /// Hands over a frame as FilmFrame holds it, `times` times. Waits while ffmpeg is busy. Throws std::runtime_error
  /// with ffmpeg's last line if it has ended.
  void write(std::span<const std::uint8_t> rgba, std::int64_t times);
  /// Waits until ffmpeg has written the file. Throws as write(), and if there is no film in the file.
  void finish();

 private:
  void send_frame();
  void start(double fps, int file, const Descriptor& input, const Descriptor& errors);
  [[noreturn]] void fail(const std::string& cause) const;
  void watch();
  int wait_for_end();
  void check_end();

  const int width_, height_, file_;
  const std::string name_;
  const std::chrono::milliseconds patience_;
  std::vector<std::uint8_t> video_;  // the frame as it goes to ffmpeg
  pid_t process_ = -1;               // and its group; -1: it has ended
  bool given_up_ = false;            // it was killed
  std::int64_t used_ = 0;            // its time of the processors at last_sign_, in nanoseconds
  std::optional<std::chrono::steady_clock::time_point> last_sign_{};  // of life; empty: never looked
  Descriptor frames_;                                                 // the writing end of ffmpeg's standard input
  std::string last_line_;  // of its standard error; belongs to reader_ until that is joined
  std::jthread reader_;
};

/// An MP4 file. It appears whole, at the end.
class FilmFile final : public FilmOutput {
 public:
  FilmFile(const FilmOptions& options, WindowSize size, Existing existing);

  void begin(const Json&) override {}
  int threads() const override { return 1; }
  void add(const FilmFrame& frame) override { encoder_.write(frame.rgba, frame.times); }
  std::string finish() override;

 private:
  AtomicFile file_;
  Encoder encoder_;
};

/// A folder of PNG frames, frame-000000.png and so on. Each appears whole, so a run that was stopped can be continued:
/// whole frames of the same film are kept. The file film.json in the folder describes the film, and each frame names
/// it. Symbolic links in the folder are not followed.
class FrameFolder final : public FilmOutput {
 public:
  /// Makes the folder if it is missing. With Existing::replace, begin() removes its frames.
  FrameFolder(const FilmOptions& options, WindowSize size, Existing existing);

  /// Refuses a folder with frames of another film.
  void begin(const Json& run) override;
  int threads() const override;
  void add(const FilmFrame& frame) override;
  std::string finish() override { return folder_.string(); }

 private:
  std::filesystem::path file_of(std::int64_t frame) const;
  void find_frames();
  void drop_damaged();
  /// Description that a frame carries in its PNG file.
  std::string words_of(std::int64_t frame) const;
  void check_same(const Json& run) const;

  const std::filesystem::path folder_;
  const WindowSize size_;
  const Existing existing_;
  std::string film_;  // the fingerprint of its description, from begin() on
};

}  // namespace orrery
