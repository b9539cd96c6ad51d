#include "compute/ranks/kernel_of_ranks.h"

#include "compute/ranks/shared_potentials.h"

namespace orrery {

KernelOfRanks::KernelOfRanks(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings)
    : line_{line},
      key_{key},
      reads_low_words_{kernel.reads_low_words},
      spread_{line, key},
      made_{line, key, kernel, settings, [&] { own_ = kernel.make(settings, nullptr); }} {}

void KernelOfRanks::prepare(int count) {
  made_.prepare(count, [&] {
    own_->prepare(count);
    prepare_own(count);
  });
}

void KernelOfRanks::prepare_for(int count) {
  if (count != made_.prepared()) prepare(count);
}

std::string KernelOfRanks::chosen(int count, const MassRange& masses) const {
  const std::string own = own_->chosen(count, masses);
  return own + (own.empty() ? "" : ", ") + "ranks " + std::to_string(line_.ranks());
}

std::vector<double> KernelOfRanks::potentials(const Bodies& bodies, const Law& law,
                                              const std::atomic<bool>* cancelled) {
  return shared_potentials(line_, key_, bodies, law, cancelled);
}

void KernelOfRanks::spread(const Bodies& bodies, const MassRange& masses) {
  prepare_for(bodies.count());
  spread_.spread(bodies, masses, own_->domains() != nullptr);
}

std::optional<BodyOwners> KernelOfRanks::owners(int count) const {
  if (owners_.size() != static_cast<std::size_t>(count)) return std::nullopt;
  BodyOwners owners{.of_body = owners_};
  for (std::size_t rank = 0; rank < ranks(); ++rank) owners.names.push_back("rank " + std::to_string(rank));
  return owners;
}

Evaluation KernelOfRanks::evaluation_of(const ForceArgs& args) const {
  const Epilogue& epilogue = args.epilogue;
  return {.key = key_,
          .count = args.count,
          .low_words = reads_low_words_ && args.bodies_low,
          .masses = args.masses,
          .law = args.law,
          .stores = epilogue.accelerations != nullptr,
          .stores_low = epilogue.accelerations_low != nullptr,
          .kicks = epilogue.velocities != nullptr,
          .kick_dt = epilogue.kick_dt,
          .drag = epilogue.drag,
          .subnormals = subnormals_here()};
}

}  // namespace orrery
