#include "compute/ranks/made_kernel.h"

#include "compute/ranks/orders.h"

namespace orrery {

MadeKernel::MadeKernel(WorkerLine& line, int key, const KernelInfo& kernel, const Settings& settings,
                       const std::function<void()>& make_own)
    : line_{line}, key_{key} {
  try {
    line_.exchange({.order =
                        [&](int, MessageWriter& order) {
                          order.put(Order::make);
                          order.put(key_);
                          order.put_text(kernel.id);
                          order.put_text(settings.to_string());
                        },
                    .own_part = make_own,
                    .is_long = [&](int) { return kernel.backend == Backend::cpu; }});  // a driver takes its time
  } catch (...) {
    drop();
    throw;
  }
}

void MadeKernel::drop() noexcept {
  MessageWriter order;
  order.put(Order::drop);
  order.put(key_);
  line_.tell(order);
}

void MadeKernel::prepare(int count, const std::function<void()>& prepare_own) {
  prepared_ = 0;  // until every rank is
  line_.exchange({.order =
                      [&](int, MessageWriter& order) {
                        order.put(Order::prepare);
                        order.put(key_);
                        order.put(count);
                      },
                  .own_part = prepare_own,
                  .is_long = [](int rank) { return rank > 0; }});  // the leader needs far less memory
  prepared_ = count;
}

}  // namespace orrery
