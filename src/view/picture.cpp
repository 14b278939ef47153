#include "view/picture.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <new>

namespace areal::view {
namespace {

/// The luma, if there is one, and each plane.
std::vector<ConstView> views_of(const Array& planes, const Array& luma) {
  std::vector<ConstView> views;
  if (!luma.shape().empty()) views.push_back(luma.view());
  for (std::int64_t c = 0; c < planes.shape().channels; ++c) views.push_back(plane(planes.view(), c));
  return views;
}

}  // namespace

Picture::Facts Picture::facts_of(const Array& planes, std::vector<std::string> names, const Array& luma,
                                 const PictureOptions& options) {
  const Shape& shape = planes.shape();
  if (shape.empty()) throw InvalidArgument("the picture has no pixels");
  if (shape.width > ((std::int64_t{1} << 31) - 1) / shape.height)
    throw InvalidArgument("a picture of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) +
                          " pixels: it may have fewer than 2^31");
  Facts facts;
  facts.full = {shape.width, shape.height};
  facts.type = planes.type();
  facts.names = std::move(names);
  facts.has_colour = !luma.shape().empty();
  if (facts.has_colour) facts.names.insert(facts.names.begin(), "luma");
  facts.bins = options.bins;
  facts.range = options.range ? *options.range : default_range(views_of(planes, luma));
  facts.drawn = facts.type == Type::u8 ? std::pair(0.0, 255.0) : facts.range;
  return facts;
}

Picture::Picture(Array planes, std::vector<std::string> names, Array luma, const PictureOptions& options)
    : Scene(facts_of(planes, std::move(names), luma, options)),
      planes_(std::move(planes)),
      luma_(std::move(luma)),
      options_(options),
      store_memory_(options.store_memory) {
  for (const ConstView& view : views_of(planes_, luma_)) {
    channels_.push_back(std::make_unique<Channel>());
    channels_.back()->pixels = view;
  }
}

Picture::~Picture() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  changed_.notify_one();
  if (surveyor_.joinable()) surveyor_.join();
}

void Picture::make_surveys() const {
  // Half of the processors remain for answers.
  const unsigned processors = std::thread::hardware_concurrency();
  const int threads = options_.threads != 0 ? options_.threads : std::max(1, static_cast<int>(processors / 2));
  std::unique_lock held(lock_);
  while (true) {
    changed_.wait(held, [&] { return ends_ || !wanted_.empty(); });
    if (ends_) return;
    const auto [channel, survey] = std::move(wanted_.front());
    wanted_.pop_front();
    if (channel->survey != survey) continue;  // the range has changed
    const std::uint64_t memory = store_memory_;
    held.unlock();
    std::uint64_t bytes = 0;
    try {
      bytes = survey->make(memory, threads);
    } catch (const std::bad_alloc&) {  // answers go on from the pixels
      bytes = memory;
    }
    held.lock();
    if (channel->survey != survey) continue;
    channel->store_bytes = bytes;
    store_memory_ -= bytes;
  }
}

std::shared_ptr<Survey> Picture::survey_of(Channel& channel) const {
  const std::lock_guard held(lock_);
  if (channel.survey) return channel.survey;
  channel.survey = std::make_shared<Survey>(channel.pixels, bins(), range(), options_.threads);
  if (options_.store_memory != 0) {
    wanted_.emplace_back(&channel, channel.survey);
    if (!surveyor_.joinable()) surveyor_ = std::thread([this] { make_surveys(); });
    changed_.notify_one();
  }
  return channel.survey;
}

void Picture::range_changed() {
  const std::lock_guard held(lock_);
  for (const auto& channel : channels_) {
    store_memory_ += channel->store_bytes;
    channel->store_bytes = 0;
    channel->survey.reset();
  }
}

Answer Picture::answer(std::size_t number, const Region& region, bool) const {
  return survey_of(*channels_.at(number))->answer(region);
}

const Pyramid& Picture::pyramid(std::size_t number) const {
  Channel& channel = *channels_.at(number);
  std::call_once(channel.halved, [&] { channel.pyramid = std::make_unique<Pyramid>(channel.pixels); });
  return *channel.pyramid;
}

void Picture::with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                          const std::function<void(std::size_t, const ConstView&)>& take) const {
  for (std::size_t i = 0; i < count; ++i)
    take(i, part_of(level == 0 ? channels_.at(first + i)->pixels : pyramid(first + i).level(level), region));
}

std::uint64_t Picture::bytes(const Extent& full, std::int64_t channels, Type type) {
  const Shape shape{full.width, full.height, channels};
  return bytes_of(shape, type) + static_cast<std::uint64_t>(channels) * Pyramid::bytes(full, type);
}

}  // namespace areal::view
