#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/kernels/kernel.h"

namespace orrery {

/// Which of several ranks or devices evaluates the acceleration of each body.
struct BodyOwners {
  std::vector<std::string> names{};  ///< of the ranks or devices, such as "rank 0"; empty: one alone evaluates all
  std::vector<int> of_body{};        ///< one per body, an index into `names`; empty: there are no names
  std::string why_unknown{};         ///< if this is not empty, the two above are, and it is the reason
  friend bool operator==(const BodyOwners&, const BodyOwners&) = default;
};

/// A kernel whose evaluations several ranks or devices share: a base class of its ForceKernel.
class OwnersFacet {
 public:
  virtual ~OwnersFacet() = default;
  /// Of `count` bodies, as in the latest evaluation of all of them of which it is known. None: of none yet.
  virtual std::optional<BodyOwners> owners(int count) const = 0;
  /// Between two evaluations: enqueues on their stream what owners() needs to know of the last one.
  virtual void read_owners(int /*count*/, CUstream_st* /*stream*/) {}
};

inline std::optional<BodyOwners> owners_of(const ForceKernel& kernel, int count) {
  const auto* const shared = dynamic_cast<const OwnersFacet*>(&kernel);
  return shared ? shared->owners(count) : BodyOwners{};
}
inline void read_owners(ForceKernel& kernel, int count, CUstream_st* stream) {
  if (auto* const shared = dynamic_cast<OwnersFacet*>(&kernel)) shared->read_owners(count, stream);
}

}  // namespace orrery
