#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compute/core/backend.h"
#include "compute/core/bodies.h"
#include "compute/core/error.h"
#include "compute/core/law.h"
#include "compute/core/message.h"
#include "compute/core/text.h"
#include "compute/core/vec.h"
#include "compute/kernels/division.h"
#include "compute/kernels/epilogue.h"
#include "compute/kernels/tree_facet.h"

// Types behind cudaStream_t and cudaKernel_t, so that this header needs no CUDA.
struct CUstream_st;
struct CUkern_st;

namespace orrery::cuda {

class Device;

}  // namespace orrery::cuda

namespace orrery {

class CollectiveWork;
struct KernelInfo;

const char* to_string(Backend backend);

/// A setting of a kernel: its name and its values, as the command line and the panel show them.
struct Tunable {
  const char* name;
  const char* notes;                       ///< one sentence for the tooltip
  std::span<const char* const> values;     ///< allowed values; if `numbers` allows more, the ones that are worth a try
  const char* initial;                     ///< one of `values`
  int (*largest)() = nullptr;              ///< returns the largest value worth trying on this machine; null: unknown
  std::optional<Range<double>> numbers{};  ///< range of further allowed values; none: only `values` are allowed
  bool whole = false;                      ///< only whole `numbers` are allowed
  /// A larger number is faster and less accurate. `auto` searches `numbers`, which are positive, for the largest one
  /// that is accurate enough.
  bool trades_accuracy = false;
  /// The value changes the order of the additions, and so the last digits of the forces.
  bool decides_digits = false;
  /// The value is a period: the times of evaluations differ, and repeat after this number of evaluations.
  bool is_period = false;

  /// Returns the unique text for `value`, such as "0.7" for "0.70"; none if the value is not allowed.
  std::optional<std::string> allowed(std::string_view value) const;
  bool allows(std::string_view value) const { return allowed(value).has_value(); }
  /// Returns the range of numbers as text, such as "a number from 0.05 to 1.2". The setting must have `numbers`.
  std::string numbers_text() const;
  /// Returns all allowed values as text, such as "0.5, 0.7, or a number from 0.05 to 1.2".
  std::string allowed_text() const;
  /// Returns `values` with the allowed value `present` inserted at its place in the order.
  std::vector<std::string> values_with(const std::string& present) const;
  /// Returns the `values` that a sweep measures: all up to `largest`.
  std::vector<std::string> values_to_measure() const;
};

/// Values of all settings of one kernel. Keeps the texts that it refers to alive.
class Settings {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;

  Settings() = default;
  /// Creates the kernel's initial values, changed by `changes`. Throws as set().
  explicit Settings(const KernelInfo& kernel, const Values& changes = {});

  /// Changes a setting. Throws UsageError if it does not exist or the value is not allowed; the text lists choices.
  void set(std::string_view name, std::string_view value);
  void set(const Values& changes);

  /// Returns the value of a setting, which must exist: a kernel reads only settings that it declares.
  const std::string& text(std::string_view name) const;
  /// Returns the value as an integer, or `otherwise` if it is not a number, such as `auto`.
  int integer(std::string_view name, int otherwise = 0) const;
  /// Returns the number of evaluations after which their times repeat: the value of the setting with is_period; 1 if
  /// there is none.
  int period() const;
  bool has(std::string_view name) const { return values_.contains(name); }
  /// Returns the value as text; empty if there is no such setting.
  std::string text_or_none(std::string_view name) const { return has(name) ? text(name) : std::string{}; }

  /// Returns the values as text, such as "block=256 split=auto", in the order of the names.
  std::string to_string() const;
  /// Returns the values in a text that to_string() wrote. Ignores words other than "NAME=VALUE".
  static Values values_of(std::string_view text);
  /// Returns the values that differ from the initial ones, in the format of to_string().
  std::string changes() const;
  const Values& values() const { return values_; }
  friend bool operator==(const Settings& a, const Settings& b) { return a.values_ == b.values_; }

 private:
  const Tunable* tunable(std::string_view name) const;

  const char* kernel_id_ = nullptr;  // null: no kernel
  std::span<const Tunable> tunables_;
  std::shared_ptr<const void> texts_;
  Values values_;
};

/// Receiver of a call at the begin and end of each phase of an evaluation, while its work is enqueued. It may block
/// until that work has finished, so that a profiler measures each phase alone.
class PhaseMarks {
 public:
  virtual ~PhaseMarks() = default;
  virtual void begin(const char* phase) = 0;
  virtual void end() = 0;
};

/// Arguments of an evaluation: the accelerations of the targets due to all bodies. Arrays are in memory of the kernel's
/// backend.
struct ForceArgs {
  const Vec4* bodies = nullptr;  ///< x, y, z, m of `count` bodies
  /// Low words of double-float coordinates, for kernels with reads_low_words; null: there are none.
  const Vec4* bodies_low = nullptr;
  int count = 0;      ///< >= 1
  Targets targets{};  ///< bodies whose accelerations are evaluated; no indices: every body
  MassRange masses;   ///< range of the bodies' masses
  Law law;
  Epilogue epilogue;
  CUstream_st* stream = nullptr;  ///< CUDA kernels enqueue here and return; CPU kernels ignore it
  /// Counter to which a tree adds the number of interactions that it evaluates; null: not counted. A CUDA kernel writes
  /// the counter on the GPU.
  std::uint64_t* evaluated = nullptr;
  /// Makes a tree time its phases for its report. On a GPU, the evaluation then takes a few us longer.
  bool times_phases = false;
  PhaseMarks* phase_marks = nullptr;  ///< called by a CUDA tree at the begin and end of its phases; may be null
  /// Flag that CPU kernels read at least every few ms; may be null. If it is set, they return early, with undefined
  /// results.
  const std::atomic<bool>* cancelled = nullptr;

  int target_count() const { return targets ? targets.count : count; }
};

/// Launch that evaluates the pairs in a CUDA kernel, for the kernel card.
struct MainLaunch {
  CUkern_st* function = nullptr;      ///< compiled into the program or loaded at run time; null: no CUDA kernel
  int block = 0;                      ///< threads in a block
  int blocks = 0;                     ///< blocks in the grid
  std::size_t shared_per_thread = 0;  ///< dynamic shared memory of a block in bytes: shared_per_thread for each thread,
  std::size_t shared_fixed = 0;       ///< and shared_fixed once
};

/// Floating-point operations of one interaction, as the literature counts them. An interaction with a cell takes more.
inline constexpr int flop_per_interaction = 20;

/// Interval of one device's time in an evaluation that several devices share. Between two spans, the device waits for
/// others.
struct DeviceSpan {
  const char* name = "";            ///< "hand out", "bodies", "tree", "cells", "walk", "forces" or "results"
  bool communicates = false;        ///< true: copies from or to other devices; false: work of this device
  double begin_ms = 0, end_ms = 0;  ///< time since the first device began
};

/// Times of one device in an evaluation that several devices share: working, copying and waiting.
struct DeviceLoad {
  int device = 0;                   ///< ordinal of the device
  double work_ms = 0;               ///< work on its own part and for all devices
  double copy_ms = 0;               ///< copies from and to other devices
  double wait_ms = 0;               ///< the rest: waits for other devices
  std::vector<DeviceSpan> spans{};  ///< in order of time
};

/// Arguments of an evaluation of accelerations and jerks. Arrays are in memory of the kernel's backend.
struct JerkArgs {
  const PreciseBody* bodies = nullptr;  ///< array of `count` bodies
  int count = 0;                        ///< >= 1
  Targets targets{};                    ///< bodies to evaluate; no indices: every body
  Law law;                              ///< without drag, which acts on a body, not on a pair: the caller adds it
  Pull* pulls = nullptr;                ///< one entry per body; only those of the targets are written
  CUstream_st* stream = nullptr;        ///< CUDA kernels enqueue here and return
  const std::atomic<bool>* cancelled = nullptr;  ///< see ForceArgs::cancelled

  /// Number of targets, at most targets.count, in device memory; null: there are targets.count. Allowed only for
  /// kernels with JerkFacet::counts_targets_on_device().
  const int* d_target_count = nullptr;

  int target_count() const { return targets ? targets.count : count; }
};

/// Implemented by kernels that Hermite integrators can use, see KernelInfo::gives_jerks.
class JerkFacet {
 public:
  virtual ~JerkFacet() = default;
  /// Evaluates accelerations and jerks. Correct for every count >= 1. Throws as ForceKernel::evaluate().
  virtual void evaluate_jerks(const JerkArgs& args) = 0;
  /// Returns whether JerkArgs::d_target_count is allowed for this many bodies. With it, the host need not wait for the
  /// number of targets.
  virtual bool counts_targets_on_device(int /*count*/) const { return false; }
};

/// Implemented by kernels that several ranks can evaluate together, each with only a part of the bodies. Each rank has
/// its own kernel, with the same settings. The results are bit for bit those of one kernel with all bodies.
class DomainFacet {
 public:
  virtual ~DomainFacet() = default;
  /// Divides all bodies, at least one, among the ranks, as nearly as possible into these parts. Sets `owners` to the
  /// rank of each body. Returns the division, which evaluate_domain() needs on every rank. Only rank 0 calls this.
  virtual MessageWriter divide(std::span<const Vec4> bodies, std::span<const Part> parts, std::vector<int>& owners) = 0;
  /// Divides the bodies in the same way when each rank has only some of them, perhaps none. Sets `owners` for the
  /// bodies of this rank. Every rank calls this. Unless `anew`, keeps the latest division if it still suits the bodies.
  virtual MessageWriter divide_own(std::span<const Vec4> bodies, std::span<const Part> parts, bool anew,
                                   CollectiveWork& work, std::vector<int>& owners) = 0;
  /// Does what ForceKernel::evaluate() does, for the bodies of this rank, args.bodies; there may be none. Every rank
  /// calls this. `ids`: indices among all bodies; empty: this rank's bodies are in the order of all bodies. If
  /// CollectiveWork::ok() is false afterwards, the results are undefined.
  virtual void evaluate_domain(const ForceArgs& args, std::span<const int> ids, MessageReader division,
                               CollectiveWork& work) = 0;
};

/// Number of arithmetic operations per lane in the inner loop of a CPU kernel, for one interaction. Additions,
/// multiplications, fused multiply-adds, roots and their estimates, and divisions count; loads do not.
/// arithmetic_test.cpp counts them in the source of the loops. The disassembly by g++ 12 has as many (x86-64, with
/// fused multiply-adds where the processor has vectors).
struct InteractionArithmetic {
  double gravity, attract_repel;
  int bits = 32;  ///< bits per number

  double operations(LawId law) const { return law == LawId::attract_repel ? attract_repel : gravity; }
  /// Returns the operations in 32-bit lanes, the unit of FmaLimit.
  double float_lanes(LawId law) const { return operations(law) * bits / 32; }
};

/// Operations of the scalar loop in scalar_rows.h, without fused multiply-adds.
inline constexpr InteractionArithmetic scalar_arithmetic{.gravity = 20, .attract_repel = 23};

/// Operations of the vector loop in simd_pull.inl: interactions with bodies in cpu-simd and cpu-tree.
inline constexpr InteractionArithmetic simd_arithmetic{.gravity = 16, .attract_repel = 18};

/// Implemented by direct sums on the CPU that state the arithmetic of an interaction.
class ArithmeticFacet {
 public:
  virtual ~ArithmeticFacet() = default;
  virtual InteractionArithmetic arithmetic() const = 0;
};

/// A kernel with fixed settings, which evaluates accelerations.
class ForceKernel {
 public:
  virtual ~ForceKernel() = default;
  /// Allocates the scratch memory that evaluate(), or ResidentFacet::hold(), needs for this many bodies. Without this
  /// call, those functions allocate it. Throws UsageError if memory is short; the text names an alternative.
  virtual void prepare(int /*count*/) {}
  /// Discards what evaluate() keeps from one call to the next. Call when the bodies were replaced: results would still
  /// be correct without this, but perhaps slow.
  virtual void bodies_replaced() {}
  /// Throws if another device failed in an evaluation. Call when this device has finished the evaluations.
  virtual void check_other_devices() {}
  /// Returns how each device spent one of the latest evaluations; empty for a single device, or if not yet known.
  virtual std::vector<DeviceLoad> device_loads() const { return {}; }
  /// Evaluates accelerations. Correct for every count >= 1. The device of a CUDA kernel must be active on the calling
  /// thread, see cuda::Device::activate(). Throws std::runtime_error (cuda::Error from a CUDA kernel), and UsageError
  /// if `args` list targets but the kernel's descriptor does not have takes_targets.
  void evaluate(const ForceArgs& args);
  /// Returns the number of interactions of a direct sum over `count` bodies: count^2, even if a kernel evaluates each
  /// pair once. Trees count their own interactions, see ForceArgs::evaluated.
  static double interactions(int count) { return static_cast<double>(count) * count; }
  /// Returns the interface of trees; null for a direct sum.
  virtual TreeFacet* tree() { return nullptr; }
  /// Returns the interface for jerks; null unless KernelInfo::gives_jerks.
  virtual JerkFacet* jerks() { return nullptr; }
  /// Returns the interface for several devices; not null if KernelInfo::divides.
  virtual PartitionFacet* partition() { return nullptr; }
  /// Returns the interface for ranks that each have a part of the bodies; null if every rank needs all bodies.
  virtual DomainFacet* domains() { return nullptr; }
  /// Returns the values of automatic settings for `count` bodies with masses in this range, such as "split 8"; may be
  /// empty.
  virtual std::string chosen(int /*count*/, const MassRange& /*masses*/) const { return {}; }
  /// Returns the launch with which evaluate() computes the pairs of `count` bodies with masses in this range.
  virtual MainLaunch main_launch(const Law& /*law*/, int /*count*/, const MassRange& /*masses*/) const { return {}; }

 protected:
  /// Evaluates after the checks of evaluate(): `args` list targets only if KernelInfo::takes_targets.
  virtual void do_evaluate(const ForceArgs& args) = 0;

 private:
  friend struct KernelInfo;

  bool takes_targets_ = false;
};

/// Errors against an fp64 direct sum that a kernel must stay within. The agreement tests and `auto` take both as
/// |da|/|a|. `orrery verify` takes them as fractions of W, the sum of the sizes of all terms, since |a| may nearly
/// vanish: see app/lab/force_promise.h.
struct Tolerance {
  double median;
  double max;
};

/// Descriptor of a kernel variant. Each kernel file in the list of compute/CMakeLists.txt defines exactly one; more can
/// be added at run time, see KernelCatalog.
struct KernelInfo {
  const char* id;     ///< the file stem with '-' for '_'; what --kernel takes
  const char* title;  ///< name in the panel
  const char* notes;  ///< one or two sentences for the tooltip and `orrery kernels`
  /// A text of docs/literature.md by author and title, and what it has of this kernel. For an idea of our own: the text
  /// that comes nearest, and then the idea. catalog_test.cpp lists the texts.
  const char* source;
  const char* lesson;  ///< lesson of the kernel, in a few sentences
  Backend backend;
  std::span<const Tunable> tunables;
  Tolerance tolerance;
  bool repeatable = true;            ///< equal arguments give equal bits; false if the order of the additions varies
  double pairs_per_interaction = 1;  ///< evaluations of the pair law; 0.5 if each serves both bodies
  bool takes_targets = false;        ///< ForceArgs may list targets
  /// Reads ForceArgs::bodies_low and passes accelerations in double to the epilogue. Other kernels use rounded
  /// positions.
  bool reads_low_words = false;
  bool gives_jerks = false;  ///< has ForceKernel::jerks(); `auto` chooses it only for integrators that need jerks
  bool divides = false;      ///< has ForceKernel::partition()
  bool is_tree = false;      ///< cells represent far bodies, so there are fewer than count^2 interactions. Has
                             ///< ForceKernel::tree() and, on the CPU, ForceKernel::domains()
  bool full_fp32 = true;     ///< true: as accurate as sums in float
  bool compiles = false;     ///< make() compiles the kernel, which may take seconds; a window does not wait for it
  /// Settings with which `auto` may choose the kernel, as Settings::to_string() writes them; all others have their
  /// initial values. `auto` finds values that trade accuracy itself. Empty: `auto` never chooses this kernel, because
  /// on every machine another kernel of at least its accuracy is faster, or because nobody has measured it yet. Say
  /// which in the pull request. Candidates of a tree have equal errors if they name equal values that trade accuracy.
  /// Candidates with another such value are for accuracies at which the others would need a smaller one.
  std::span<const char* const> candidates = {};
  /// Id of a kernel that is faster on every machine: `auto` chooses this kernel only if the other one is not accurate
  /// enough. Null: none.
  const char* faster = nullptr;
  /// Creates the kernel, for make().
  std::function<std::unique_ptr<ForceKernel>(const Settings& settings, const cuda::Device* device)> create;
  const char* file_text = nullptr;         ///< text of a kernel file, see parse_kernel_file(); null: built-in kernel
  int file_version = 0;                    ///< version of the kernel file, from 1; 0: built-in kernel
  std::shared_ptr<const void> texts = {};  ///< set by KernelCatalog: owns the texts and lists above
  int revision = 0;                        ///< set by KernelCatalog: n for the n-th kernel with this id; 0: built-in

  /// Returns the setting of this name; null if there is none.
  const Tunable* tunable(std::string_view name) const;
  /// Returns the setting that trades accuracy for time; null if there is none.
  const Tunable* accuracy_tunable() const;
  /// Returns a new kernel. `device` runs a CUDA kernel and must outlive it; a CPU kernel ignores it. Throws UsageError
  /// if the device cannot run this combination of settings.
  std::unique_ptr<ForceKernel> make(const Settings& settings, const cuda::Device* device) const;
};

/// Shared descriptor. It remains valid for its users even after the catalog has replaced it.
using KernelPtr = std::shared_ptr<const KernelInfo>;

/// Returns the number of threads that the setting `threads` of a CPU kernel chooses: `auto` takes every hardware thread
/// that this process may run on.
int thread_count(const Settings& settings);

/// Returns `values` with the actual number of threads in place of `auto`, if the kernel's bits depend on that number. A
/// run that continues on another machine then has the same bits.
Settings::Values with_decided_threads(const KernelInfo& kernel, Settings::Values values);

/// Returns whether both are the same revision of the same kernel.
inline bool same_kernel(const KernelInfo& a, const KernelInfo& b) {
  return std::string_view{a.id} == b.id && a.revision == b.revision;
}

/// Returns a new kernel, for KernelInfo::create. Its constructor takes settings and device, only settings, or nothing.
template <class Kernel>
std::unique_ptr<ForceKernel> create_kernel(const Settings& settings, [[maybe_unused]] const cuda::Device* device) {
  if constexpr (std::is_constructible_v<Kernel, const Settings&, const cuda::Device&>) {
    return std::make_unique<Kernel>(settings, *device);
  } else if constexpr (std::is_constructible_v<Kernel, const Settings&>) {
    return std::make_unique<Kernel>(settings);
  } else {
    return std::make_unique<Kernel>();
  }
}

}  // namespace orrery

/// Defines the only exported symbol of a kernel's file. The linker checks that its name is in the list of
/// compute/CMakeLists.txt.
#define ORRERY_KERNEL(stem, ...)         \
  extern const KernelInfo kernel_##stem; \
  const KernelInfo kernel_##stem {       \
    __VA_ARGS__                          \
  }

namespace orrery {

/// Character between the id of a kernel and its version in the argument of KernelCatalog::find().
inline constexpr char version_mark = '@';

/// Returns the argument with which KernelCatalog::find() finds exactly this kernel: "mine@2" for a kernel file,
/// otherwise the id.
inline std::string versioned_id(const KernelInfo& kernel) {
  std::string id = kernel.id;
  if (kernel.file_version > 0) id += version_mark + std::to_string(kernel.file_version);
  return id;
}

/// Resources that the main launch of a CUDA kernel uses on a device.
struct KernelCard {
  CUkern_st* function = nullptr;      ///< see MainLaunch
  std::string name;                   ///< symbol in the machine code; empty if the CUDA runtime is older than 12.3
  int architecture = 0;               ///< architecture of the machine code: 90 for sm_90
  int registers = 0;                  ///< registers per thread
  std::size_t local_bytes = 0;        ///< local memory per thread, such as spilled registers
  std::size_t shared_bytes = 0;       ///< shared memory per block, static and dynamic
  int block = 0, blocks = 0;          ///< threads per block, blocks in the grid
  int blocks_per_multiprocessor = 0;  ///< number of blocks that are resident at the same time
  double occupancy = 0;               ///< theoretical occupancy, 0 to 1: resident warps / maximum of a multiprocessor
  int best_block = 0;                 ///< smallest of 32, 64, 128, ... 1024 threads with the highest occupancy
  double best_occupancy = 0;          ///< occupancy with best_block
  double waves = 0;                   ///< blocks / blocks that are resident on the whole device
};

/// Returns the card of `kernel`, which was made for `device`, for `count` bodies with masses in this range; none for a
/// CPU kernel. Throws cuda::Error.
std::optional<KernelCard> kernel_card(const ForceKernel& kernel, const cuda::Device* device, const Law& law, int count,
                                      const MassRange& masses);

}  // namespace orrery
