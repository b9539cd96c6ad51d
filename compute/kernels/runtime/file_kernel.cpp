#include "compute/kernels/runtime/file_kernel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/names.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr std::size_t most_other_bodies = 4097, most_targets = 4096;

/// Returns a copy of `bodies`, or of the first ones if there are many, rotated by 90 degrees about z and with the
/// masses in reverse order.
std::vector<Vec4> other_bodies(std::span<const Vec4> bodies) {
  std::vector<Vec4> others(std::min(bodies.size(), most_other_bodies));
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Vec4& body = bodies[i];
    others[i] = {-body.y, body.x, body.z, bodies[others.size() - 1 - i].w};
  }
  return others;
}

/// Returns some of the targets `all`, or of all bodies if `all` is empty, in reverse order. So most of them differ from
/// their index in the list.
std::vector<int> some_targets(std::size_t bodies, std::span<const int> all) {
  const std::size_t places = all.empty() ? bodies : all.size();
  const std::size_t distance = std::max<std::size_t>(3, (places + most_targets - 1) / most_targets);
  std::vector<int> targets;
  for (auto i = static_cast<std::ptrdiff_t>(places) - 1; i >= 0; i -= static_cast<std::ptrdiff_t>(distance)) {
    targets.push_back(all.empty() ? static_cast<int>(i) : all[static_cast<std::size_t>(i)]);
  }
  return targets;
}

double length(double x, double y, double z) {
  return std::sqrt(x * x + y * y + z * z);
}

bool finite(const Vec4& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

/// Returns the median length of the finite accelerations; 0 if there are none.
double median_length(std::span<const Vec4> accelerations) {
  std::vector<double> lengths;
  for (const Vec4& a : accelerations) {
    if (finite(a)) lengths.push_back(length(a.x, a.y, a.z));
  }
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

/// Returns whether two accelerations of a body agree within 2 tolerance.max. Where pulls nearly cancel, the relative
/// error of their sum is large. So the difference is relative to `usual`, the median length, if that is greater.
bool agree(const Vec4& a, const Vec4& b, double usual, const Tolerance& tolerance) {
  if (!finite(a) && !finite(b)) return true;  // the caller reports them
  const double size = std::max(length(a.x, a.y, a.z), usual);
  const double difference = length(double{a.x} - b.x, double{a.y} - b.y, double{a.z} - b.z);
  return difference <= 2 * tolerance.max * (size == 0 ? 1 : size);
}

void require_same(std::span<const Vec4> first, std::span<const Vec4> second, const Tolerance& tolerance) {
  const double usual = median_length(first);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (agree(first[i], second[i], usual, tolerance)) continue;
    throw std::runtime_error("a second call with the same " + counted_bodies(first.size()) +
                             " gives another acceleration of body " + std::to_string(i) +
                             ": the kernel keeps something from one call to the next");
  }
}

void require_targets_alone(std::span<const Vec4> of_all, std::span<const Vec4> of_targets, std::span<const int> targets,
                           const Tolerance& tolerance) {
  const std::string with =
      "with " + format_count(targets.size()) + " of " + counted_bodies(of_all.size()) + " as targets, ";
  std::vector<bool> listed(of_all.size());
  for (const int target : targets) listed[static_cast<std::size_t>(target)] = true;
  const double usual = median_length(of_all);
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    const std::string body = "body " + std::to_string(i);
    if (!listed[i] && !std::isnan(of_targets[i].x)) {
      throw std::runtime_error(with + "the kernel writes " + body +
                               ", which is none: the k-th body to finish is targets.body(k)");
    }
    if (!listed[i] || agree(of_all[i], of_targets[i], usual, tolerance)) continue;
    throw std::runtime_error(with + "the acceleration of " + body +
                             (finite(of_targets[i]) ? " is another one than with more bodies as targets"
                                                    : " is missing or not finite: epilogue.finish() must be called "
                                                      "for every target"));
  }
}

}  // namespace

std::string no_file_kernels() {
  return ORRERY_HAVE_CUDA ? ""
                          : "this build has no CUDA kernels: install the CUDA toolkit, 12.8 or later, and build again";
}

void require_free_id(const KernelCatalog& kernels, const KernelFile& file) {
  const KernelPtr present = kernels.find_or_null(file.id);
  const bool reserved = file.id == "auto" || file.id == "all";
  if (!reserved && (!present || present->revision > 0)) return;
  throw KernelFileError{file.name,
                        {{file.id_line, true,
                          "the id '" + file.id + "' is " + (reserved ? "reserved" : "that of a built-in kernel") +
                              "; choose another one. Taken: " + joined_ids(kernels.all())}}};
}

KernelPtr put_file_kernel(KernelCatalog& kernels, std::shared_ptr<const KernelFile> file, int version,
                          [[maybe_unused]] FileKernelUse use, [[maybe_unused]] const Compiler& compiler) {
  require_free_id(kernels, *file);
  if (const std::string reason = no_file_kernels(); !reason.empty()) {
    throw UsageError(file->name + ": a kernel file needs CUDA, and " + reason);
  }
  std::vector<std::vector<const char*>> values;
  std::vector<Tunable> tunables;
  for (const FileTunable& tunable : file->tunables) {
    std::vector<const char*>& list = values.emplace_back();
    for (const std::string& value : tunable.values) list.push_back(value.c_str());
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FileTunable& tunable = file->tunables[i];
    tunables.push_back({.name = tunable.name.c_str(),
                        .notes = tunable.notes.c_str(),
                        .values = values[i],
                        .initial = tunable.initial.c_str()});
  }
  const std::string source = "file " + file->name + ", version " + std::to_string(version);
  return kernels.put(
      {.id = file->id.c_str(),
       .title = file->title.c_str(),
       .notes = file->notes.c_str(),
       .source = source.c_str(),
       .lesson = "A kernel of your own: see docs/usage/kernels-of-your-own.md.",
       .backend = Backend::cuda,
       .tunables = tunables,
       .tolerance = file->tolerance,
       .repeatable = false,  // unknown
       .takes_targets = true,
       .compiles = true,
       .create = [=](const Settings& settings, const cuda::Device* device) -> std::unique_ptr<ForceKernel> {
#if ORRERY_HAVE_CUDA
         if (device) return load_file_kernel(file, settings, *device, use, compiler);
         compile_for_all_laws(*file, settings.values(), usual_architecture, compiler);
         return nullptr;
#else
         (void)settings, (void)device;
         return nullptr;
#endif
       },
       .file_text = file->text.c_str(),
       .file_version = version});
}

std::vector<Vec4> checked_accelerations(std::span<const Vec4> bodies, const Tolerance& tolerance,
                                        const KernelCall& call, std::span<const int> targets) {
  const std::vector<Vec4> others = other_bodies(bodies);
  const std::vector<Vec4> first_of_others = call(others, {}), first = call(bodies, targets);
  require_same(first_of_others, call(others, {}), tolerance);
  std::vector<Vec4> last = call(bodies, targets);
  require_same(first, last, tolerance);
  const std::vector<int> some = some_targets(bodies.size(), targets);
  require_targets_alone(last, call(bodies, some), some, tolerance);
  return last;
}

}  // namespace orrery
