#pragma once
// How the command handles an input. Decided once, from what the input is, what is made of it, and the memory.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace areal::command {

enum class Way : std::uint8_t { whole, frames, strips, tiles, chunked };
/// What is made of an input: the answers of `areal sat`, its table; the answers of `areal hist`, its tensor; windows;
/// the answers of `areal query`.
enum class Product : std::uint8_t { sums, table, histograms, tensor, windows, query };

/// "as a whole", "frame by frame", "by strips", "by tiles", "with a chunked table".
std::string_view name_of(Way way) noexcept;
std::string_view name_of(Product product) noexcept;

/// An option of the command line with its value, which flags do not have.
struct Given {
  std::string name, value = {};
  std::string text() const;
};
/// The --algorithm of a paper: the first tables that it makes are the last.
Given papers_algorithm(const std::string& id);

/// An option that some products do not take by some ways, and why not.
struct Refusal {
  unsigned products, ways;  ///< bits: 1 << Product, 1 << Way
  std::string_view option;  ///< "--mask"; for one value "--stat tilted", for an extension "-o .tif"
  std::string_view why;     ///< the end of a sentence
  bool covers(Product product, Way way) const noexcept;
  bool is_of(const Given& given) const noexcept;
};
/// All of them: what is not among them is answered.
std::span<const Refusal> refusals() noexcept;

struct InputFacts {
  std::string name;
  std::optional<Way> only_way = {};  ///< of several images, and of saved tables
  bool is_stream = false;            ///< read once, from its begin
  bool is_array = false;             ///< an .npy: rows are read without the others
};

struct Wanted {
  Product product = Product::sums;
  std::string output = {};          ///< the file of -o, or empty
  std::vector<Given> options = {};  ///< what was given
  std::uint64_t whole_bytes = 0;    ///< the image with all that is made of it; 0: not known
  std::optional<Product> also = {};
};

struct Limits {
  std::string memory_option = {};   ///< "--memory 2G", or empty
  std::uint64_t memory = 0;         ///< what it leaves for the work
  std::string tiles_option = {};    ///< "--devices 0,1" or "--device-memory 2G", or empty
  std::uint64_t device_memory = 0;  ///< what a worker may take; 0: what is free
  bool has_devices = false;         ///< they were named: tiles, also of what fits
  std::uint64_t free = 0;
};

struct Route {
  Way way = Way::whole;
  std::string why;
};

/// Pure. Throws InvalidArgument, which names the option, for one that does not go with the only way.
Route route(const InputFacts& input, const Wanted& wanted, const Limits& limits);

bool answers(Product product, Way way, const std::vector<Given>& options);
/// Throws InvalidArgument for the first option that the product does not take by that way. `cause` is what asks for
/// the way: "--devices cpu", or an input's name.
void require_answered(Product product, Way way, const std::vector<Given>& options, const std::string& cause);

}  // namespace areal::command
