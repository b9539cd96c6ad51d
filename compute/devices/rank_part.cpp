#include "compute/devices/rank_part.h"

#include "compute/cuda/profiler_range.h"
#include "compute/kernels/division.h"

namespace orrery {

void RankPart::prepare(int count, int index, int ranks) const {
  division_.prepare_division(count, index, ranks);
  if (auto* const choice = dynamic_cast<ChoiceFacet*>(&division_)) choice->prepare_choice();
}

void RankPart::begin(const ForceArgs& args, const Part& part) const {
  const cuda::ProfilerRange range{"begin a part"};
  begins_.record(args.stream);
  division_.begin_part(args, part);
  begun_.record(args.stream);
}

void RankPart::exchange(const ForceArgs& args, JointWork& work, BlockExchange& by) const {
  const cuda::ProfilerRange range{"exchange cells"};
  auto& choice = dynamic_cast<ChoiceFacet&>(division_);  // ranks require ChoiceFacet
  by.share(
      choice.outline(), [&](int rank) { return choice.place_of_outline(rank); }, work, args.stream);
  by.exchange([&] { return choice.choose(args, [&] { by.wait(work, args.stream); }); },
              [&](int rank, std::span<const std::size_t> sizes) { return choice.places_of_chosen(rank, sizes); }, work,
              args.stream);
  work.attempt([&] { choice.take_chosen(args); });
}

void RankPart::evaluate(const ForceArgs& args, const Part& part) const {
  const cuda::ProfilerRange range{"evaluate a part"};
  goes_on_.record(args.stream);
  division_.evaluate_part(args, part);
  ends_.record(args.stream);
}

}  // namespace orrery
