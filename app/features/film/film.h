#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/text/console.h"
#include "app/text/csv.h"
#include "app/ui_state/picture_options.h"
#include "compute/core/atomic_file.h"

namespace orrery {

/// One frame of a film: 4 bytes per pixel, red first, bottom row first as OpenGL reads it. The fourth byte is ignored.
struct FilmFrame {
  std::int64_t number = 0;  ///< number of the frame, from 0
  std::int64_t times = 1;   ///< number of consecutive frames of the film file that show it; >= 1
  std::vector<std::uint8_t> rgba;
};

/// Output of a film's frames: a file or a folder. All functions throw std::runtime_error, one line that names it.
class FilmOutput {
 public:
  virtual ~FilmOutput() = default;

  /// Prepares the output. Call once, before the first frame. `run` contains everything on which the frames depend.
  virtual void begin(const Json& run) = 0;
  /// Numbers of the frames that an earlier run has made, and that need not be rendered.
  const std::set<std::int64_t>& kept() const { return kept_; }
  /// Number of threads that may call add() simultaneously. If it is 1, frames must come in order.
  virtual int threads() const = 0;
  virtual void add(const FilmFrame& frame) = 0;
  /// Completes the output after the last frame, and returns its name. Call once, if there was a frame.
  virtual std::string finish() = 0;

 protected:
  std::set<std::int64_t> kept_;
};

/// Returns a video's width or height for that of a frame: rounded up to an even number, as H.264 with 4:2:0 requires.
constexpr int even_size(int size) {
  return size + size % 2;
}

/// Converts a frame to video: planar YCbCr 4:2:0, ITU-R BT.709 (HD), limited range, top row first. If a width or height
/// is odd, the last column or row is repeated.
/// `rgba`: 4 bytes for each of width x height pixels, bottom row first, as in FilmFrame. `video` is resized to 3/2
/// bytes per pixel of the even size.
void write_video_frame(std::span<const std::uint8_t> rgba, int width, int height, std::vector<std::uint8_t>& video);

/// Runs ffmpeg, which encodes raw frames as H.264 in an MP4 file. Ctrl+C on the terminal does not reach ffmpeg. If this
/// process is killed, ffmpeg ends by itself.
class Encoder {
 public:
  /// Starts ffmpeg. `file` is an empty file, open for writing, which ffmpeg opens again. `name` is the film's name for
  /// messages. After a request to stop, ffmpeg is killed if it has used no processor time for `patience`. Throws
  /// std::runtime_error, one line, if ffmpeg cannot be started.
  Encoder(int width, int height, double fps, int file, std::string name,
          std::chrono::milliseconds patience = std::chrono::seconds{3});
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  /// Kills ffmpeg if finish() was not called.
  ~Encoder();

  /// Sends a frame, as FilmFrame holds it, `times` times to ffmpeg. Blocks while ffmpeg is busy. If ffmpeg has ended,
  /// throws std::runtime_error with ffmpeg's last line.
  void write(std::span<const std::uint8_t> rgba, std::int64_t times);
  /// Blocks until ffmpeg has written the file. Throws what write() throws, or an error if the file contains no film.
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
  std::vector<std::uint8_t> video_;  // the frame in ffmpeg's format
  pid_t process_ = -1;               // ffmpeg, which is also its process group; -1: it has ended
  bool given_up_ = false;            // ffmpeg was killed
  std::int64_t used_ = 0;            // ffmpeg's processor time at last_sign_, in nanoseconds
  std::optional<std::chrono::steady_clock::time_point> last_sign_{};  // last processor use; none: not checked yet
  Descriptor frames_;                                                 // writing end of ffmpeg's standard input
  std::string last_line_;  // last line of ffmpeg's standard error; belongs to reader_ until that is joined
  std::jthread reader_;
};

/// Writes an MP4 file. The file appears under its name when it is complete.
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

/// Writes a folder of PNG frames, frame-000000.png and so on, each of which appears when it is complete. A run that was
/// stopped can be continued: complete frames of the same film are kept. The file film.json describes the film, and each
/// frame contains its fingerprint. Symbolic links in the folder are not followed.
class FrameFolder final : public FilmOutput {
 public:
  /// Makes the folder if it is missing. If `existing` is Existing::replace, begin() removes its frames.
  FrameFolder(const FilmOptions& options, WindowSize size, Existing existing);

  /// Describes the film in the folder. Throws if the folder has frames of another film.
  void begin(const Json& run) override;
  int threads() const override;
  void add(const FilmFrame& frame) override;
  std::string finish() override { return folder_.string(); }

 private:
  std::filesystem::path file_of(std::int64_t frame) const;
  void find_frames();
  void drop_damaged();
  /// Returns the description that a frame carries in its PNG file.
  std::string words_of(std::int64_t frame) const;
  void check_same(const Json& run) const;

  const std::filesystem::path folder_;
  const WindowSize size_;
  const Existing existing_;
  std::string film_;  // fingerprint of the film's description, set by begin()
};

/// Threads that process frames, in the order in which add() gets them, while the next ones are drawn.
class FrameWorkers {
 public:
  /// Runs `work` on `threads` threads. At most `threads` + 2 frames exist at a time. Throws what start_thread() throws.
  FrameWorkers(int threads, std::size_t frame_bytes, std::function<void(const FilmFrame&)> work);
  FrameWorkers(const FrameWorkers&) = delete;
  FrameWorkers& operator=(const FrameWorkers&) = delete;
  /// Drops the frames that no thread has begun.
  ~FrameWorkers();

  /// Returns whether take_free() would return without waiting.
  bool has_free();
  /// Returns a frame to fill in, with reused memory if possible. Blocks until one is free. Throws what `work` threw.
  FilmFrame take_free();
  /// Passes a filled frame to the threads.
  void add(FilmFrame frame);
  /// Blocks until all frames are processed. If `work` has thrown, throws that; then no frame is processed any more.
  void finish();

 private:
  void run();
  void rethrow() const;

  const std::size_t frame_bytes_;
  const std::function<void(const FilmFrame&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FilmFrame> waiting_;
  std::vector<FilmFrame> free_;
  std::size_t not_made_yet_;  // number of frames that may still be allocated
  int at_work_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

/// A film that is being made. All functions throw std::runtime_error, one line.
class Film {
 public:
  /// Starts ffmpeg, or makes the folder, for a film of the frames 0 to `frames` - 1.
  Film(const FilmOptions& options, WindowSize size, std::int64_t frames, Existing existing);

  /// Prepares the output, see FilmOutput::begin(). Prints how many frames are kept, if any.
  void begin(const Json& run);
  /// Returns whether this frame must be added.
  bool wants(std::int64_t frame) const { return !output_->kept().contains(frame); }
  /// Returns whether neither `frame` nor any later frame must be added.
  bool complete_from(std::int64_t frame) const { return frame > last_wanted_; }

  /// Returns whether take_free() would return without waiting.
  bool has_free() { return workers_->has_free(); }
  /// Returns a frame to fill in, for add(). Blocks while all frames are in use.
  FilmFrame take_free() { return workers_->take_free(); }
  /// Adds a filled frame. A folder gets one file per frame, even if FilmFrame::times > 1.
  void add(FilmFrame frame);

  /// Shows the progress after `frame` was drawn, or skipped because it is kept.
  void show_progress(std::int64_t frame, bool drawn);
  /// Completes the film with the frames that it has; later calls do nothing. Returns "wrote a.mp4: 30 frames, ...", or
  /// an empty text if there is no frame.
  std::string finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pace {  // number and time of the frames that were drawn, or skipped
    std::int64_t frames = 0;
    double total_s = 0;
    double per_frame_s() const { return frames > 0 ? total_s / static_cast<double>(frames) : 0; }
  };

  const FilmOptions options_;
  const std::int64_t frames_;
  std::unique_ptr<FilmOutput> output_;
  std::unique_ptr<FrameWorkers> workers_;  // after output_, which the threads use
  Progress progress_;
  std::int64_t last_wanted_ = -1, added_ = 0, pictures_ = 0, kept_ = 0;
  Pace drawn_, passed_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool finished_ = false;
};

}  // namespace orrery
