#pragma once
// How the command processes an input: chosen once, from the kind of input, the product, the options and the memory.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace areal::command {

enum class Way : std::uint8_t { whole, frames, strips, tiles, chunked };
/// `areal sat` computes sums or a table, `areal hist` histograms or a tensor, `areal window` windows, `areal
/// filter` a filter; `areal query` reads tables.
enum class Product : std::uint8_t { sums, table, histograms, tensor, windows, filters, query };

/// "as a whole", "frame by frame", "by strips", "by tiles", "with a chunked table".
std::string_view name_of(Way way) noexcept;
std::string_view name_of(Product product) noexcept;

/// An option on the command line; `value` is empty for a flag.
struct GivenOption {
  std::string name, value = {};
  std::string text() const;
};
/// --algorithm with a paper's algorithm, which cannot continue a table from part to part.
GivenOption papers_algorithm(const std::string& id);

/// An option that some products and ways do not support.
struct Refusal {
  unsigned products, ways;  ///< bits: 1 << Product, 1 << Way
  std::string_view
      option;            ///< "--mask"; with a value "--stat tilted", with an extension "-o .tif"; empty: the way itself
  std::string_view why;  ///< the last clause of the message
  bool covers(Product product, Way way) const noexcept;
  bool is_of(const GivenOption& given) const noexcept;
};
/// Every combination that is not in this list is supported.
std::span<const Refusal> refusals() noexcept;

struct InputFacts {
  std::string name;
  std::optional<Way> only_way = {};  ///< for several images and for saved tables
  bool is_stream = false;            ///< can be read only once, from its start
  bool is_array = false;             ///< an .npy, which gives random access to rows
};

struct RouteRequest {
  Product product = Product::sums;
  std::string output = {};                ///< the file of -o, or empty
  std::vector<GivenOption> options = {};  ///< on the command line
  std::uint64_t whole_bytes = 0;          ///< memory of the image and its products; 0: unknown
  std::optional<Product> also = {};       ///< a second product of the same run
};

struct Limits {
  std::string memory_option = {};   ///< "--memory 2G", or empty
  std::uint64_t memory = 0;         ///< --memory less the process's own
  std::string tiles_option = {};    ///< "--devices 0,1" or "--device-memory 2G", or empty
  std::uint64_t device_memory = 0;  ///< limit of a worker; 0: its free memory
  bool has_devices = false;         ///< --devices was given: use tiles even if the image fits
  std::uint64_t free = 0;
};

struct Route {
  Way way = Way::whole;
  std::string why;
};

/// A pure function. Throws InvalidArgument, naming the option, if the only possible way does not support an option.
Route route(const InputFacts& input, const RouteRequest& request, const Limits& limits);

/// Does the way support all the options?
bool answers(Product product, Way way, const std::vector<GivenOption>& options);
/// Throws InvalidArgument for the first option that the way does not support. `cause` is the reason for the way:
/// "--devices cpu", or an input's name.
void require_answered(Product product, Way way, const std::vector<GivenOption>& options, const std::string& cause);

}  // namespace areal::command
