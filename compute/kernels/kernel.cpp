#include "compute/kernels/kernel.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/names.h"
#include "compute/core/text.h"
#include "compute/core/threads.h"

#if ORRERY_HAVE_CUDA
#include "compute/cuda/launch.h"
#include "compute/kernels/dispatch.h"
#endif

namespace orrery {
namespace {

const Tunable* find_tunable(std::span<const Tunable> tunables, std::string_view name) {
  const auto found = std::ranges::find_if(tunables, [&](const Tunable& tunable) { return name == tunable.name; });
  return found == tunables.end() ? nullptr : &*found;
}

}  // namespace

const char* to_string(Backend backend) {
  return backend == Backend::cuda ? "cuda" : "cpu";
}

std::optional<std::string> Tunable::allowed(std::string_view value) const {
  const auto named = std::ranges::find_if(values, [&](const char* each) { return value == each; });
  if (named != values.end()) return *named;
  const std::optional<double> number = numbers ? parsed_number<double>(value) : std::nullopt;
  if (!number || !numbers->contains(*number) || (whole && *number != std::floor(*number))) return std::nullopt;
  const auto same =
      std::ranges::find_if(values, [&](const char* each) { return parsed_number<double>(each) == number; });
  if (same != values.end()) return *same;
  return whole ? std::to_string(static_cast<std::int64_t>(*number)) : shortest_text(*number);
}

std::string Tunable::numbers_text() const {
  if (!whole) return numbers->to_string();
  return Range<std::int64_t>{static_cast<std::int64_t>(numbers->least), static_cast<std::int64_t>(numbers->most)}
      .to_string();
}

std::string Tunable::allowed_text() const {
  return joined(values) + (numbers ? ", or " + numbers_text() : "");
}

std::vector<std::string> Tunable::values_with(const std::string& present) const {
  std::vector<std::string> all{values.begin(), values.end()};
  const std::optional<double> number = parsed_number<double>(present);
  if (!number || std::ranges::find(all, present) != all.end()) return all;
  const bool falls = all.size() > 1 && parsed_number<double>(all[all.size() - 2]) > parsed_number<double>(all.back());
  const auto next = std::ranges::find_if(all, [&](const std::string& each) {
    const std::optional<double> other = parsed_number<double>(each);
    return other && (falls ? *other < *number : *other > *number);
  });
  all.insert(next, present);
  return all;
}

std::vector<std::string> Tunable::values_to_measure() const {
  const auto is_larger = [most = largest ? largest() : 0](std::string_view value) {
    int number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    return most > 0 && number > most;
  };
  std::vector<std::string> measured{values.begin(), values.end()};
  std::erase_if(measured, is_larger);
  return measured;
}

const Tunable* KernelInfo::tunable(std::string_view name) const {
  return find_tunable(tunables, name);
}

const Tunable* KernelInfo::accuracy_tunable() const {
  const auto found = std::ranges::find_if(tunables, &Tunable::trades_accuracy);
  return found == tunables.end() ? nullptr : &*found;
}

Settings::Settings(const KernelInfo& kernel, const Values& changes)
    : kernel_id_{kernel.id}, tunables_{kernel.tunables}, texts_{kernel.texts} {
  for (const Tunable& tunable : kernel.tunables) values_[tunable.name] = tunable.initial;
  set(changes);
}

const Tunable* Settings::tunable(std::string_view name) const {
  return find_tunable(tunables_, name);
}

void Settings::set(std::string_view name, std::string_view value) {
  const std::string id = kernel_id_ ? kernel_id_ : "no kernel";
  const Tunable* tunable = this->tunable(name);
  if (!tunable) {
    const std::string known = joined(tunables_, [](const Tunable& t) { return t.name; });
    const std::string meant = did_you_mean(name, tunables_, [](const Tunable& t) { return t.name; });
    throw UsageError("kernel " + id + " has no setting '" + std::string{name} + "'" + then_list(meant, "it has") +
                     (known.empty() ? "none" : known));
  }
  std::optional<std::string> allowed = tunable->allowed(value);
  if (!allowed) {
    const std::string meant = did_you_mean(value, tunable->values, [](const char* each) { return each; });
    throw UsageError(id + ": " + tunable->name + " cannot be '" + std::string{value} + "'" +
                     then_list(meant, "allowed values") + tunable->allowed_text());
  }
  values_[tunable->name] = std::move(*allowed);
}

void Settings::set(const Values& changes) {
  for (const auto& [name, value] : changes) set(name, value);
}

const std::string& Settings::text(std::string_view name) const {
  return values_.find(name)->second;
}

int Settings::integer(std::string_view name, int otherwise) const {
  const std::string& value = text(name);
  int number = otherwise;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  return failed == std::errc{} && end == value.data() + value.size() ? number : otherwise;
}

int Settings::period() const {
  const auto found = std::ranges::find_if(tunables_, &Tunable::is_period);
  return found == tunables_.end() ? 1 : integer(found->name);
}

std::string Settings::to_string() const {
  std::string text;
  for (const auto& [name, value] : values_) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

Settings::Values Settings::values_of(std::string_view text) {
  Values values;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
    const std::size_t equals = setting.find('=');
    if (equals != std::string_view::npos) values.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return values;
}

std::string Settings::changes() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    if (value != tunable(name)->initial) text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

void ForceKernel::evaluate(const ForceArgs& args) {
  if (args.targets) {
    if (!takes_targets_) {
      throw UsageError(
          "this kernel always evaluates every body; choose one for which `orrery kernels` lists 'targets'");
    }
    if (args.targets.count < 1 || args.targets.count > args.count) {
      throw std::logic_error(std::to_string(args.targets.count) + " targets of " + std::to_string(args.count) +
                             " bodies; allowed: 1 to the number of bodies");
    }
  }
  do_evaluate(args);
}

int thread_count(const Settings& settings) {
  return settings.integer("threads", usable_threads());
}

Settings::Values with_decided_threads(const KernelInfo& kernel, Settings::Values values) {
  const Tunable* const threads = kernel.tunable("threads");
  if (threads && threads->decides_digits) {
    values.insert_or_assign(threads->name, std::to_string(thread_count(Settings{kernel, values})));
  }
  return values;
}

std::unique_ptr<ForceKernel> KernelInfo::make(const Settings& settings, const cuda::Device* device) const {
  std::unique_ptr<ForceKernel> kernel = create(settings, device);
  kernel->takes_targets_ = takes_targets;
  return kernel;
}

#if ORRERY_HAVE_CUDA
namespace {

constexpr int warp = 32;

std::string symbol([[maybe_unused]] cudaKernel_t function) {
#if CUDART_VERSION >= 12030
  const char* name = nullptr;
  ORRERY_CUDA_CHECK(cudaFuncGetName(&name, reinterpret_cast<const void*>(function)));
  return name;
#else
  return {};
#endif
}

/// Occupancy of one multiprocessor by a launch, for any block size.
class Residency {
 public:
  Residency(const cuda::Device& device, const MainLaunch& launch)
      : attributes{cuda::attributes_of(device, launch.function)}, device_{device}, launch_{launch} {}

  std::size_t dynamic_bytes(int block) const {
    return launch_.shared_per_thread * static_cast<std::size_t>(block) + launch_.shared_fixed;
  }
  /// Returns the number of resident blocks; 0 if a block of this size does not fit.
  int blocks(int block) const {
    const std::size_t dynamic = dynamic_bytes(block);
    if (block > attributes.maxThreadsPerBlock) return 0;
    if (dynamic > static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) return 0;
    return cuda::resident_blocks(device_, launch_.function, block, dynamic);
  }
  double occupancy(int block) const {
    return static_cast<double>(blocks(block) * cuda::ceil_div(block, warp)) / (max_threads_ / warp);
  }

  const cudaFuncAttributes attributes;

 private:
  const cuda::Device& device_;
  const MainLaunch launch_;
  const int max_threads_ = device_.attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
};

}  // namespace

std::optional<KernelCard> kernel_card(const ForceKernel& kernel, const cuda::Device* device, const Law& law, int count,
                                      const MassRange& masses) {
  if (!device) return std::nullopt;
  const MainLaunch launch = kernel.main_launch(law, count, masses);
  if (!launch.function) return std::nullopt;
  const Residency residency{*device, launch};
  KernelCard card{.function = launch.function,
                  .name = symbol(launch.function),
                  .architecture = residency.attributes.binaryVersion,
                  .registers = residency.attributes.numRegs,
                  .local_bytes = residency.attributes.localSizeBytes,
                  .shared_bytes = residency.attributes.sharedSizeBytes + residency.dynamic_bytes(launch.block),
                  .block = launch.block,
                  .blocks = launch.blocks,
                  .blocks_per_multiprocessor = residency.blocks(launch.block),
                  .occupancy = residency.occupancy(launch.block)};
  for (const int block : block_values.all) {
    if (const double occupancy = residency.occupancy(block); occupancy > card.best_occupancy) {
      card.best_block = block;
      card.best_occupancy = occupancy;
    }
  }
  if (card.blocks_per_multiprocessor > 0) {
    card.waves = static_cast<double>(card.blocks) / card.blocks_per_multiprocessor / device->multiprocessors();
  }
  return card;
}

#else

std::optional<KernelCard> kernel_card(const ForceKernel&, const cuda::Device*, const Law&, int, const MassRange&) {
  return std::nullopt;  // builds without CUDA have no CUDA kernels
}

#endif

}  // namespace orrery
