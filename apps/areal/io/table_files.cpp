#include "table_files.hpp"

namespace areal::command {

TableFiles::TableFiles(const std::string& output, const InputOptions& input, const Shape& image, const SumTypes& types,
                       Border border, const std::string& algorithm)
    : path_(output), types_(types) {
  description_.border = border;
  description_.algorithm = algorithm;
  description_.source = input.path == "-" ? "-" : std::filesystem::path(input.path).filename().string();
  description_.image_width = image.width;
  description_.image_height = image.height;
  description_.run = media::new_run();
  if (!is_float(types.types.input)) description_.pixels = types.pixels;
}

std::filesystem::path TableFiles::describe(const std::string& kind, Type input, Type table) {
  const std::filesystem::path path = kind == "sum" ? path_ : media::beside(path_, kind);
  description_.kind = kind;
  description_.types = name_of(TypePair{input, table});
  names_.push_back(path.string());
  return path;
}

void TableFiles::write(const SatTable& tables, const SatOptions& options) {
  const Type input = types_.types.input;
  const auto table = [&](const std::string& kind, ConstView view, Type of = Type::u8) {
    const std::filesystem::path path = describe(kind, of, view.type);
    if (view.shape.channels == 1) view.shape.layout = Layout::interleaved;  // numpy's (h, w), not (1, h, w)
    media::write_table(path, view, description_);
  };
  const bool squares = options.squares != Squares::no, counts = options.mask || options.ignore_nan;
  if (squares) description_.companions.emplace_back("squares");
  if (counts) description_.companions.emplace_back("count");
  if (options.tilted) description_.companions.emplace_back("tilted");
  table("sum", tables.sum(), input);
  description_.companions.clear();
  if (squares) table("squares", tables.squares(), input);
  if (counts) table("count", tables.count());
  description_.border = Border::zero;
  if (options.tilted) table("tilted", tables.tilted(), input);
}

media::TableWriter TableFiles::writer(const std::string& kind, Type input, Type table, Shape shape) {
  if (shape.channels == 1) shape.layout = Layout::interleaved;
  const std::filesystem::path path = describe(kind, input, table);
  return media::TableWriter(path, shape, table, description_);
}

void TableFiles::open(const Shape& sums, bool squares, const std::optional<Shape>& counts) {
  const Type input = types_.types.input;
  if (squares) description_.companions.emplace_back("squares");
  if (counts) description_.companions.emplace_back("count");
  sums_.emplace(writer("sum", input, types_.types.table, sums));
  description_.companions.clear();
  if (squares) squares_.emplace(writer("squares", input, *types_.squares, sums));
  if (counts) counts_.emplace(writer("count", Type::u8, Type::u32, *counts));
}

void TableFiles::put(std::int64_t x, std::int64_t y, const ConstView& sums, const ConstView& squares,
                     const ConstView& counts) {
  sums_->write(x, y, sums);
  if (squares_) squares_->write(x, y, squares);
  if (counts_) counts_->write(x, y, counts);
}

void TableFiles::finish() {
  sums_->finish();
  if (squares_) squares_->finish();
  if (counts_) counts_->finish();
}

}  // namespace areal::command
