// CPU kernels state of their arithmetic what the text of their inner loops does.
#include <hwy/base.h>

#include <type_traits>

#include "compute/core/law.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/parts/jerk_pair.h"
#include "compute/kernels/tree/host_walk.h"
#include "tests/compute/support/backends.h"
#include "tests/test.h"

namespace orrery {
namespace test {

/// The operations on numbers of one loop, each value once: a compiler computes no value twice, and nothing in the loop
/// that does not change in it.
class Tape {
 public:
  static constexpr int zero = 0, one = 1;  ///< the first two values

  Tape() { nodes_ = {{}, {}}; }

  /// A value of its own. `varies`: from one round of the loop to the next.
  int value(bool varies) {
    nodes_.push_back({.varies = varies});
    return static_cast<int>(nodes_.size()) - 1;
  }
  int operation(char sign, int a, int b = zero, int c = zero) {
    if (sign == '*' && a == one) return b;
    if (sign == '*' && b == one) return a;
    const auto [found, is_new] = known_.try_emplace({sign, a, b, c}, static_cast<int>(nodes_.size()));
    if (!is_new) return found->second;
    const bool varies = node(a).varies || node(b).varies || node(c).varies;
    nodes_.push_back({.sign = sign, .operands = {a, b, c}, .varies = varies});
    return found->second;
  }

  /// Returns the number of operations of the loop. `fuses`: the processor multiplies and adds in one operation, which
  /// the compiler uses where only the addition takes the product.
  int operations(bool fuses) const {
    std::vector<int> uses(nodes_.size());
    for (const Node& at : nodes_) {
      if (at.sign == 0) continue;
      for (const int operand : at.operands) ++uses[static_cast<std::size_t>(operand)];
    }
    int count = 0;
    for (const Node& at : nodes_) {
      if (at.sign == 0 || !at.varies) continue;
      ++count;
      if (!fuses || (at.sign != '+' && at.sign != '-')) continue;
      for (const int operand : {at.operands[0], at.operands[1]}) {
        const Node& product = node(operand);
        if (product.sign != '*' || !product.varies || uses[static_cast<std::size_t>(operand)] > 1) continue;
        --count;
        break;
      }
    }
    return count;
  }

 private:
  struct Node {
    char sign = 0;  // 0: of no operation
    std::array<int, 3> operands{};
    bool varies = false;
  };
  const Node& node(int at) const { return nodes_[static_cast<std::size_t>(at)]; }

  std::vector<Node> nodes_;
  std::map<std::array<int, 4>, int> known_;
};

/// The tape on which Recorded numbers are recorded; set it first.
inline Tape* tape = nullptr;

/// A number that records what is computed of it. Each `Kind` is a type of its own.
template <class Kind>
struct Recorded {
  int id = Tape::zero;

  static Recorded constant() { return {tape->value(false)}; }
  static Recorded variable() { return {tape->value(true)}; }
  static Recorded of(double number) {
    return number == 0 ? Recorded{Tape::zero} : number == 1 ? Recorded{Tape::one} : constant();
  }

  friend Recorded operator+(Recorded a, Recorded b) { return {tape->operation('+', a.id, b.id)}; }
  friend Recorded operator-(Recorded a, Recorded b) { return {tape->operation('-', a.id, b.id)}; }
  friend Recorded operator*(Recorded a, Recorded b) { return {tape->operation('*', a.id, b.id)}; }
  friend Recorded scaled(double factor, Recorded a) { return of(factor) * a; }
  friend Recorded multiply_add(Recorded a, Recorded b, Recorded c) { return a * b + c; }
  friend Recorded reciprocal_sqrt(Recorded a) { return {tape->operation('/', Tape::one, tape->operation('r', a.id))}; }
};

}  // namespace test
namespace counted_numbers {
namespace {

using test::Tape;
/// One number at a time.
using Scalar = test::Recorded<struct OneNumber>;
/// Vectors whose root is exact.
using Exact = test::Recorded<struct ExactVector>;
/// As simd.inl has them, with one lane. The estimate of the root and Newton's step are those of x86-64.
using Lanes = test::Recorded<struct EstimatingVector>;

constexpr int lane_count = 1;
Lanes lanes(float value) {
  return Lanes::of(value);
}
Lanes load(const float* /*aligned*/) {
  return Lanes::variable();
}
void store(Lanes /*value*/, float* /*aligned*/) {}
[[maybe_unused]] float sum_of_lanes(Lanes /*value*/) {
  return 0;
}
Lanes scaled_reciprocal_sqrt(Lanes x) {
  const Lanes estimate{test::tape->operation('r', x.id)};
  return estimate * (lanes(3) - (x * estimate) * estimate);
}

#include "compute/core/pair_law.inl"
// After pair_law.inl, which they use.
#include "compute/kernels/parts/jerk_pair.inl"
#include "compute/kernels/parts/simd_pull.inl"
#include "compute/kernels/tree/multipole.inl"

template <class Real>
struct Body {
  Real x, y, z, w;
};

template <class Visit>
void visit_laws(LawId law, const Visit& visit) {
  const Lanes softening_sq = Lanes::constant();
  if (law == LawId::attract_repel) {
    visit(AttractRepel<Lanes>{softening_sq, Lanes::constant(), lanes(1)});
  } else {
    visit(Gravity<Lanes>{softening_sq});
  }
}

/// Operations that `loop` records.
int operations(bool fuses, const std::function<void()>& loop) {
  Tape tape;
  test::tape = &tape;
  loop();
  return tape.operations(fuses);
}

int of_scalars(LawId law) {
  return operations(false, [law] {
    const auto add = [](const auto& pair_law) {
      const Scalar x = Scalar::constant(), y = Scalar::constant(), z = Scalar::constant();
      Vec3Of<Scalar> sum{Scalar::variable(), Scalar::variable(), Scalar::variable()};
      add_pull(sum, pair_law, x, y, z,
               Body<Scalar>{Scalar::variable(), Scalar::variable(), Scalar::variable(), Scalar::variable()});
    };
    if (law == LawId::attract_repel) {
      add(AttractRepel<Scalar>{Scalar::constant(), Scalar::constant(), Scalar::of(1)});
    } else {
      add(Gravity<Scalar>{Scalar::constant()});
    }
  });
}

/// The second of two vectors of bodies: what is around the loop does not count.
int of_simd(LawId law) {
  const auto vectors = [law](int count) {
    return operations(true, [law, count] {
      const float numbers[2]{};
      float sums[3]{};
      const Vec4 point{2, 3, 4, 5};
      visit_laws(law, [&](const auto& pair_law) {
        add_bodies<1>(numbers, numbers, numbers, numbers, 0, count, pair_law, &point, sums);
      });
    });
  };
  return vectors(2) - vectors(1);
}

int of_mutual(LawId law) {
  return operations(true, [law] {
    visit_laws(law, [](const auto& pair_law) {
      const auto difference = [] { return Lanes::variable() - Lanes::constant(); };
      Vec3Of<Lanes> a{Lanes::variable(), Lanes::variable(), Lanes::variable()};
      Vec3Of<Lanes> b{Lanes::variable(), Lanes::variable(), Lanes::variable()};
      add_mutual_pull<true>(pair_law, difference(), difference(), difference(), Lanes::variable(), Lanes::constant(), a,
                            b);
    });
  });
}

template <class Coordinate>
struct JerkOfLanes {
  using Real = Exact;
  Vec3Of<Coordinate> position;
  Vec3Of<Real> velocity;
  Real mass;

  static JerkOfLanes of(const std::function<Exact()>& number) {
    const auto coordinate = [&] {
      if constexpr (std::is_same_v<Coordinate, Exact>) {
        return number();
      } else {
        const Exact high = number();
        return Coordinate{high, number()};
      }
    };
    const auto x = coordinate(), y = coordinate(), z = coordinate();
    const Exact vx = number(), vy = number(), vz = number();
    return {{x, y, z}, {vx, vy, vz}, number()};
  }
};

template <class Coordinate>
int of_jerks(LawId law) {
  return operations(true, [law] {
    const auto add = [](const auto& pair_law) {
      const auto me = JerkOfLanes<Coordinate>::of(Exact::constant),
                 other = JerkOfLanes<Coordinate>::of(Exact::variable);
      PullOf<Exact> sum{{Exact::variable(), Exact::variable(), Exact::variable()},
                        {Exact::variable(), Exact::variable(), Exact::variable()}};
      add_pull_and_jerk(sum, pair_law, me, other);
    };
    if (law == LawId::attract_repel) {
      add(AttractRepel<Exact>{Exact::constant(), Exact::constant(), Exact::of(1)});
    } else {
      add(Gravity<Exact>{Exact::constant()});
    }
  });
}

int of_cells(LawId law) {
  return operations(true, [law] {
    visit_laws(law, [](const auto& pair_law) {
      const auto number = Lanes::variable;
      const auto difference = [] { return Lanes::variable() - Lanes::constant(); };
      Vec3Of<Lanes> sum{number(), number(), number()};
      const Quadrupole<Lanes> moments{number(), number(), number(), number(), number(), number(), number()};
      add_cell_pull(sum, pair_law, QuadrupoleUnits<Lanes>{Lanes::constant(), Lanes::constant()}, difference(),
                    difference(), difference(), number(), moments);
    });
  });
}

}  // namespace
}  // namespace counted_numbers

namespace {

constexpr LawId both_laws[]{LawId::gravity, LawId::attract_repel};

std::unique_ptr<ForceKernel> made(const char* id, const Settings::Values& changes = {}) {
  const KernelPtr kernel = test::find_kernel(id);
  return kernel->make(Settings{*kernel, changes}, nullptr);
}

InteractionArithmetic stated(const char* id, const Settings::Values& changes = {}) {
  const auto kernel = made(id, changes);
  return dynamic_cast<const ArithmeticFacet&>(*kernel).arithmetic();
}

TEST(KernelArithmetic, IsThatOfTheInnerLoop) {
  for (const LawId law : both_laws) {
    SCOPED_TRACE(law == LawId::gravity ? "gravity" : "attract-repel");
    for (const char* id : {"cpu-serial", "cpu-openmp", "cpu-fp64"}) {
      EXPECT_EQ(stated(id).operations(law), counted_numbers::of_scalars(law)) << id;
    }
    EXPECT_EQ(stated("cpu-simd").operations(law), counted_numbers::of_simd(law));
    EXPECT_EQ(2 * stated("cpu-symmetric").operations(law), counted_numbers::of_mutual(law));
    using Two = counted_numbers::DoubleLanesOf<counted_numbers::Exact>;
    EXPECT_EQ(stated("cpu-jerk", {{"precision", "mixed"}}).operations(law), counted_numbers::of_jerks<Two>(law));
    EXPECT_EQ(stated("cpu-jerk", {{"precision", "fp64"}}).operations(law),
              counted_numbers::of_jerks<counted_numbers::Exact>(law));
    EXPECT_EQ(cell_arithmetic.operations(law), counted_numbers::of_cells(law));
  }
}

TEST(KernelArithmetic, OfDoublesFillsTwoLanesOfAFloat) {
  EXPECT_EQ(stated("cpu-fp64").float_lanes(LawId::gravity), 2 * stated("cpu-serial").float_lanes(LawId::gravity));
  EXPECT_EQ(stated("cpu-jerk", {{"precision", "fp64"}}).bits, 64);
  EXPECT_EQ(stated("cpu-jerk", {{"precision", "mixed"}}).bits, 32);
}

TEST(KernelArithmetic, IsStatedByEveryDirectSumOnTheCpu) {
  int direct = 0;
  for (const KernelPtr& kernel : test::kernels()) {
    if (kernel->backend != Backend::cpu) continue;
    const auto one = made(kernel->id);
    EXPECT_EQ(dynamic_cast<const ArithmeticFacet*>(one.get()) != nullptr, !kernel->is_tree) << kernel->id;
    direct += !kernel->is_tree;
  }
  EXPECT_GE(direct, 6);
}

}  // namespace
}  // namespace orrery
