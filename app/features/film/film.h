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

/// Threads that work on frames, in the order in which they come, while the next ones are drawn.
class FrameWorkers {
 public:
  /// `work` runs on `threads` threads. Two more frames than that exist at a time. Throws as start_thread().
  FrameWorkers(int threads, std::size_t frame_bytes, std::function<void(const FilmFrame&)> work);
  FrameWorkers(const FrameWorkers&) = delete;
  FrameWorkers& operator=(const FrameWorkers&) = delete;
  /// Frames that nobody works on yet are dropped.
  ~FrameWorkers();

  /// Whether take_free() would not wait.
  bool has_free();
  /// A frame to fill in, with the memory of one that is done: waits for that. Throws what `work` has thrown.
  FilmFrame take_free();
  /// Hands a filled frame to the threads.
  void add(FilmFrame frame);
  /// Waits until no frame is left. Throws what `work` has thrown; nothing runs after that.
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
  std::size_t not_made_yet_;  // frames
  int at_work_ = 0;
  bool ending_ = false;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

/// A film in the making. Every failure throws std::runtime_error, one line.
class Film {
 public:
  /// A film of frames 0 to `frames` - 1. Starts ffmpeg, or makes the folder.
  Film(const FilmOptions& options, WindowSize size, std::int64_t frames, Existing existing);

  /// See FilmOutput::begin. Prints how many frames are kept, if any.
  void begin(const Json& run);
  /// Whether the frame is to be added.
  bool wants(std::int64_t frame) const { return !output_->kept().contains(frame); }
  /// Whether no frame from this one on is to be added.
  bool complete_from(std::int64_t frame) const { return frame > last_wanted_; }

  /// Whether take_free() would not wait.
  bool has_free() { return workers_->has_free(); }
  /// A frame to fill in and to add(). Waits while all are in use.
  FilmFrame take_free() { return workers_->take_free(); }
  /// A folder has one file for a frame that is shown several times.
  void add(FilmFrame frame);

  /// Shows what is done once `frame` has been drawn, or passed over.
  void show_progress(std::int64_t frame, bool drawn);
  /// Completes the film with the frames that it has; later calls do nothing. Returns "wrote a.mp4: 30 frames, ...",
  /// empty if there is no frame.
  std::string finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Pace {  // of frames that are drawn, or passed over
    std::int64_t frames = 0;
    double total_s = 0;
    double per_frame_s() const { return frames > 0 ? total_s / static_cast<double>(frames) : 0; }
  };

  const FilmOptions options_;
  const std::int64_t frames_;
  std::unique_ptr<FilmOutput> output_;
  std::unique_ptr<FrameWorkers> workers_;  // after the output that they use
  Progress progress_;
  std::int64_t last_wanted_ = -1, added_ = 0, pictures_ = 0, kept_ = 0;
  Pace drawn_, passed_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool finished_ = false;
};

}  // namespace orrery
