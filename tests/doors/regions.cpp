// What tables answer about regions: sums, means, variances, counts, rotated rectangles, boxes of volumes.

#include <areal/region.hpp>
#include <cstring>

#include "tables.hpp"

namespace doors {
namespace {

using areal::Region;
using Texts = std::vector<std::string>;

/// Regions, answers and first_invalid, on the host or on the tables' device.
template <class Given>
class Asked {
 public:
  Asked(const Question& q, const areal::SatView& table, const std::vector<Given>& given)
      : place_(q.word("ask_from", "host") == "device" ? table.memory() : areal::MemoryPlace()),
        given_(numbers_of(given), Lie(), place_),
        first_({1, 1}, areal::Type::s64, Lie(), place_),
        options_(query_options(q)),
        count_(given.size()),
        vectors_(q.word("form", "span") == "vector"),
        host_(given) {
    if (q.flag_param("first_invalid")) options_.first_invalid = first_.span<std::int64_t>();
  }
  areal::Span<const Given> regions() noexcept {
    if (place_.is_host() && vectors_) return areal::Span<const Given>(host_);
    return {static_cast<const Given*>(given_.view().data), count_, place_};
  }
  const areal::QueryOptions& options() const noexcept { return options_; }
  /// `ask(regions, out, options)` fills a span of guarded memory.
  template <class T, class Ask>
  Texts answers(std::size_t count, const Ask& ask) {
    Room out({static_cast<std::int64_t>(count), 1}, areal::type_of<T>, Lie(), place_);
    ask(regions(), out.span<T>(), options_);
    return texts<T>(out.take("the answers"));
  }
  bool wants_vectors() const noexcept { return vectors_; }
  Json first_invalid() {
    Room& room = first_;
    const Elements number = room.take("first_invalid");
    std::int64_t value = 0;
    std::memcpy(&value, number.bytes.data(), sizeof value);
    return value;
  }
  template <class T>
  static Texts texts(const Elements& elements) {
    Texts all;
    for (std::size_t i = 0; i < elements.bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, &elements.bytes[i], sizeof value);
      all.push_back(text_of(value));
    }
    return all;
  }

 private:
  static Elements numbers_of(const std::vector<Given>& given) {
    constexpr auto columns = static_cast<std::int64_t>(sizeof(Given) / sizeof(std::int64_t));
    Elements elements = elements_of({columns, static_cast<std::int64_t>(given.size())}, areal::Type::s64);
    if (!given.empty()) std::memcpy(elements.bytes.data(), given.data(), elements.bytes.size());
    return elements;
  }
  areal::MemoryPlace place_;
  Room given_, first_;
  areal::QueryOptions options_;
  std::size_t count_;
  bool vectors_;
  std::vector<Given> host_;
};

template <class T>
Texts texts_of(const std::vector<T>& values) {
  Texts all;
  for (const T value : values) all.push_back(text_of(value));
  return all;
}

template <class T>
Texts sums(Asked<Region>& asked, const areal::SatView& table) {
  if (asked.wants_vectors()) return texts_of(areal::region_sums<T>(table, asked.regions(), asked.options()));
  return asked.answers<T>(areal::answers_of(table, asked.regions().size()),
                          [&table](auto regions, auto out, const areal::QueryOptions& options) {
                            areal::region_sums(table, regions, out, options);
                          });
}

Texts sums_of_type(Asked<Region>& asked, const areal::SatView& table, bool as_double) {
  const areal::Type type = table.sum.view.type;
  if (as_double || areal::is_float(type)) return sums<double>(asked, table);
  return areal::is_signed_integer(type) ? sums<std::int64_t>(asked, table) : sums<std::uint64_t>(asked, table);
}

Texts tilted(const Question& q, Asked<Region>& asked, const areal::SatView& table) {
  if (!table.tilted) {  // for areal to say so
    return texts_of(areal::tilted_sums(table, asked.regions(), asked.options()));
  }
  Texts all(areal::answers_of(areal::SatView(*table.tilted, areal::Border::zero), asked.regions().size()));
  const auto& shape = table.tilted->shape;
  for (std::int64_t n = 0; n < shape.batch; ++n)
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      const areal::ConstView one = q.word("by", "all") == "all" && shape.batch * shape.channels == 1
                                       ? *table.tilted
                                       : areal::plane(*table.tilted, c, n);
      const Texts some = asked.answers<double>(asked.regions().size(),
                                               [&one](auto regions, auto out, const areal::QueryOptions& options) {
                                                 areal::tilted_sums(one, regions, out, options);
                                               });
      const auto planes = static_cast<std::size_t>(shape.batch * shape.channels);
      for (std::size_t i = 0; i < some.size(); ++i)
        all[i * planes + static_cast<std::size_t>(n * shape.channels + c)] = some[i];
    }
  return all;
}

using Spanned = void (*)(const areal::SatView&, areal::Span<const Region>, areal::Span<double>,
                         const areal::QueryOptions&);
using Listed = std::vector<double> (*)(const areal::SatView&, areal::Span<const Region>, const areal::QueryOptions&);

Texts doubles(Asked<Region>& asked, const areal::SatView& table, Spanned spanned, Listed listed) {
  if (asked.wants_vectors()) return texts_of(listed(table, asked.regions(), asked.options()));
  return asked.answers<double>(areal::answers_of(table, asked.regions().size()),
                               [&table, spanned](auto regions, auto out, const areal::QueryOptions& options) {
                                 spanned(table, regions, out, options);
                               });
}

/// N x images x channels answers.
Texts ask(const Question& q, Asked<Region>& asked, const areal::SatView& table, const std::string& stat) {
  if (stat == "sum") return sums_of_type(asked, table, q.word("as") == "double");
  if (stat == "mean") return doubles(asked, table, areal::region_means, areal::region_means);
  if (stat == "variance") return doubles(asked, table, areal::region_variances, areal::region_variances);
  if (stat == "std") return doubles(asked, table, areal::region_standard_deviations, areal::region_standard_deviations);
  if (stat == "tilted") return tilted(q, asked, table);
  if (stat == "squares" && table.squares)
    return sums_of_type(asked, areal::SatView(*table.squares), q.word("as") == "double");
  if (stat == "squares") throw BadQuestion("stats: squares, of tables without squares");
  if (stat != "count")
    throw BadQuestion("stats: " + stat + " is none of sum, squares, mean, variance, std, count, tilted");
  if (!table.count) throw BadQuestion("stats: count, of tables without counts");
  return sums_of_type(asked, areal::SatView(*table.count), q.word("as") == "double");
}

/// [image][channel][region].
Json arranged(const Texts& answers, std::int64_t images, std::int64_t channels) {
  const auto planes = static_cast<std::size_t>(images * channels);
  Json all = Json::array();
  for (std::int64_t n = 0; n < images; ++n) {
    all.push_back(Json::array());
    for (std::int64_t c = 0; c < channels; ++c) {
      Json one = Json::array();
      for (std::size_t i = static_cast<std::size_t>(n * channels + c); i < answers.size(); i += planes)
        one.push_back(answers[i]);
      all.back().push_back(std::move(one));
    }
  }
  return all;
}

Json by_planes(const Question& q, Asked<Region>& asked, const Tables& tables, const std::string& stat) {
  const areal::Shape& shape = stat == "count" && tables.count.data ? tables.count.shape : tables.sum.shape;
  Json all = Json::array();
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    all.push_back(Json::array());
    for (std::int64_t c = 0; c < shape.channels; ++c)
      all.back().push_back(arranged(ask(q, asked, plane_of(tables, c, n), stat), 1, 1)[0][0]);
  }
  return all;
}

/// Each region by a call of its own, of one plane.
Json one_by_one(const Question& q, const Tables& tables, const std::vector<Region>& regions) {
  Json all = Json::array();
  for (std::int64_t n = 0; n < tables.sum.shape.batch; ++n) {
    all.push_back(Json::array());
    for (std::int64_t c = 0; c < tables.sum.shape.channels; ++c) {
      Json one = Json::array();
      const areal::SatView plane = plane_of(tables, c, n);
      for (const Region& region : regions) one.push_back(text_of(areal::region_sum(plane, region, query_options(q))));
      all.back().push_back(std::move(one));
    }
  }
  return all;
}

Json of_boxes(const Question& q, const areal::SatView& view) {
  const std::vector<areal::Box> boxes = boxes_of(q);
  Asked<areal::Box> asked(q, view, boxes);
  Json answer = q.answer();
  const Texts sums = asked.wants_vectors()
                         ? texts_of(areal::box_sums(view, asked.regions(), asked.options()))
                         : asked.answers<double>(boxes.size(), [&view](auto regions, auto out, const auto& options) {
                             areal::box_sums(view, regions, out, options);
                           });
  answer["answers"]["sum"] = arranged(sums, 1, 1);
  if (!asked.options().first_invalid.empty()) answer["first_invalid"]["sum"] = asked.first_invalid();
  return answer;
}

/// Counts are of all channels together: each channel says them.
void repeat_for_channels(Json& counts, std::int64_t channels) {
  for (Json& image : counts)
    while (image.size() < static_cast<std::size_t>(channels)) image.push_back(Json(image[0]));
}

}  // namespace

Json answer_regions(const Question& q, const Tables& tables) {
  const Json stats = q.has("stats") ? q["stats"] : Json::array({"sum"});
  if (tables.volume && tables.of == nullptr) {
    for (const Json& stat : stats)
      if (stat != "sum") throw BadQuestion("stats: of boxes of a volume there are sums alone");
    return of_boxes(q, tables.view());
  }
  if (tables.volume && tables.of) return of_boxes(q, areal::SatView(tables.sum, tables.border));
  if (tables.reverse && tables.border != areal::Border::zero && !tables.of)
    throw BadQuestion("regions: reversed tables answer in border zero alone");
  const std::vector<Region> regions = regions_of(q);
  const areal::SatView view = tables.view();
  Asked<Region> asked(q, view, regions);
  const std::string by = q.word("by", tables.of ? "planes" : "all");
  Json answer = q.answer();
  for (const Json& stat_json : stats) {
    const auto stat = stat_json.get<std::string>();
    if (by == "one" && stat == "sum") {
      answer["answers"][stat] = one_by_one(q, tables, regions);
      continue;
    }
    const bool counts = stat == "count" && tables.count.data;
    answer["answers"][stat] = by == "all" ? arranged(ask(q, asked, view, stat), tables.sum.shape.batch,
                                                     counts ? tables.count.shape.channels : tables.sum.shape.channels)
                                          : by_planes(q, asked, tables, stat);
    if (counts) repeat_for_channels(answer["answers"][stat], tables.sum.shape.channels);
    if (!asked.options().first_invalid.empty()) answer["first_invalid"][stat] = asked.first_invalid();
  }
  return answer;
}

}  // namespace doors
