#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace orrery::cuda {

class Device;

/// Hardware counters to read, and the number of runs of the work that this takes. Made on the host.
struct CounterPlan {
  std::string chip;
  std::vector<std::string> metrics;       ///< metrics that the chip has
  std::vector<std::string> missing;       ///< requested metrics that the chip does not have
  std::vector<std::uint8_t> config{};     ///< CUPTI's config image
  std::vector<std::uint8_t> available{};  ///< CUPTI's image of the counters that this process may read; empty: unknown
  int passes = 0;
};

/// Counter values of one marked part of the work.
struct CounterRange {
  std::string name;
  std::vector<double> values;  ///< one value per metric of CounterPlan::metrics
};

/// Marks the parts of the work for which counters are read. Parts do not overlap. Work that is enqueued after begin()
/// must have finished when end() is called.
class RangeMarks {
 public:
  virtual ~RangeMarks() = default;
  virtual void begin(const char* name) = 0;
  virtual void end() = 0;
};

/// Error of a CUPTI call. The text is one line with the cause and the cure.
class CuptiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// CUPTI's range profiler, NVIDIA's access to hardware counters. The library is part of the CUDA toolkit and is loaded
/// at run time. All functions throw CuptiError.
class Cupti {
 public:
  struct Functions;  ///< functions of the loaded library

  /// Loads the first of these libraries that exists. Throws if there is none, or if this build cannot use it.
  explicit Cupti(std::span<const std::string> libraries = usual_libraries());
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// Returns names and paths under which a CUDA toolkit has the library, the most likely first.
  static std::vector<std::string> usual_libraries();

  /// Returns the names of the chips that the library knows, such as "GH100". Needs no GPU.
  std::vector<std::string> chips() const;
  /// Returns the plan for a chip. Needs no GPU.
  CounterPlan plan(const std::string& chip, std::span<const std::string> metrics) const;
  /// Returns the plan for this device, without counters that this process may not read. Throws if this process may not
  /// profile at all.
  CounterPlan plan(const Device& device, std::span<const std::string> metrics) const;
  /// Runs `work` once per pass; it must do the same each time. Returns the counters of the parts that it marked, at
  /// most `most_ranges`. Activates the device.
  std::vector<CounterRange> measure(const Device& device, const CounterPlan& plan, std::size_t most_ranges,
                                    const std::function<void(RangeMarks& marks)>& work) const;

 private:
  std::unique_ptr<Functions> functions_;
};

}  // namespace orrery::cuda
