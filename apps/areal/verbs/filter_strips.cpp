#include "filter_strips.hpp"

#include <areal/error.hpp>
#include <areal/info.hpp>
#include <areal/strips.hpp>
#include <optional>
#include "io/input_image.hpp"
#include "io/memory_limit.hpp"
#include "io/numbers.hpp"
#include "io/progress.hpp"
#include "media/media.hpp"

namespace areal::command {
namespace {

constexpr std::uint64_t writer_bytes = std::uint64_t{12} << 20;  // the bands of the output's format

/// Strips that --memory, or the free memory, holds with the readers and the writer.
StripFilter fitting(const FilterJob& job, const FilterOptions& options, const InputImage& image, Type type,
                    std::uint64_t readers, WorkBar& bar, const Limits& limits, const Settings& settings) {
  const std::uint64_t beside = readers + writer_bytes;
  PieceOptions how{.workers = {settings.worker()}, .progress = bar.progress()};
  if (limits.memory > 0) how.memory = limits.memory > beside ? limits.memory - beside : 1;
  const std::string windows = std::holds_alternative<filter::Gaussian>(job.filter)
                                  ? job.size + ": windows of its"
                                  : fmt::format("windows of {}", options.window.height);
  const std::string words = fmt::format("{} rows of {} pixels", windows, image.shape().width);
  try {
    StripFilter strips(image.shape(), image.type(), type, job.filter, options, how);
    const std::uint64_t bytes = strips.memory_bytes() + beside;
    if (const std::uint64_t free = free_memory(); bytes > free)
      throw OutOfMemory(fmt::format("{}: {} need {} bytes, and {} are free", job.input.path, words, bytes, free),
                        bytes);
    return strips;
  } catch (const OutOfMemory& error) {
    const std::uint64_t least = process_bytes + beside + error.bytes();
    if (limits.memory == 0 || how.memory >= error.bytes()) throw;
    throw OutOfMemory(fmt::format("{}: {} need at least {}M", limits.memory_option, words, (least >> 20) + 1), least);
  }
}

/// The mask or the guide, beside an image of that shape; none.
std::optional<InputImage> second_input(const FilterJob& job, const Shape& shape, std::uint64_t memory,
                                       const Settings& settings) {
  const std::string& path = job.guide.empty() ? job.mask : job.guide;
  if (path.empty()) return std::nullopt;
  InputOptions input = plane_options(path);
  input.all_channels = !job.guide.empty();
  std::optional<InputImage> second(std::in_place, input, memory, settings);
  if (const std::int64_t channels = second->shape().channels; channels != 1 && channels != 3)
    second.emplace(plane_options(path), memory, settings);
  if (second->shape().width != shape.width || second->shape().height != shape.height)
    refuse(fmt::format("{} {}: is {}x{}, and {} is {}x{}", job.guide.empty() ? "--mask" : "--guide", path,
                       second->shape().width, second->shape().height, job.input.path, shape.width, shape.height));
  return second;
}

}  // namespace

Type image_type(const FilterJob& job, const Settings& settings) { return InputImage(job.input, 0, settings).type(); }

std::uint64_t whole_bytes(const FilterJob& job, const Settings& settings) {
  const InputImage image(job.input, 0, settings);
  Shape out = window_shape(image.shape().width, image.shape().height, job.options.window);
  out.channels = image.shape().channels;
  return bytes_of(image.shape(), image.type()) + bytes_of(out, job.output_type(image.type()));
}

void require_output(const FilterJob& job, const Shape& image, const Shape& output) {
  if (image.empty()) refuse(job.input.path, ": is empty; a window needs pixels");
  if (output.empty())
    refuse(
        fmt::format("{}: with --edge valid it may not exceed the image, {}x{}", job.size, image.width, image.height));
}

void filter_by_strips(const FilterJob& job, const Limits& limits, const Settings& settings) {
  const InputImage image(job.input, limits.memory / 4, settings);
  const Shape& shape = image.shape();
  const std::optional<InputImage> second = second_input(job, shape, limits.memory / 4, settings);
  require_output(job, shape, window_shape(shape.width, shape.height, job.options.window));
  FilterOptions options = job.options;
  if (!job.guide.empty()) options.guide = second->shape().channels, options.guide_type = second->type();
  const Type type = job.output_type(image.type());
  WorkBar bar("rows", settings.quiet);
  const std::uint64_t readers = image.memory() + (second ? second->memory() : 0);
  StripFilter strips = fitting(job, options, image, type, readers, bar, limits, settings);
  require_output(job, shape, strips.output_shape());  // a Gaussian's window follows from sigma
  settings.detail("{}: in strips of {} rows, algorithm {} on cpu", job.input.path, strips.strip_height(),
                  strips.algorithm());
  const auto run = [&](const auto& write) {
    strips.run(
        image.reader(),
        [&](const WindowStrip& strip) {
          write(strip.y, strip.values[0]);
          return true;
        },
        !second        ? ImageReader()
        : options.mask ? mask_reader(*second)
                       : second->reader());
  };
  if (job.output.ends_with(".npy")) {
    media::ArrayWriter writer(job.output, strips.output_shape(), type);
    run([&](std::int64_t y, const ConstView& rows) { writer.write(0, y, rows); });
    writer.finish();
  } else {
    media::PictureWriter writer(job.output, strips.output_shape(), type);
    run([&](std::int64_t, const ConstView& rows) { writer.write(rows); });
    writer.finish();
  }
  bar.wipe();
}

}  // namespace areal::command
