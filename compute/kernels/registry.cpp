#include <algorithm>
#include <array>
#include <charconv>

#include "compute/core/error.h"
#include "compute/kernels/kernel.h"

namespace orrery {

#define X(stem) extern const KernelInfo kernel_##stem;
#include "kernel_list.inc"
#undef X

namespace {

#define X(stem) &kernel_##stem,
constexpr std::array all{
#include "kernel_list.inc"
};
#undef X

template <class Range, class Name>
std::string joined(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) text += (text.empty() ? "" : ", ") + std::string{name(item)};
  return text;
}

}  // namespace

const char* to_string(Backend backend) {
  return backend == Backend::cuda ? "cuda" : "cpu";
}

std::span<const KernelInfo* const> kernels() {
  return all;
}

const KernelInfo& find_kernel(std::string_view id) {
  const auto found = std::ranges::find_if(all, [&](const KernelInfo* kernel) { return id == kernel->id; });
  if (found != all.end()) return **found;
  const std::string note = ORRERY_HAVE_CUDA ? "" : " (this build has no CUDA kernels: it found no CUDA toolkit)";
  throw UsageError("unknown kernel '" + std::string{id} +
                   "'; known kernels: " + joined(all, [](const KernelInfo* kernel) { return kernel->id; }) + note);
}

Settings::Settings(const KernelInfo& kernel) : kernel_{&kernel} {
  for (const Tunable& tunable : kernel.tunables) values_[tunable.name] = tunable.initial;
}

void Settings::set(std::string_view name, std::string_view value) {
  const auto tunables = kernel_ ? kernel_->tunables : std::span<const Tunable>{};
  const std::string id = kernel_ ? kernel_->id : "no kernel";
  const auto tunable = std::ranges::find_if(tunables, [&](const Tunable& t) { return name == t.name; });
  if (tunable == tunables.end()) {
    const std::string known = joined(tunables, [](const Tunable& t) { return t.name; });
    throw UsageError("kernel " + id + " has no tunable '" + std::string{name} +
                     "'; it has: " + (known.empty() ? "none" : known));
  }
  if (std::ranges::find(tunable->values, value, [](const char* v) { return std::string_view{v}; }) ==
      tunable->values.end()) {
    throw UsageError(id + ": " + tunable->name + " cannot be '" + std::string{value} +
                     "'; allowed values: " + joined(tunable->values, [](const char* v) { return v; }));
  }
  values_[tunable->name] = value;
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

std::string Settings::to_string() const {
  std::string text;
  for (const auto& [name, value] : values_) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

}  // namespace orrery
