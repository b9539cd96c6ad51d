#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <vector>

namespace orrery::test {

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

}  // namespace orrery::test
