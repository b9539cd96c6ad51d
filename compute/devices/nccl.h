#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "compute/kernels/rank_device.h"

namespace orrery {

struct NcclCommunicator;  // what NCCL's ncclComm_t points to

// NCCL's ncclResult_t and ncclDataType_t.
using NcclResult = int;
inline constexpr NcclResult nccl_success = 0;
inline constexpr int nccl_bytes = 0;

/// The functions of NVIDIA's library NCCL, which is opened at run time: few machines have it. It stays open until the
/// process ends. What nccl.h says is said here, so that no build needs that file.
class Nccl {
 public:
  /// Throws std::runtime_error that names what is missing.
  Nccl();

  void check(NcclResult result, const std::string& call) const;
  /// See RankDevice::nccl_version().
  int version() const;

  const char* (*error_text)(NcclResult);
  NcclResult (*get_version)(int*);
  NcclResult (*connect_all)(NcclCommunicator**, int count, const int* ordinals);
  NcclResult (*make_id)(ConnectionId*);
  NcclResult (*connect)(NcclCommunicator**, int ranks, ConnectionId, int rank);
  NcclResult (*destroy)(NcclCommunicator*);
  NcclResult (*abort)(NcclCommunicator*);
  NcclResult (*find_error)(NcclCommunicator*, NcclResult*);
  NcclResult (*begin_group)();
  NcclResult (*end_group)();
  NcclResult (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, NcclCommunicator*,
                          cudaStream_t);
  NcclResult (*send)(const void* from, std::size_t count, int type, int to_rank, NcclCommunicator*, cudaStream_t);
  NcclResult (*receive)(void* to, std::size_t count, int type, int from_rank, NcclCommunicator*, cudaStream_t);
};

/// NCCL launches the calls of a group together at its end. A group that an exception leaves ends as well: the thread's
/// later calls would belong to it.
class NcclGroup {
 public:
  /// `who` names the devices in messages.
  explicit NcclGroup(const Nccl& nccl, std::string who = {});
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup();

  void end();

 private:
  const Nccl& nccl_;
  std::string who_;
  bool open_ = true;
};

}  // namespace orrery
