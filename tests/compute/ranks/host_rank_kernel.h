#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/ranks/protocol.h"
#include "tests/compute/ranks/host_nccl.h"
#include "tests/compute/ranks/host_residents.h"

namespace orrery::test {

/// The connected way of a RankKernel, whose memory it uses.
class HostConnected final : public ConnectedRankKernel {
 public:
  HostConnected(RankKernel& kernel, std::shared_ptr<HostConnection> connection)
      : kernel_{kernel}, connection_{std::move(connection)} {}
  bool is_open() const { return connection_->is_open(); }

  std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    std::vector<WorkerInput> inputs = kernel_.prepare_inputs(args, parts);
    places_.clear();
    for (const Part& part : parts.subspan(1)) places_.push_back(kernel_.place(args, part));
    return inputs;
  }
  void evaluate(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) override {
    asked_ = 0;
    if (kernel_.works_alone()) return;
    work.attempt([&] {
      if (!kernel_.common_input().empty()) nccl_.share(1, kernel_.common_input());
      for (const Part& part : parts.subspan(1)) {
        const std::span<const std::byte> alone = kernel_.individual_input(part.index);
        if (!alone.empty()) nccl_.share_alone(part.index, alone);
      }
      nccl_.fail_in(0);
    });
    kernel_.end_part(args, parts, work);
  }
  /// Pretends to take a while.
  bool part_ended() override { return ++asked_ > 3; }
  /// The leader receives then, and another rank sends.
  bool ended() override {
    if (rank_ > 0) {
      nccl_.hand_back(rank_, found_);
      return true;
    }
    if (!part_ended()) return false;
    for (int rank = 1; rank <= static_cast<int>(places_.size()); ++rank) {
      if (!nccl_.has_found(rank)) return false;
    }
    for (int rank = 1; std::span<std::byte> place : places_) std::ranges::copy(nccl_.found_by(rank++), place.begin());
    return true;
  }
  void join(const ForceArgs& args, std::span<const Part> parts) override { kernel_.join(args, parts); }
  void evaluate_part(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts, const Part& own,
                     CollectiveWork& work) override {
    work.attempt([&] {
      nccl_.fail_in(rank_);
      std::vector<std::byte> shared;
      if (bytes_of(input).common > 0) shared = nccl_.take(rank_, work);
      if (bytes_of(input).individual > 0) {
        const std::vector<std::byte> alone = nccl_.take_alone(rank_, work);
        shared.insert(shared.end(), alone.begin(), alone.end());
      }
      kernel_.reserve_input(shared.size());
      std::ranges::copy(shared, kernel_.input_buffer(shared.size()).begin());
    });
    found_ = kernel_.evaluate(args, input, parts, own, work);
  }
  void disconnect() noexcept override { connection_->abort(); }

 private:
  RankKernel& kernel_;
  const std::shared_ptr<HostConnection> connection_;
  HostNccl& nccl_{connection_->nccl()};
  const int rank_{connection_->rank()};

  std::vector<std::span<std::byte>> places_;  // of the results of others
  std::span<const std::byte> found_;          // of another rank than the leader
  int asked_ = 0;
};

/// A division whose device is the host: its kernel is one of the CPU. For all that ranks do without a GPU. Each rank
/// evaluates a part of the targets. It gets all bodies; or a part of them, which it offers to the others.
class HostRankKernel final : public RankKernel {
 public:
  /// `holds`: the ranks can hold the bodies. `connection`: null if there is none. `faults`: see HostResidents.
  HostRankKernel(std::unique_ptr<ForceKernel> kernel, bool exchanges, bool holds,
                 std::shared_ptr<HostConnection> connection, HostNccl* faults)
      : kernel_{std::move(kernel)}, exchanges_{exchanges} {
    if (holds) held_.emplace(*kernel_, connection, faults);
    if (connection) connected_.emplace(*this, std::move(connection));
  }
  /// With fewer bodies, the leader of kernels that exchange works alone.
  static constexpr int worth_an_exchange = 4;

  ForceKernel& kernel() override { return *kernel_; }
  ConnectedRankKernel* connected() override { return connected_ && connected_->is_open() ? &*connected_ : nullptr; }
  void prepare(int count, int index, int ranks) override {
    kernel_->prepare(count);
    index_ = index;
    returned_.resize(static_cast<std::size_t>(ranks));
    individual_.resize(returned_.size());
  }
  void bodies_replaced() override { kernel_->bodies_replaced(); }

  std::vector<WorkerInput> prepare_inputs(const ForceArgs& args, std::span<const Part> parts) override {
    list_targets(args.targets, args.count);
    owners_.clear();
    for (const Part& part : parts) owners_.resize(static_cast<std::size_t>(part.last(args.count)), part.index);
    const std::span<const Vec4> bodies{args.bodies, static_cast<std::size_t>(args.count)};
    const std::span<const int> listed = args.targets ? std::span<const int>{targets_} : std::span<const int>{};
    std::vector<WorkerInput> inputs(parts.size());
    for (const Part& part : parts) {
      const auto rank = static_cast<std::size_t>(part.index);
      WorkerInput& input = inputs[rank];
      input.exchanges = exchanges_;
      (exchanges_ ? input.individual : input.common) =
          join_blocks(exchanges_ ? range_of(bodies, part) : bodies, listed, exchanges_ ? individual_[rank] : common_);
    }
    begin_part(exchanges_ ? range_of(bodies, parts.front()) : bodies, args.count, parts.front());
    return inputs;
  }
  std::span<const std::byte> common_input() const override { return common_; }
  std::span<const std::byte> individual_input(int rank) const override {
    return individual_[static_cast<std::size_t>(rank)];
  }
  std::span<std::byte> place(const ForceArgs& args, const Part& part) override {
    std::vector<Vec4>& place = returned_[static_cast<std::size_t>(part.index)];
    place.resize(targets_of(args, part).size());
    return std::as_writable_bytes(std::span{place});
  }
  void end_part(const ForceArgs& args, std::span<const Part> parts, CollectiveWork& work) override {
    exchange(parts, parts.front(), work);
    work.attempt([&] { evaluate_part(args, parts.front()); });
    require_end(work);
  }
  void join(const ForceArgs& args, std::span<const Part> parts) override {
    if (works_alone()) return kernel_->evaluate(args);
    for (const Part& part : parts.subspan(1)) {
      const std::vector<Vec4>& found = returned_[static_cast<std::size_t>(part.index)];
      const std::span<const int> targets = targets_of(args, part);
      for (std::size_t k = 0; k < targets.size(); ++k) {
        args.epilogue.finish(targets[k], args.bodies[targets[k]].w, Vec3{found[k].x, found[k].y, found[k].z});
      }
    }
  }

  void reserve_input(std::size_t bytes) override { room_.resize(std::max(room_.size(), bytes)); }
  std::span<std::byte> input_buffer(std::size_t bytes) override {
    if (bytes > room_.size()) throw std::logic_error("nobody has asked for so much room");
    return std::span{room_}.first(bytes);
  }
  std::span<const std::byte> evaluate(const ForceArgs& args, const WorkerInput& input, std::span<const Part> parts,
                                      const Part& own, CollectiveWork& work) override {
    work.attempt([&] {
      const std::vector<std::size_t>& sizes = exchanges_ ? input.individual : input.common;
      std::vector<Vec4> bodies(sizes[0] / sizeof(Vec4));
      std::vector<int> listed(sizes[1] / sizeof(int));
      if (!bodies.empty()) std::memcpy(bodies.data(), room_.data(), sizes[0]);
      if (!listed.empty()) std::memcpy(listed.data(), room_.data() + sizes[0], sizes[1]);
      list_targets({.indices = args.targets ? listed.data() : nullptr, .count = args.targets.count}, args.count);
      begin_part(bodies, args.count, own);
    });
    exchange(parts, own, work);
    work.attempt([&] {
      accelerations_.resize(bodies_.size());
      ForceArgs here = args;
      here.epilogue = {.accelerations = accelerations_.data()};
      evaluate_part(here, own);
      found_.clear();
      for (const int target : targets_of(args, own)) found_.push_back(accelerations_[static_cast<std::size_t>(target)]);
    });
    require_end(work);
    return std::as_bytes(std::span{found_});
  }

  /// Pretends that later ranks are slower.
  double part_ms() const override { return index_ + 1; }
  bool works_alone() const override { return exchanges_ && static_cast<int>(bodies_.size()) < worth_an_exchange; }
  bool keeps_parts() const override { return false; }
  void read_owners(int count, const int* d_owners, CUstream_st* /*stream*/) override {
    read_ = d_owners ? std::vector<int>(d_owners, d_owners + count) : owners_;
  }
  std::optional<std::vector<int>> owners(int count) const override {
    if (read_.size() != static_cast<std::size_t>(count)) return std::nullopt;
    return read_;
  }
  MessageWriter cells(int index) override {
    MessageWriter message;
    message.put(index);
    return message;
  }
  RankResidents* residents() override { return held_ ? &*held_ : nullptr; }
  void place_cells(int index, MessageReader& cells, CUstream_st* /*stream*/) override {
    if (cells.get<int>() != index) throw std::logic_error("these are cells of another rank");
  }

 private:
  template <class T>
  static std::span<const T> range_of(std::span<const T> all, const Part& part) {
    return all.subspan(part.first(all.size()), part.last(all.size()) - part.first(all.size()));
  }
  /// Returns their sizes.
  static std::vector<std::size_t> join_blocks(std::span<const Vec4> bodies, std::span<const int> targets,
                                              std::vector<std::byte>& joined) {
    std::vector<std::size_t> sizes;
    joined.clear();
    for (const std::span<const std::byte> block : {std::as_bytes(bodies), std::as_bytes(targets)}) {
      joined.insert(joined.end(), block.begin(), block.end());
      sizes.push_back(block.size());
    }
    return sizes;
  }
  void list_targets(const Targets& targets, int count) {
    targets_.resize(static_cast<std::size_t>(targets ? targets.count : count));
    for (std::size_t k = 0; k < targets_.size(); ++k) targets_[k] = targets.body(static_cast<int>(k));
  }
  std::span<const int> targets_of(const ForceArgs& args, const Part& part) const {
    const auto first = static_cast<std::size_t>(part.first(args.target_count()));
    return std::span{targets_}.subspan(first, static_cast<std::size_t>(part.last(args.target_count())) - first);
  }
  /// `bodies`: all of them, or those of the part. The others are not known.
  void begin_part(std::span<const Vec4> bodies, int count, const Part& part) {
    constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
    bodies_.assign(static_cast<std::size_t>(count), {unknown, unknown, unknown, unknown});
    std::ranges::copy(bodies, bodies_.begin() + (exchanges_ ? part.first(count) : 0));
  }
  /// Exchanges the bodies that the ranks got.
  void exchange(std::span<const Part> parts, const Part& own, CollectiveWork& work) {
    if (!exchanges_) return;
    work.attempt([&] {
      const std::span<const Vec4> offer = range_of(std::span<const Vec4>{bodies_}, own);
      work.put_all_for_all(std::vector<Vec4>(offer.begin(), offer.end()));
    });
    if (!work.exchange()) return;
    work.for_each_other([&](int rank) {
      std::vector<Vec4> taken;
      MessageReader message = work.from(rank);
      message.get_all(taken);
      std::ranges::copy(taken, bodies_.begin() + parts[static_cast<std::size_t>(rank)].first(bodies_.size()));
    });
  }
  void evaluate_part(ForceArgs args, const Part& part) {
    const std::span<const int> own = targets_of(args, part);
    if (own.empty()) return;
    args.bodies = bodies_.data();
    args.targets = {.indices = own.data(), .count = static_cast<int>(own.size())};
    kernel_->evaluate(args);
  }

  std::unique_ptr<ForceKernel> kernel_;
  const bool exchanges_;
  int index_ = 0;
  std::vector<std::byte> common_, room_;
  std::vector<std::vector<std::byte>> individual_;  // by rank
  std::vector<int> targets_, owners_, read_;
  std::vector<Vec4> bodies_, accelerations_, found_;
  std::vector<std::vector<Vec4>> returned_;  // by rank
  std::optional<HostResidents> held_;
  std::optional<HostConnected> connected_;
};

}  // namespace orrery::test
