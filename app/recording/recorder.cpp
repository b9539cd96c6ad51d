#include "app/recording/recorder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/text/csv.h"
#include "compute/core/error.h"

namespace orrery {

std::string FrameRow::csv() const {
  const auto timed = [&](double StepTiming::*member) { return timing ? csv_number((*timing).*member) : std::string{}; };
  const auto off = [&](double ForceError::*member) { return error ? csv_number((*error).*member) : std::string{}; };
  const std::array<std::string, columns.size()> fields{std::to_string(frame),
                                                       csv_number(time_s, 9),
                                                       std::to_string(step),
                                                       csv_number(sim_time, 9),
                                                       kernel,
                                                       backend,
                                                       block,
                                                       settings,
                                                       std::to_string(n),
                                                       std::to_string(steps),
                                                       timed(&StepTiming::map_ms),
                                                       timed(&StepTiming::force_ms),
                                                       timed(&StepTiming::integrate_ms),
                                                       timed(&StepTiming::step_ms),
                                                       timed(&StepTiming::unmap_ms),
                                                       csv_number(draw_ms),
                                                       csv_number(gui_ms),
                                                       csv_number(frame_ms),
                                                       timed(&StepTiming::interactions_per_s),
                                                       interop,
                                                       off(&ForceError::median),
                                                       off(&ForceError::p99),
                                                       off(&ForceError::max),
                                                       timing ? std::to_string(timing->evaluations) : std::string{}};
  return csv_line(fields);
}

std::string Recorder::open(const std::string& path, const Json& metadata, Existing existing) {
  if (const std::string error = close(); !error.empty()) throw std::runtime_error(error);
  OutputFile file = OutputFile::create(path, existing);
  if (const std::string error = file.append(csv_header(metadata, FrameRow::columns)); !error.empty()) {
    throw std::runtime_error(error);
  }
  path_ = file.path();
  timed_ = drawn_ = -1;
  rows_ = 0;
  flushed_at_s_ = 0;
  file_ = std::move(file);
  return path_;
}

void Recorder::fill(const StepTiming& timing) {
  timed_ = timing.tag;
  const auto row = std::ranges::find(waiting_, timing.tag, &FrameRow::frame);
  if (row != waiting_.end() && row->steps > 0) row->timing = timing;
}

void Recorder::fill_draw(std::int64_t frame, double draw_ms) {
  drawn_ = frame;
  const auto row = std::ranges::find(waiting_, frame, &FrameRow::frame);
  if (row != waiting_.end()) row->draw_ms = draw_ms;
}

bool Recorder::complete(const FrameRow& row) const {
  const bool timed = row.steps == 0 || row.timing || row.frame <= timed_;
  const std::int64_t newest = waiting_.back().frame;
  return timed && (row.draw_ms || row.frame <= drawn_ || newest - row.frame > most_frames_in_flight);
}

std::string Recorder::append(FrameRow row) {
  if (!file_) return {};
  const double now_s = row.time_s;
  waiting_.push_back(std::move(row));
  ++rows_;
  if (now_s - flushed_at_s_ < flush_interval_s) return {};
  flushed_at_s_ = now_s;
  std::string text;
  std::vector<FrameRow> incomplete;
  for (FrameRow& each : waiting_) {
    const bool is_next = incomplete.empty() || now_s - each.time_s >= flush_interval_s;
    if (is_next && complete(each)) {
      text += each.csv();
    } else {
      incomplete.push_back(std::move(each));
    }
  }
  waiting_ = std::move(incomplete);
  return write(text);
}

std::string Recorder::close() {
  if (!file_) return {};
  std::string text;
  for (const FrameRow& row : waiting_) text += row.csv();
  std::string error = write(text);
  if (error.empty()) error = file_->lost();
  file_.reset();
  waiting_.clear();
  return error;
}

/// Appends the rows to the file; ends the recording if that fails.
std::string Recorder::write(const std::string& rows) {
  std::string error = file_->append(rows);
  if (!error.empty()) {
    file_.reset();
    waiting_.clear();
  }
  return error;
}

std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift) {
  constexpr int digits = 12;  // drifts are small differences of these numbers
  const Conserved& sums = probe.sums;
  return {std::to_string(probe.step),
          csv_number(probe.sim_time, digits),
          csv_number(sums.kinetic, digits),
          csv_number(sums.potential, digits),
          csv_number(sums.energy(), digits),
          csv_number(drift),
          csv_number(sums.momentum.x, digits),
          csv_number(sums.momentum.y, digits),
          csv_number(sums.momentum.z, digits),
          csv_number(sums.angular_momentum.x, digits),
          csv_number(sums.angular_momentum.y, digits),
          csv_number(sums.angular_momentum.z, digits),
          csv_number(sums.virial_ratio())};
}

namespace {

bool is_same(const ConservedProbe& a, const std::optional<ConservedProbe>& b) {
  return b && a.step == b->step && a.sim_time == b->sim_time && a.ms == b->ms;
}

std::string row(const ConservedProbe& probe, double first_energy) {
  const double energy = probe.sums.energy();
  std::vector<std::string> fields = conserved_cells(probe, (energy - first_energy) / std::abs(first_energy));
  fields.push_back(csv_number(probe.ms));
  return csv_line(fields);
}

}  // namespace

std::string conserved_name(const std::string& recording) {
  std::filesystem::path path{recording};
  const std::string stem = path.stem().string(), extension = path.extension().string();
  return path.replace_filename(stem + "-conserved" + extension).string();
}

void ConservedLog::start(const std::string& recording, const Json& metadata, Existing existing) {
  stop();
  file_name_.clear();
  if (is_stream(recording)) return;
  wanted_name_ = conserved_name(recording);
  existing_ = existing;
  metadata_ = metadata;
}

void ConservedLog::stop() {
  wanted_name_.clear();
  file_.reset();
}

std::string ConservedLog::follow(std::span<const ConservedProbe> history, bool wanted) {
  if (history.empty()) {
    seen_.reset();
    return {};
  }
  const ConservedProbe& newest = history.back();
  const bool is_new = !is_same(newest, seen_);
  seen_ = newest;
  if (!is_new || !wanted || wanted_name_.empty()) return {};
  std::string error = write(newest);
  if (!error.empty()) stop();
  return error;
}

std::string ConservedLog::write(const ConservedProbe& probe) {
  std::string text;
  if (!file_) {
    try {
      file_ = OutputFile::create(wanted_name_, existing_);
    } catch (const std::runtime_error& failure) {
      return failure_text(failure);
    }
    first_energy_ = probe.sums.energy();
    text = csv_header(metadata_, columns);
  }
  std::string error = file_->append(text + row(probe, first_energy_));
  if (error.empty()) file_name_ = file_->path();
  return error;
}

}  // namespace orrery
