#pragma once
// Tests that run on several ranks: `main`, communicators of fewer ranks, random strips. Every rank makes the same whole
// image from a seed and looks at its own part, by EXPECT alone: a rank that left a test early would keep the others
// waiting.

#include <gtest/gtest.h>
#include <areal/mpi.hpp>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace areal::test {

/// The first `size` ranks of the world; MPI_COMM_NULL on the others.
class FirstRanks {
 public:
  explicit FirstRanks(int size) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm_);
  }
  ~FirstRanks() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }
  int rank() const {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    return rank;
  }
  int size() const {
    int size = 0;
    MPI_Comm_size(comm_, &size);
    return size;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Where each of the ranks' strips begins, and the height at the end: any heights, every third one of them without
/// rows.
inline std::vector<std::int64_t> random_split(std::mt19937_64& random, std::int64_t height, int ranks) {
  std::vector<std::int64_t> cuts{0, height};
  for (int i = 1; i < ranks; ++i) {
    const auto cut = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(height + 1));
    cuts.push_back(random() % 3 == 0 ? cuts[random() % cuts.size()] : cut);
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

/// The sentence of the exception of that type that a call throws on this rank; "" where there is none.
template <class Exception, class Call>
std::string sentence_on_rank(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    EXPECT_EQ(typeid(error), typeid(Exception)) << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  return "";
}

class FailuresOfRank : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(), result.message());
  }

 private:
  int rank_;
};

}  // namespace areal::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new areal::test::FailuresOfRank(rank));
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
