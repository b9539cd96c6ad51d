#include "app/runs/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/commands/command_text.h"
#include "app/commands/words.h"
#include "app/text/input_file.h"
#include "app/text/parse_value.h"
#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/error.h"

namespace orrery {
namespace {

constexpr std::string_view magic = "orrery-replay";
constexpr int replay_format = 1;
constexpr std::size_t most_replay_line_bytes = 65'536, most_lines = 200'000;
constexpr std::size_t sum_digits = 8;
constexpr const char* explanation =
    "# 'orrery replay FILE' computes this run again and compares its states. Lines are STEP COMMAND: a change that\n"
    "# follows this step. 'state' is the CRC-32 of all positions, masses and velocities, 'chose' what the kernel "
    "chose.\n";
constexpr std::int64_t last_step = 1'000'000'000'000;  // the sum of all lines has room

template <class... Kinds>
bool is_one_of(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

/// What a line after a start may be.
bool is_change(const Command& command) {
  return is_one_of<SelectKernel, SelectIntegrator, SelectLaw, SetTimeStep, SetEta, SetDigits, SetSoftening,
                   SetRepulsion, SetDrag>(command);
}

std::string event_text(const Replay::Event& event) {
  if (const auto* sum = std::get_if<Replay::StateSum>(&event)) return fmt::format("state {:08x}", sum->value);
  if (const auto* chosen = std::get_if<Replay::Chosen>(&event)) return "chose " + chosen->text;
  return command_text(std::get<Command>(event));
}

Replay::StateSum parse_sum(std::string_view text) {
  std::uint32_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, value, 16);
  if (failed != std::errc{} || end != last || text.size() != sum_digits) {
    refuse_value("state", text, fmt::format("{} hexadecimal digits", sum_digits));
  }
  return {value};
}

/// Reads the lines of one file, in order.
class ReplayReader {
 public:
  void take(std::string_view line, int number) {
    if (line.size() > most_replay_line_bytes) {
      throw UsageError(fmt::format("a line has at most {} bytes", most_replay_line_bytes));
    }
    if (!is_text(line)) throw UsageError("this is not a replay file: it is not text");
    if (!began_) return begin(line);
    if (ended_) throw UsageError("there is nothing after 'end'");
    if (line == "end") {
      ended_ = true;
    } else if (line.front() >= '0' && line.front() <= '9') {
      take_event(line, number);
    } else {
      take_header(line);
    }
  }

  Replay finish() {
    if (!began_) refuse_foreign();
    if (replay_.lines.empty()) throw UsageError("it has no 'return-to', which starts a run");
    if (!ended_) throw UsageError("it does not end with 'end': a part is missing");
    return std::move(replay_);
  }

 private:
  [[noreturn]] static void refuse_foreign() {
    throw UsageError(fmt::format("this is not a replay file, which begins with '{} {}'", magic, replay_format));
  }

  void begin(std::string_view line) {
    const std::string_view name = take_word(line);
    if (name != magic) refuse_foreign();
    const auto format = parse_integer("the format of a replay file", line, 1, std::numeric_limits<int>::max());
    if (format > replay_format) {
      throw UsageError(
          fmt::format("it has format {}, of a newer program; this one reads format {}", format, replay_format));
    }
    began_ = true;
  }

  void take_header(std::string_view line) {
    std::string_view rest = line;
    const std::string_view name = take_word(rest);
    if (!replay_.lines.empty()) throw UsageError("a line here starts with a step, or is 'end'");
    if (name == "program") {
      replay_.program = rest;
    } else if (name == "processor") {
      replay_.processor = rest;
    } else if (name == "gpu") {
      replay_.gpu = rest;
    } else if (name == "camera") {
      take_camera(rest);
    } else if (name == "appearance") {
      replay_.appearance = *command_if<SetAppearance>(parse_command(line));
    } else {
      throw UsageError(fmt::format(
          "unknown word '{}'; before the first start, a line begins with program, processor, gpu, camera or appearance",
          name));
    }
  }

  void take_camera(std::string_view rest) {
    constexpr Range<float> numbers{-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
    for (float& number : replay_.camera) number = parse_in("camera", take_word(rest), numbers);
    if (!rest.empty()) throw UsageError("'camera' takes 6 numbers");
  }

  void take_event(std::string_view text, int number) {
    if (replay_.lines.size() == most_lines) throw UsageError(fmt::format("it has more than {} lines", most_lines));
    const std::int64_t step = parse_integer("the step that starts a line", take_word(text), 0, last_step);
    Replay::Event event = parse_event(text);
    const bool starts = is_start(event);
    if (starts && step != 0) throw UsageError("'return-to' starts from step 0");
    if (!starts && replay_.lines.empty()) throw UsageError("the first step has 'return-to', which starts the run");
    if (!starts && step < replay_.lines.back().step) {
      throw UsageError(fmt::format("step {} comes after step {}", step, replay_.lines.back().step));
    }
    replay_.lines.push_back({step, std::move(event), number});
  }

  static bool is_start(const Replay::Event& event) {
    const auto* command = std::get_if<Command>(&event);
    return command && std::holds_alternative<ReturnToRun>(*command);
  }

  static Replay::Event parse_event(std::string_view text) {
    std::string_view rest = text;
    const std::string_view name = take_word(rest);
    if (name == "state") return parse_sum(rest);
    if (name == "chose") return Replay::Chosen{std::string{rest}};
    const Request request = parse_command(text);
    const auto* command = std::get_if<Command>(&request);
    if (!command || !(is_change(*command) || std::holds_alternative<ReturnToRun>(*command))) {
      throw UsageError(fmt::format("'{}' is not a command of a replay file", name));
    }
    return *command;
  }

  Replay replay_{};
  bool began_ = false, ended_ = false;
};

}  // namespace

std::string replay_text(const Replay& replay) {
  std::string text = fmt::format("{} {}\n{}program {}\nprocessor {}\n", magic, replay_format, explanation,
                                 replay.program, replay.processor);
  if (!replay.gpu.empty()) text += fmt::format("gpu {}\n", replay.gpu);
  text += fmt::format("camera {}\n{}\n", fmt::join(replay.camera, " "), command_text(ViewCommand{replay.appearance}));
  for (const Replay::Line& line : replay.lines) text += fmt::format("{} {}\n", line.step, event_text(line.event));
  return text + "end\n";
}

Replay parse_replay(std::string_view text, const std::string& name) {
  ReplayReader reader;
  int number = 1;
  for (; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_line(text));
    if (line.empty() || line.front() == '#') continue;
    at_line(name, number, [&] { reader.take(line, number); });
  }
  return at_line(name, std::max(number - 1, 1), [&] { return reader.finish(); });
}

std::string write_replay(const std::string& file, const Replay& replay, Existing existing) {
  return write_file(file, replay_text(replay), existing);
}

Replay read_replay(const std::string& file) {
  std::string text;
  try {
    text = read_text(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("cannot read the replay {}", failure_text(error)));
  }
  return parse_replay(text, file);
}

}  // namespace orrery
