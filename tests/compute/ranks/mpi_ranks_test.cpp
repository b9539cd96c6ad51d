// Messages of MPI. Each rank of mpirun runs all tests, in step with the others.
#include "compute/ranks/communicator.h"
#include "tests/compute/ranks/exchanges.h"
#include "tests/test.h"

namespace orrery {
namespace {

std::unique_ptr<Communicator> ranks;

TEST(MpiRanks, ExchangeMessagesOfAllSizes) {
  test::expect_exchanges_of_all_sizes(*ranks);
}

TEST(MpiRanks, OrdersAreNoPartOfAnExchange) {
  test::expect_orders_beside_exchanges(*ranks);
}

TEST(MpiRanks, EmptyMessagesAreSeenBeforeTheExchange) {
  test::expect_empty_messages_are_seen_before(*ranks);
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  orrery::ranks = orrery::join_mpi_ranks();
  const int status = RUN_ALL_TESTS();
  orrery::ranks.reset();
  return status;
}
