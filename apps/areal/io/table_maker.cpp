#include "table_maker.hpp"

#include <areal/info.hpp>
#include <chrono>
#include "numbers.hpp"
#include "pixels.hpp"

namespace areal::command {
namespace {

// Planar tables with one plane are plain tables: `plane` gives them back.
TableView channel_of(const Array& array, std::int64_t channel, Border border) {
  return {plane(array.view(), channel), border};
}

}  // namespace

TableMaker::TableMaker(SatOptions options, std::string types, std::string squares, bool best_r)
    : options_(std::move(options)), types_(std::move(types)), squares_text_(std::move(squares)), best_r_(best_r) {
  if (!types_.empty() && !find_type_pair(types_)) {
    std::string names;
    for (const TypePair& known : type_pairs()) names += (names.empty() ? "" : ", ") + name_of(known);
    refuse("--types ", types_, ": may be ", names);
  }
  if (!squares_text_.empty()) squares_type(squares_text_, Type::u8);
}

Type squares_type(const std::string& text, Type image) {
  // 64u holds the squares of 16-bit pixels of any picture; those of 32-bit ones would wrap after a few pixels.
  if (text == "auto") return is_float(image) || size_of(image) > 2 ? Type::f64 : Type::u64;
  const auto type = type_named(text);
  if (!type || (*type != Type::u32 && *type != Type::u64 && *type != Type::f64))
    refuse("--squares=", text, ": may be 32u, 64u or 64f");
  return *type;
}

TypePair TableMaker::types_for(const ConstView& image, const std::string& name) const {
  if (types_.empty()) return default_types(image.shape, image.type, options_.volume);
  const TypePair types = type_pair(types_);
  if (holds(types.input, image.type)) return types;
  std::string names;
  for (const TypePair& other : type_pairs())
    if (holds(other.input, image.type)) names += (names.empty() ? "" : ", ") + name_of(other);
  refuse("--types ", types_, ": cannot hold the ", name_of(image.type), " pixels of ", name, "; it may be ", names);
}

void TableMaker::plan_for(const ConstView& image, TypePair types, const std::string& name, const Settings& settings) {
  if (runner_ && plan().image_shape() == image.shape && plan().types() == types && image_type_ == image.type) return;
  SatOptions options = options_;
  if (!squares_text_.empty()) options.squares = squares_type(squares_text_, image.type);
  options.backend = best_backend(image.shape, types, options);
  SatPlan plan(image.shape, types, options);
  const std::uint64_t bytes = plan.table_bytes(), free = free_memory();
  if (bytes > free)
    throw OutOfMemory(fmt::format("the tables of an image of {}x{} take {} bytes, and {} are free", image.shape.width,
                                  image.shape.height, bytes, free),
                      bytes);
  if (best_r_) {
    options.r = best_hybrid_share(image.shape, types, options);
    settings.detail("{}: r {:.6g} {} of the shares that were tried", name, options.r,
                    options.backend == Backend::cuda ? "was the fastest" : "has the least global memory access cost");
    plan = SatPlan(image.shape, types, options);
  }
  image_type_ = image.type;
  sum_ = Array(plan.table_shape(), types.table);
  squares_ = options.squares ? Array(plan.table_shape(), *options.squares) : Array();
  tilted_ = options.tilted ? Array(plan.tilted_shape(), types.table) : Array();
  count_ = options.mask || options.ignore_nan ? Array(plan.count_shape(), Type::u32) : Array();
  runner_.emplace(plan);
}

void TableMaker::make(const ConstView& image, const ConstView& mask, const std::string& name,
                      const Settings& settings) {
  const TypePair types = types_for(image, name);
  const bool is_new = !runner_ || !(plan().image_shape() == image.shape);
  plan_for(image, types, name, settings);
  Array wide;
  if (types.input != image.type) wide = converted(image, types.input);
  if (is_new) {
    settings.detail("{}: {}x{} {}, types {}, border {}, backend {}, algorithm {} ({})", name, image.shape.width,
                    image.shape.height, name_of(image.type), name_of(types), name_of(plan().options().border),
                    name_of(plan().backend()), plan().algorithm(), plan().reason());
    if (wide.bytes()) settings.detail("{}: widened to {}", name, name_of(types.input));
  }
  const SatArguments arguments{wide.bytes() ? ConstView(wide.view()) : image,
                               sum_.view(),
                               mask,
                               options_.squares || !squares_text_.empty() ? squares_.view() : View(),
                               options_.tilted ? tilted_.view() : View(),
                               options_.mask || options_.ignore_nan ? count_.view() : View()};
  const auto start = std::chrono::steady_clock::now();
  runner_->execute(arguments);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Tables TableMaker::of_channel(std::int64_t channel) const {
  const Border border = plan().options().border;
  Tables tables{channel_of(sum_, channel, border), {}, {}, {}};
  if (squares_.data() || !squares_text_.empty()) tables.squares = channel_of(squares_, channel, border);
  if (options_.mask || options_.ignore_nan) tables.count = channel_of(count_, 0, border);
  if (options_.tilted) tables.tilted = plane(tilted_.view(), channel);
  return tables;
}

}  // namespace areal::command
