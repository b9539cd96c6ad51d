#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "compute/kernels/rank_device.h"

namespace orrery::test {

/// A division of targets whose device is the host: its kernel is one of the CPU. For all that ranks do without a GPU.
class HostDivision final : public HostedDivision {
 public:
  explicit HostDivision(std::unique_ptr<ForceKernel> kernel) : kernel_{std::move(kernel)} {}

  ForceKernel& kernel() override { return *kernel_; }
  void prepare(int count, int /*index*/, int ranks) override {
    kernel_->prepare(count);
    returned_.resize(static_cast<std::size_t>(ranks));
  }

  Shared share_out(const ForceArgs& args, std::span<const Part> parts) override {
    const auto bodies = std::as_bytes(std::span{args.bodies, static_cast<std::size_t>(args.count)});
    std::span<const std::byte> targets;
    if (args.targets) {
      targets = std::as_bytes(std::span{args.targets.indices, static_cast<std::size_t>(args.targets.count)});
    }
    shared_.assign(bodies.begin(), bodies.end());
    shared_.insert(shared_.end(), targets.begin(), targets.end());
    list_targets(args.targets, args.count);
    evaluate_part(args, parts.front());
    return {.sizes = {bodies.size(), targets.size()}, .bytes = shared_};
  }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override {
    std::vector<Vec4>& place = returned_[static_cast<std::size_t>(part.index)];
    place.resize(targets_of(args, part).size());
    return std::as_writable_bytes(std::span{place});
  }
  void wait() override {}
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    for (const Part& part : parts.subspan(1)) {
      const std::vector<Vec4>& found = returned_[static_cast<std::size_t>(part.index)];
      const std::span<const int> targets = targets_of(args, part);
      for (std::size_t k = 0; k < targets.size(); ++k) {
        args.epilogue.finish(targets[k], args.bodies[targets[k]].w, Vec3{found[k].x, found[k].y, found[k].z});
      }
    }
  }

  void take_room(std::size_t bytes) override { shared_.resize(std::max(shared_.size(), bytes)); }
  std::span<std::byte> room(std::size_t bytes) override {
    if (bytes > shared_.size()) throw std::logic_error("nobody has asked for so much room");
    return std::span{shared_}.first(bytes);
  }
  std::span<const std::byte> evaluate(const ForceArgs& args, std::span<const std::size_t> sizes,
                                      std::span<const Part> /*parts*/, const Part& own) override {
    bodies_.resize(static_cast<std::size_t>(args.count));
    std::vector<int> listed(sizes[1] / sizeof(int));
    std::memcpy(bodies_.data(), shared_.data(), sizes[0]);
    if (!listed.empty()) std::memcpy(listed.data(), shared_.data() + sizes[0], sizes[1]);
    list_targets({.indices = args.targets ? listed.data() : nullptr, .count = args.targets.count}, args.count);
    accelerations_.resize(bodies_.size());
    ForceArgs here = args;
    here.bodies = bodies_.data();
    here.epilogue = {.accelerations = accelerations_.data()};
    evaluate_part(here, own);
    found_.clear();
    for (const int target : targets_of(args, own)) found_.push_back(accelerations_[static_cast<std::size_t>(target)]);
    return std::as_bytes(std::span{found_});
  }

 private:
  void list_targets(const Targets& targets, int count) {
    targets_.resize(static_cast<std::size_t>(targets ? targets.count : count));
    for (std::size_t k = 0; k < targets_.size(); ++k) targets_[k] = targets.body(static_cast<int>(k));
  }
  std::span<const int> targets_of(const ForceArgs& args, const Part& part) const {
    const auto first = static_cast<std::size_t>(part.first(args.target_count()));
    return std::span{targets_}.subspan(first, static_cast<std::size_t>(part.last(args.target_count())) - first);
  }
  void evaluate_part(ForceArgs args, const Part& part) {
    const std::span<const int> own = targets_of(args, part);
    if (own.empty()) return;
    args.targets = {.indices = own.data(), .count = static_cast<int>(own.size())};
    kernel_->evaluate(args);
  }

  std::unique_ptr<ForceKernel> kernel_;
  std::vector<std::byte> shared_;
  std::vector<int> targets_;
  std::vector<Vec4> bodies_, accelerations_, found_;
  std::vector<std::vector<Vec4>> returned_;  // by rank
};

/// As if the host had so many devices, all alike. `opened`: which was opened at each place.
class HostDevice final : public RankDevice {
 public:
  HostDevice(int devices, std::vector<std::atomic<int>>& opened) : devices_{devices}, opened_{opened} {}

  RankDeviceFacts open(const DevicesOfRanks& which, int place) override {
    const int ordinal = device_at(which, place, devices_);
    if (ordinal >= devices_) throw std::runtime_error("there is no such device");
    opened_[static_cast<std::size_t>(place)] = ordinal;
    return {.ordinal = ordinal, .uuid = {static_cast<unsigned char>(ordinal)}, .architecture = 90};
  }
  std::unique_ptr<HostedDivision> make(const KernelInfo& kernel, const Settings& settings) override {
    return std::make_unique<HostDivision>(kernel.make(settings, nullptr));
  }

 private:
  int devices_;
  std::vector<std::atomic<int>>& opened_;
};

}  // namespace orrery::test
