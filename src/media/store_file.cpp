// Stores on disk: S.npy, their bytes, and the sidecar S.json, with the plan that restores them.
#include <algorithm>
#include <areal/version.hpp>
#include <cmath>
#include "media/file_error.hpp"
#include "media/npy.hpp"
#include "media/picture_formats.hpp"
#include "media/sidecar.hpp"

namespace areal::media {
namespace {

constexpr std::int64_t layout_version = 1;  // of the bytes
constexpr std::string_view rule_names[] = {"uniform", "edges", "lookup", "labels", "joint"};

Json rule_text(const Binning& binning) {
  Json json{{"kind", rule_names[static_cast<std::size_t>(binning.kind())]}};
  switch (binning.kind()) {
    case Binning::Kind::uniform:
      json.update({{"bins", binning.bins()}, {"lo", binning.lo()}, {"hi", binning.hi()}});
      break;
    case Binning::Kind::edges:
      json["edges"] = edges_text(binning.bin_edges());
      break;
    case Binning::Kind::lookup:
      json["table"] = binning.table();
      break;
    case Binning::Kind::labels:
      json["bins"] = binning.bins();
      if (binning.ignored_label()) json["ignored"] = *binning.ignored_label();
      break;
    case Binning::Kind::joint:
      json["channels"] = Json::array();
      for (const Binning& part : binning.parts()) json["channels"].push_back(rule_text(part));
      break;
  }
  if (binning.is_clamped()) json["clamped"] = true;
  return json;
}

Binning rule_in(const Sidecar& in, const Json& json) {
  const std::string kind = in.text(json, "kind");
  const auto* const found = std::find(std::begin(rule_names), std::end(rule_names), kind);
  if (found == std::end(rule_names))
    fail(in.name(), "\"kind\" of the rule is '", printable(kind, 40),
         "', it must be uniform, edges, lookup, labels or joint");
  const auto rule = [&] {
    switch (static_cast<Binning::Kind>(found - std::begin(rule_names))) {
      case Binning::Kind::uniform:
        return Binning::uniform(in.extent(json, "bins"), in.real(json, "lo"), in.real(json, "hi"));
      case Binning::Kind::edges:
        return Binning::edges(in.edges(json, "edges"));
      case Binning::Kind::lookup: {
        std::vector<std::int32_t> table;
        for (const double bin : in.edges(json, "table")) {
          if (!(bin >= -1 && bin <= 65534) || bin != std::floor(bin))
            fail(in.name(), "\"table\" must hold whole numbers from -1 to 65534");
          table.push_back(static_cast<std::int32_t>(bin));
        }
        return Binning::lookup(std::move(table));
      }
      case Binning::Kind::labels: {
        std::optional<std::int64_t> ignored;
        if (json.contains("ignored")) ignored = in.whole(json, "ignored");
        return Binning::labels(in.extent(json, "bins"), ignored);
      }
      case Binning::Kind::joint:
        break;
    }
    const Json& channels = in.at(json, "channels");
    if (!channels.is_array()) fail(in.name(), "\"channels\" of the rule must be a list");
    if (channels.size() > 3) fail(in.name(), "a joint rule has 2 or 3 channels, not ", channels.size());
    std::vector<Binning> parts;
    for (const Json& part : channels) parts.push_back(rule_in(in, part));
    return Binning::joint(std::move(parts));
  }();
  return json.contains("clamped") && in.flag(json, "clamped") ? rule.clamped() : rule;
}

void require_store_name(const fs::path& path) {
  if (extension_of(path) != ".npy") refuse(path.string(), "a store's name must end in .npy");
}

// The plan that a sidecar describes, of a store that lies where the execution is.
StorePlan plan_in(const Sidecar& in, const Execution& execution) {
  StoreOptions options;
  options.store = in.text("kind") == "rank" ? Store::rank : Store::compact;
  const Shape shape = in.shape();
  const Type type = in.type("type");
  const auto small = [&](const char* key) {
    return static_cast<int>(std::min<std::int64_t>(in.extent(in.json(), key), 1 << 20));
  };
  if (options.store == Store::rank) {
    options.bits = small("bits");
    return StorePlan(shape, type, options, execution);
  }
  options.block = small("block");
  options.masked = in.flag(in.json(), "masked");
  return StorePlan(shape, type, rule_in(in, in.at("rule")), options, execution);
}

}  // namespace

bool is_store(const fs::path& path) {
  if (extension_of(path) != ".npy") return false;
  const std::optional<Sidecar> sidecar = own_sidecar(path);
  if (!sidecar) return false;
  const std::string kind = sidecar->text("kind");
  return kind == "compact" || kind == "rank";
}

void require_store_format(const fs::path& path) {
  require_store_name(path);
  require_own_sidecar(path);
}

void write_store(const fs::path& path, const StorePlan& plan, const HistogramStore& store, const std::string& source) {
  require_store_format(path);
  const Span<const std::byte> data = store.data();
  if (data.empty()) refuse(path.string(), "a store ", name_of(store.store()), " has no bytes to write");
  const Shape line{static_cast<std::int64_t>(data.size()), 1};
  const Array copy = data.memory().is_host() ? Array() : store.to_host();
  const ConstView bytes = data.memory().is_host() ? ConstView(data.data(), Type::u8, line) : copy.view();
  Json json{{"areal", areal::version()},
            {"table", path.filename().string()},
            {"kind", name_of(store.store())},
            {"version", layout_version},
            {"source", source},
            {"type", name_of(plan.image_type())},
            {"shape", shape_text(plan.image_shape())}};
  if (store.store() == Store::rank)
    json["bits"] = plan.options().bits;
  else
    json.update(
        {{"block", plan.options().block}, {"masked", plan.options().masked}, {"rule", rule_text(plan.binning())}});
  OutputFile file(path, npy_line_bytes(bytes));
  write_npy_line_into(file, bytes);
  commit_with_sidecar(file, path, std::move(json));
}

StoreFile read_store(const fs::path& path, const Execution& execution, std::uint64_t memory_limit) {
  require_store_name(path);
  require_readable(path);
  const fs::path sidecar = sidecar_of(path);
  if (std::error_code error; !fs::exists(sidecar, error))
    fail(path.string(), "its sidecar ", sidecar.string(), " is missing, so what it stores is unknown");
  const Sidecar in(sidecar);
  const std::string kind = in.text("kind");
  if (kind != "compact" && kind != "rank")
    fail(in.name(), "\"kind\" is '", printable(kind, 40), "', a store's must be compact or rank");
  if (const std::int64_t version = in.extent(in.json(), "version"); version != layout_version)
    fail(in.name(), "\"version\" is ", version, "; this areal reads stores of version ", layout_version);
  const auto described = [&](const auto& call) {
    try {
      return call();
    } catch (const InvalidArgument& error) {
      fail(in.name(), "describes no store: ", printable(error.what()));
    }
  };
  const StorePlan plan = described([&] { return plan_in(in, execution); });
  in.require_file(path, "store");
  Array data = read_npy(path, Axes::line, memory_limit);
  if (data.type() != Type::u8 || data.bytes() != plan.bytes())
    fail(path.string(), "holds ", data.bytes(), " bytes of ", name_of(data.type()), ", but its sidecar describes a ",
         kind, " store of ", plan.bytes(), " bytes of 8u");
  try {
    HistogramStore store = plan.restore(std::move(data));
    return {plan, std::move(store), in.text("source")};
  } catch (const InvalidArgument& error) {
    fail(path.string(), "is damaged: ", printable(error.what()));
  }
}

}  // namespace areal::media
