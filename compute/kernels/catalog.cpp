#include "compute/kernels/catalog.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>

#include "compute/core/names.h"
#include "compute/kernels/kernel.h"

namespace orrery {

#define X(stem) extern const KernelInfo kernel_##stem;
#include "kernels_list.inc"
#undef X

namespace {

#define X(stem) &kernel_##stem,
constexpr std::array built_in{
#include "kernels_list.inc"
};
#undef X

/// Owner of copies of the texts and lists that a descriptor points to. Their addresses never change.
class Texts {
 public:
  const char* copy(const char* text) { return texts_.emplace_back(text ? text : "").c_str(); }
  std::span<const char* const> copy(std::span<const char* const> list) {
    std::vector<const char*>& copies = lists_.emplace_back();
    for (const char* text : list) copies.push_back(copy(text));
    return copies;
  }
  std::span<const Tunable> copy(std::span<const Tunable> list) {
    for (Tunable tunable : list) {
      tunable.name = copy(tunable.name);
      tunable.notes = copy(tunable.notes);
      tunable.values = copy(tunable.values);
      tunable.initial = copy(tunable.initial);
      tunables_.push_back(tunable);
    }
    return tunables_;
  }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> lists_;
  std::vector<Tunable> tunables_;
};

KernelPtr owned(KernelInfo kernel, int revision) {
  const auto texts = std::make_shared<Texts>();
  for (const char** text : {&kernel.id, &kernel.title, &kernel.notes, &kernel.source, &kernel.lesson}) {
    *text = texts->copy(*text);
  }
  if (kernel.faster) kernel.faster = texts->copy(kernel.faster);
  if (kernel.file_text) kernel.file_text = texts->copy(kernel.file_text);
  kernel.tunables = texts->copy(kernel.tunables);
  kernel.candidates = texts->copy(kernel.candidates);
  kernel.texts = texts;
  kernel.revision = revision;
  return std::make_shared<const KernelInfo>(std::move(kernel));
}

bool is_id(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

void require_sound(const KernelInfo& kernel) {
  const std::string id = kernel.id ? kernel.id : "";
  if (!is_id(id) || id == "auto" || id == "all") {
    throw UsageError("a kernel's id cannot be '" + id +
                     "'; it must be lower-case letters, digits and '-', and not 'auto' or 'all'");
  }
  if (!kernel.create) throw UsageError("kernel " + id + " has no function that creates it");
  for (const Tunable& tunable : kernel.tunables) {
    if (tunable.allows(tunable.initial)) continue;
    throw UsageError("kernel " + id + ": the initial value '" + tunable.initial + "' of " + tunable.name +
                     " is not allowed; allowed values: " + tunable.allowed_text());
  }
}

auto place_of(auto& kernels, std::string_view id) {
  return std::ranges::find_if(kernels, [&](const KernelPtr& kernel) { return id == kernel->id; });
}

}  // namespace

KernelCatalog::KernelCatalog(KernelSharing* sharing) : sharing_{sharing} {
  const auto keep = [](const KernelInfo*) {};  // no deletion: built-in descriptors are static
  for (const KernelInfo* kernel : built_in) kernels_.emplace_back(kernel, keep);
}

KernelPtr KernelCatalog::put(const KernelInfo& kernel) {
  require_sound(kernel);
  const std::lock_guard lock{mutex_};
  std::vector<KernelPtr>& revisions = revisions_[kernel.id];
  KernelPtr added = revisions.emplace_back(owned(kernel, static_cast<int>(revisions.size()) + 1));
  if (const auto place = place_of(kernels_, added->id); place != kernels_.end()) {
    *place = added;
  } else {
    kernels_.push_back(added);
  }
  return added;
}

void KernelCatalog::remove(std::string_view id) {
  const KernelPtr removed = find(id);
  const std::lock_guard lock{mutex_};
  std::erase(kernels_, removed);
}

std::vector<KernelPtr> KernelCatalog::all() const {
  const std::lock_guard lock{mutex_};
  return kernels_;
}

KernelPtr KernelCatalog::find(std::string_view id, std::string_view also) const {
  if (const std::size_t mark = id.find(version_mark); mark != std::string_view::npos) {
    return find_version(id.substr(0, mark), id.substr(mark + 1));
  }
  const std::vector<KernelPtr> kernels = all();
  return find_named(kernels, id, "kernel",
                    ORRERY_HAVE_CUDA ? "" : " (this build has no CUDA kernels: it found no CUDA toolkit)", also);
}

KernelPtr KernelCatalog::find_version(std::string_view id, std::string_view version) const {
  const std::lock_guard lock{mutex_};
  const auto revisions = revisions_.find(id);
  std::vector<std::string> known;
  for (std::size_t i = revisions == revisions_.end() ? 0 : revisions->second.size(); i-- > 0;) {
    const KernelPtr& kernel = revisions->second[i];
    if (kernel->file_version == 0) continue;
    known.insert(known.begin(), std::to_string(kernel->file_version));
    if (known.front() == version) return kernel;
  }
  throw UsageError("there is no version '" + std::string{version} + "' of a kernel '" + std::string{id} + "'" +
                   (known.empty() ? "; versions are those of a kernel file" : "; versions: " + joined(known)));
}

KernelPtr KernelCatalog::find_revision(std::string_view id, int revision) const {
  if (revision == 0) return find(id);
  const std::lock_guard lock{mutex_};
  const auto found = revisions_.find(id);
  const auto place = static_cast<std::size_t>(revision) - 1;
  if (found == revisions_.end() || place >= found->second.size()) {
    throw UsageError("this program never had that version of the kernel " + std::string{id});
  }
  return found->second[place];
}

KernelPtr KernelCatalog::find_or_null(std::string_view id) const {
  const std::lock_guard lock{mutex_};
  const auto place = place_of(kernels_, id);
  return place == kernels_.end() ? nullptr : *place;
}

}  // namespace orrery
