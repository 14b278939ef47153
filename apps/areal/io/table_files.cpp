#include "table_files.hpp"

namespace areal::command {

TableFiles::TableFiles(const std::string& output, const InputOptions& input, const Shape& image, const SumTypes& types,
                       Border border, const std::string& algorithm)
    : path_(output), types_(types) {
  description_.border = border;
  description_.algorithm = algorithm;
  description_.source = input.file_name();
  description_.image_width = image.width;
  description_.image_height = image.height;
  description_.run = media::new_run();
  if (!is_float(types.types.input)) description_.pixels = types.pixels;
}

std::filesystem::path TableFiles::path_of(const std::string& kind) const {
  return kind == "sum" ? path_ : media::companion_path(path_, kind);
}

std::filesystem::path TableFiles::describe(const std::string& kind, Type input, Type table) {
  const std::filesystem::path path = path_of(kind);
  description_.kind = kind;
  description_.companions = kind == "sum" ? companions_ : std::vector<std::string>();
  description_.types = name_of(TypePair{input, table});
  names_.push_back(path.string());
  return path;
}

void TableFiles::write(const SatTable& tables, const SatOptions& options) {
  const Type input = types_.types.input;
  struct Part {
    std::string kind;
    ConstView view;
    Type input;
  };
  std::vector<Part> parts{{"sum", tables.sum(), input}};
  if (options.squares != Squares::no) parts.push_back({"squares", tables.squares(), input});
  if (options.mask || options.ignore_nan) parts.push_back({"count", tables.count(), Type::u8});
  if (options.tilted) parts.push_back({"tilted", tables.tilted(), input});
  for (Part& part : parts) {
    Shape& shape = part.view.shape;
    if (shape.channels == 1) shape.layout = Layout::interleaved;  // numpy's (h, w), not (1, h, w)
    media::require_table_format(path_of(part.kind), part.view);
    if (part.kind != "sum") companions_.push_back(part.kind);
  }
  for (const Part& part : parts) {
    if (part.kind == "tilted") description_.border = Border::zero;
    const std::filesystem::path path = describe(part.kind, part.input, part.view.type);
    media::write_table(path, part.view, description_);
  }
}

media::TableWriter TableFiles::writer(const std::string& kind, Type input, Type table, Shape shape) {
  if (shape.channels == 1) shape.layout = Layout::interleaved;
  const std::filesystem::path path = describe(kind, input, table);
  return media::TableWriter(path, shape, table, description_);
}

void TableFiles::open(const Shape& sums, bool squares, const std::optional<Shape>& counts) {
  const Type input = types_.types.input;
  if (squares) companions_.emplace_back("squares");
  if (counts) companions_.emplace_back("count");
  sums_.emplace(writer("sum", input, types_.types.table, sums));
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
