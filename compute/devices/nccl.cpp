#include "compute/devices/nccl.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "compute/cuda/library_functions.h"

namespace orrery {

Nccl::Nccl() {
  // NVLink multicast is for sums over all devices. Preparing it takes memory, and a fault in it the whole host.
  setenv("NCCL_NVLS_ENABLE", "0", /*replace=*/0);
  void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(std::string{"NCCL cannot be opened: "} + dlerror());
  const cuda::LibraryFunctions functions{library, "NCCL"};
  functions.find(error_text, "ncclGetErrorString");
  functions.find(get_version, "ncclGetVersion");
  functions.find(connect_all, "ncclCommInitAll");
  functions.find(make_id, "ncclGetUniqueId");
  functions.find(connect, "ncclCommInitRank");
  functions.find(destroy, "ncclCommDestroy");
  functions.find(abort, "ncclCommAbort");
  functions.find(find_error, "ncclCommGetAsyncError");
  functions.find(begin_group, "ncclGroupStart");
  functions.find(end_group, "ncclGroupEnd");
  functions.find(broadcast, "ncclBroadcast");
  functions.find(send, "ncclSend");
  functions.find(receive, "ncclRecv");
}

void Nccl::check(NcclResult result, const std::string& call) const {
  if (result != nccl_success) throw std::runtime_error(call + ": " + error_text(result));
}

int Nccl::version() const {
  int version = 0;
  check(get_version(&version), "ncclGetVersion");
  return version;
}

NcclGroup::NcclGroup(const Nccl& nccl, std::string who) : nccl_{nccl}, who_{std::move(who)} {
  nccl_.check(nccl_.begin_group(), who_ + "ncclGroupStart");
}

NcclGroup::~NcclGroup() {
  if (open_) (void)nccl_.end_group();
}

void NcclGroup::end() {
  open_ = false;
  nccl_.check(nccl_.end_group(), who_ + "ncclGroupEnd");
}

}  // namespace orrery
