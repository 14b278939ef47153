#include "table_maker.hpp"

#include <areal/info.hpp>
#include <chrono>
#include "numbers.hpp"
#include "pixels.hpp"
#include "types.hpp"

namespace areal::command {

Squares squares_named(const std::string& text) {
  if (text.empty()) return Squares::no;
  if (text == "auto") return Squares::automatic;
  if (text == "32u") return Squares::u32;
  if (text == "64u") return Squares::u64;
  if (text == "64f") return Squares::f64;
  if (text == "32f") return Squares::f32;
  refuse("--squares=", text, ": may be 32u, 64u, 32f or 64f");
}

TableMaker::TableMaker(TableRequest request) : request_(std::move(request)) { squares_named(request_.squares); }

void TableMaker::plan_for(const ConstView& image, TypePair types, const std::string& name, const Settings& settings) {
  if (plan_ && plan_->image_shape() == image.shape && plan_->types() == types && image_type_ == image.type) return;
  workspace_.reset();  // free its memory before allocating again
  table_ = SatTable();
  image_type_ = image.type;
  SatOptions options = request_.options;
  options.types = types;
  options.squares = squares_named(request_.squares);
  research::SatParameters parameters = request_.parameters;
  plan_.emplace(research::sat_plan(image.shape, types.input, options, parameters, settings.execution()));
  const std::uint64_t bytes = plan_->table_bytes(), free = free_memory();
  if (bytes > free)
    throw OutOfMemory(fmt::format("the tables of an image of {}x{} take {} bytes, and {} are free", image.shape.width,
                                  image.shape.height, bytes, free),
                      bytes);
  const std::uint64_t all = bytes + bytes_of(image.shape, image.type) + plan_->workspace_bytes() +
                            (types.input == image.type ? 0 : bytes_of(image.shape, types.input));
  if (request_.memory > 0 && all > request_.memory)
    throw OutOfMemory(fmt::format("{}: an image of {}x{} with its tables takes {} bytes, and {} are left for it",
                                  request_.memory_option, image.shape.width, image.shape.height, all, request_.memory),
                      all);
  if (request_.best_r) {
    const Execution execution = plan_->execution();
    parameters.r = research::best_hybrid_share(image.shape, types.input, options, execution);
    settings.detail("{}: of the shares that were tried, r {:.6g} {}", name, parameters.r,
                    execution.backend == Backend::cuda ? "was the fastest" : "has the least global memory access cost");
    plan_.emplace(research::sat_plan(image.shape, types.input, options, parameters, execution));
  }
  settings.detail("{}: {}x{} {}, types {}, border {}, backend {}, algorithm {} ({})", name, image.shape.width,
                  image.shape.height, name_of(image.type), name_of(types), name_of(options.border),
                  name_of(plan_->backend()), plan_->algorithm(), plan_->reason());
  if (types.input != image.type) settings.detail("{}: widened to {}", name, name_of(types.input));
  table_ = plan_->allocate(MemoryPlace{});
  workspace_.emplace(*plan_);
}

void TableMaker::make(const ConstView& image, const ConstView& mask, const std::string& name,
                      const Settings& settings) {
  const TypePair types =
      types_for(request_.types, image.shape, image.type, request_.options.volume, "pixels of " + name);
  plan_for(image, types, name, settings);
  const Array wide = types.input != image.type ? converted(image, types.input) : Array();
  const auto start = std::chrono::steady_clock::now();
  plan_->execute(types.input != image.type ? wide.view() : image, table_, *workspace_, mask);
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (algorithm() != plan_->algorithm()) settings.detail("{}: {} made the tables", name, algorithm());
  sum_types_ = {types, plan_->squares_type(), range_of(types.input)};
  // Scan the pixels only if the range of their type may overflow.
  const std::int64_t depth = request_.options.volume ? image.shape.batch : 1;
  if (!sum_types_.fits(image.shape.width * image.shape.height * depth)) sum_types_.pixels = range_of(image);
}

}  // namespace areal::command
