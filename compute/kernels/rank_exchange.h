#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/core/message.h"

namespace orrery {

/// The ranks among which the bodies of an evaluation are spread, as one of them sees them.
class RankExchange {
 public:
  virtual ~RankExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;  ///< number of ranks
  /// Every rank calls this: outgoing[r] goes to each other rank r, and incoming[r] becomes what r sent to this rank.
  /// Both have size() entries; those of this rank are not used. Messages may be empty.
  virtual void exchange(std::span<const MessageWriter> outgoing, std::vector<std::vector<std::byte>>& incoming) = 0;
  /// Throws std::runtime_error if no message may have so many bytes.
  virtual void check_size(std::size_t /*bytes*/) const {}
  /// Whether the message of another rank for the next exchange is there, and is empty.
  virtual bool has_empty_message() = 0;
};

}  // namespace orrery
