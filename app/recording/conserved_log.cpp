#include "app/recording/conserved_log.h"

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/text/csv.h"
#include "compute/core/error.h"

namespace orrery {

std::vector<std::string> conserved_cells(const ConservedProbe& probe, double drift) {
  constexpr int digits = 12;  // drifts are small differences of what is written here
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
