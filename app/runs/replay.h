#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/ui_state/command.h"
#include "compute/core/atomic_file.h"

namespace orrery {

/// How a run went, so that it can be computed again: the states that it started from, each change with the step that it
/// followed, and checksums of states on the way.
struct Replay {
  struct StateSum {  ///< see checksum(const Bodies&)
    std::uint32_t value;
    friend bool operator==(const StateSum&, const StateSum&) = default;
  };
  struct Chosen {  ///< see Status::chosen; of the kernel at this step
    std::string text;
    friend bool operator==(const Chosen&, const Chosen&) = default;
  };
  /// ReturnToRun starts from the first state of its scene, at step 0. Other commands change the physics or the kernel.
  using Event = std::variant<Command, StateSum, Chosen>;
  struct Line {
    std::int64_t step = 0;  ///< whole steps since the last start
    Event event;
    int line = 0;  ///< its number in the file, from 1; 0: in no file
  };

  std::string program;          ///< version and git id of the writer
  std::string processor, gpu;   ///< of the writer; no gpu: empty
  std::array<float, 6> camera;  ///< azimuth and elevation in degrees, distance and target in units of length
  SetAppearance appearance;
  std::vector<Line> lines;  ///< the first is a start; between two starts, steps do not fall
};

/// What parse_replay() reads back.
std::string replay_text(const Replay& replay);
/// Throws UsageError that starts with "NAME:LINE: " for text that replay_text() would not have written. Ids of kernels
/// and their settings are not checked.
Replay parse_replay(std::string_view text, const std::string& name);

/// Writes as AtomicFile does and returns the name that the file got.
std::string write_replay(const std::string& file, const Replay& replay, Existing existing);
/// As parse_replay(), from a file. Throws std::runtime_error as read_text() does.
Replay read_replay(const std::string& file);

}  // namespace orrery
