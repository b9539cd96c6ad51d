#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/features/film/film_output.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"

namespace orrery {
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

}  // namespace orrery
