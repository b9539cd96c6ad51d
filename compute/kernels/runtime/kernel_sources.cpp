#include "compute/kernels/runtime/kernel_sources.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace orrery {

std::span<const SourceFile> embedded_compute_sources();

namespace {

/// Stand-ins for host headers that headers with device code include. They declare only as much as NVRTC needs to read
/// those headers, mostly names of types. Only device_headers() include stand-ins.
constexpr SourceFile stand_ins[] = {
    {"bit", R"(#pragma once
#include <cstdint>
namespace std {
constexpr int countl_zero(uint64_t bits) {
  int zeros = 0;
  for (uint64_t bit = uint64_t{1} << 63; bit != 0 && !(bits & bit); bit >>= 1) ++zeros;
  return zeros;
}
}
)"},
    {"cuda_runtime_api.h", ""},  // built into NVRTC
    {"functional", R"(#pragma once
namespace std { template <class T> class function; }
)"},
    {"optional", R"(#pragma once
namespace std { template <class T> class optional {}; }
)"},
    {"span", R"(#pragma once
namespace std { template <class T> class span {}; }
)"},
    {"string_view", R"(#pragma once
namespace std { class string_view; }
)"},
    {"type_traits", R"(#pragma once
namespace std {
template <class T, T number>
struct integral_constant {
  static constexpr T value = number;
  constexpr operator T() const { return number; }
};
}
)"},
    {"utility", R"(#pragma once
namespace std {
template <class T, T... numbers>
struct integer_sequence {};
template <class T, bool complete, T count, T... numbers>
struct integers_below : integers_below<T, count == 1, count - 1, count - 1, numbers...> {};
template <class T, T count, T... numbers>
struct integers_below<T, true, count, numbers...> {
  using type = integer_sequence<T, numbers...>;
};
template <class T, T count>
using make_integer_sequence = typename integers_below<T, count == 0, count>::type;
}
)"},
    {"vector", R"(#pragma once
#include <cstddef>
namespace std {
template <class T>
class vector {
 public:
  const T& operator[](size_t) const;
  friend bool operator==(const vector&, const vector&) = default;
};
}
)"},
    {"compute/cuda/device.h", R"(#pragma once
namespace orrery::cuda { class Device; }
)"},
    {"compute/cuda/arrays.h", R"(#pragma once
namespace orrery::cuda {
class Device;
template <class T> class DeviceArray {};
}
)"},
    {"compute/cuda/launch.h", R"(#pragma once
namespace orrery::cuda {
class Device;
template <class... Params, class... Arguments> void launch(Arguments...);
}
#if __CUDA_ARCH__ >= 900
__device__ inline void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif
)"},
    {"compute/kernels/kernel.h", R"(#pragma once
#include <cstddef>
namespace orrery {
struct ForceArgs;
struct DeviceBlock;
}
)"},
};

/// Former names of headers, which older kernel files include, and the current headers with their contents.
constexpr auto former_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"compute/core/force_law.h", "compute/core/law.h"},
    {"compute/core/low_words.h", "compute/core/vec.h"},
    {"compute/kernels/body_pass.h", "compute/kernels/epilogue.h"},
    {"compute/kernels/parts/counted_tiles.h", "compute/kernels/parts/inner_loop.h"},
    {"compute/kernels/parts/pair_constants.h", "compute/kernels/parts/device_float.h"},
    {"compute/kernels/parts/register_banks.h", "compute/kernels/parts/inner_loop.h"},
    {"compute/kernels/parts/unrolled.h", "compute/kernels/parts/inner_loop.h"},
    {"compute/kernels/targets.h", "compute/kernels/epilogue.h"},
    {"compute/kernels/tree/body_keys.h", "compute/kernels/tree/tree_cube.h"},
    {"compute/kernels/tree/cell_pull.inl", "compute/kernels/tree/multipole.h"},
    {"compute/kernels/tree/domain_border.h", "compute/kernels/tree/domains.h"},
    {"compute/kernels/tree/domain_layout.h", "compute/kernels/tree/domains.h"},
    {"compute/kernels/tree/high_expansion.h", "compute/kernels/tree/multipole.h"},
    {"compute/kernels/tree/high_expansion.inl", "compute/kernels/tree/multipole.h"},
    {"compute/kernels/tree/hilbert.h", "compute/kernels/tree/tree_cube.h"},
    {"compute/kernels/tree/local_expansion.inl", "compute/kernels/tree/multipole.h"},
    {"compute/kernels/tree/morton.h", "compute/kernels/tree/tree_cube.h"},
    {"compute/kernels/tree/octree_kernels.h", "compute/kernels/tree/octree.h"},
    {"compute/kernels/tree/octree_moments.h", "compute/kernels/tree/octree.h"},
    {"compute/kernels/tree/tree_units.h", "compute/kernels/tree/tree_cube.h"},
});

/// Headers with device code that NVRTC cannot read, even with stand-ins, and the reason.
constexpr auto not_for_files = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"compute/cuda/block.h", "it needs CUB, which the compiler at run time does not have"},
    {"compute/kernels/tree/cuda_tree_lock.h", "it needs <cuda/atomic>, which the compiler at run time does not have"},
});

std::string_view folder_of(std::string_view name) {
  return name.substr(0, name.rfind('/') + 1);
}

std::string_view stem_of(std::string_view name) {
  name.remove_prefix(folder_of(name).size());
  return name.substr(0, name.rfind('.'));
}

bool is_header(std::string_view name) {
  return name.ends_with(".h") || name.ends_with(".inl");
}

bool is_kernel(std::string_view name) {
  const std::string_view stem = stem_of(name);
  return !is_header(name) && (stem.starts_with("cpu_") || stem.starts_with("cuda_"));
}

/// An #include line of a text.
struct IncludeLine {
  std::size_t begin, end;  ///< range of the name in the text
  std::string_view name;
};

std::vector<IncludeLine> includes_of(std::string_view text) {
  constexpr std::string_view word = "#include ";
  std::vector<IncludeLine> lines;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t begin = at + word.size() + 1;
    if ((at > 0 && text[at - 1] != '\n') || begin > text.size()) continue;
    const std::size_t end = std::min(text.find_first_of("\">\n", begin), text.size());
    lines.push_back({begin, end, text.substr(begin, end - begin)});
  }
  return lines;
}

const SourceFile* stand_in(std::string_view name) {
  const auto* const found = std::ranges::find(stand_ins, name, &SourceFile::name);
  return found == std::end(stand_ins) ? nullptr : found;
}

bool has_device_code(const SourceFile& source) {
  return source.bytes.find("ORRERY_HD") != std::string_view::npos ||
         source.bytes.find("__device__") != std::string_view::npos;
}

using Included = std::map<const SourceFile*, std::vector<const SourceFile*>>;

/// Returns the embedded files that each embedded file includes.
const Included& included_files() {
  static const Included all = [] {
    Included files;
    for (const SourceFile& source : embedded_compute_sources()) {
      for (const IncludeLine& line : includes_of(source.bytes)) {
        if (const SourceFile* const included = find_source(line.name)) files[&source].push_back(included);
      }
    }
    return files;
  }();
  return all;
}

/// Adds the embedded files that `source` includes, and what these include, to `found`.
void add_included(const SourceFile& source, std::set<const SourceFile*>& found) {
  const auto files = included_files().find(&source);
  if (files == included_files().end()) return;
  for (const SourceFile* included : files->second) {
    if (found.insert(included).second) add_included(*included, found);
  }
}

/// Headers for kernel files. Their includes of host headers are replaced by includes of stand-ins.
class DeviceHeaders {
 public:
  DeviceHeaders() {
    std::set<const SourceFile*> used;
    for (const SourceFile& source : embedded_compute_sources()) {
      if (source.name.ends_with(".cu")) add_included(source, used);
    }
    add(*find_source("compute/kernels/runtime/device_api.h"));
    for (const SourceFile* source : used) {
      if (has_device_code(*source) && why_no_device_header(source->name).empty()) add(*source);
    }
    std::ranges::sort(files_, {}, &SourceFile::name);
    visible_ = files_.size();
    for (const SourceFile& source : stand_ins) files_.push_back({keep(prefixed(source.name)), source.bytes});
    for (const auto& [former, present] : former_names) {
      files_.push_back({former, keep("#include \"" + std::string{present} + "\"\n")});
    }
  }
  std::span<const SourceFile> visible() const { return std::span{files_}.first(visible_); }
  std::span<const SourceFile> all() const { return files_; }

 private:
  static std::string prefixed(std::string_view name) { return "host/" + std::string{name}; }
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  void add(const SourceFile& source) {
    if (std::ranges::find(files_, source.name, &SourceFile::name) != files_.end()) return;
    files_.push_back({source.name, {}});
    const std::size_t place = files_.size() - 1;
    std::string text{source.bytes};
    const std::vector<IncludeLine> lines = includes_of(source.bytes);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      if (stand_in(line->name)) {
        text.replace(line->begin, line->end - line->begin, prefixed(line->name));
      } else if (const SourceFile* included = find_source(line->name)) {
        add(*included);
      }
    }
    files_[place].bytes = keep(std::move(text));
  }

  std::deque<std::string> texts_;
  std::vector<SourceFile> files_;  // the visible ones, then stand-ins and former names
  std::size_t visible_ = 0;
};

const DeviceHeaders& headers() {
  static const DeviceHeaders headers;
  return headers;
}

/// Returns whether `source` defines what `header` declares. By convention, X.cu and X_more.cu implement X.h.
bool implements(const SourceFile& source, const SourceFile& header) {
  if (is_header(source.name) || is_kernel(source.name) || !is_header(header.name)) return false;
  if (folder_of(source.name) != folder_of(header.name)) return false;
  const std::string_view stem = stem_of(header.name), own = stem_of(source.name);
  if (own != stem && !own.starts_with(std::string{stem} + '_')) return false;
  std::set<const SourceFile*> included;
  add_included(source, included);
  return included.contains(&header);
}

/// Returns whether the listing of a kernel should have this file: it has code of kernels, or code for the device.
bool is_worth_reading(const SourceFile& source) {
  constexpr std::string_view kernels = "compute/kernels/";
  return (source.name.starts_with(kernels) && folder_of(source.name) != kernels) || has_device_code(source);
}

std::vector<const SourceFile*> files_of(const SourceFile& kernel) {
  std::set<const SourceFile*> found;
  add_included(kernel, found);
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const SourceFile& source : embedded_compute_sources()) {
      const auto declares = [&](const SourceFile* header) { return implements(source, *header); };
      if (!std::ranges::any_of(found, declares) || !found.insert(&source).second) continue;
      add_included(source, found);
    }
  }
  std::vector<const SourceFile*> files;
  for (const SourceFile* source : found) {
    if (source != &kernel && is_worth_reading(*source)) files.push_back(source);
  }
  const auto place = [&](const SourceFile* source) {
    const bool elsewhere = folder_of(source->name) != folder_of(kernel.name);
    return std::tuple{elsewhere, is_header(source->name), source->name};
  };
  std::ranges::sort(files, {}, place);
  files.insert(files.begin(), &kernel);
  return files;
}

}  // namespace

std::span<const SourceFile> device_headers() {
  return headers().visible();
}

std::span<const SourceFile> compiler_headers() {
  return headers().all();
}

std::string_view why_no_device_header(std::string_view name) {
  const auto found = std::ranges::find(not_for_files, name, &decltype(not_for_files)::value_type::first);
  return found == not_for_files.end() ? std::string_view{} : found->second;
}

std::span<const KernelSource> kernel_sources() {
  static const std::vector<KernelSource> kernels = [] {
    std::vector<KernelSource> all;
    for (const SourceFile& source : embedded_compute_sources()) {
      if (is_kernel(source.name)) all.push_back({kernel_id_of(source), files_of(source)});
    }
    return all;
  }();
  return kernels;
}

std::string kernel_id_of(const SourceFile& source) {
  std::string id{stem_of(source.name)};
  std::ranges::replace(id, '_', '-');
  return id;
}

const SourceFile* find_source(std::string_view name) {
  const auto found = std::ranges::find(embedded_compute_sources(), name, &SourceFile::name);
  return found == embedded_compute_sources().end() ? nullptr : &*found;
}

}  // namespace orrery
