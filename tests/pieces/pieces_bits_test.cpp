// The bits of float tables and tensors in parts, by engine, options and SIMD target, against tests/pieces/bits.json.
// AREAL_RECORD_BITS=1 records them. See README.md.
#include <gtest/gtest.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include "conformance/backends.hpp"
#include "cpu/simd.hpp"
#include "piece_matrix/table_engines.hpp"
#include "piece_matrix/tensor_engines.hpp"

namespace areal::piece_matrix {
namespace {

/// FNV-1a of the elements as the table's type has them, in the order of images, channels, rows and columns.
class Hash {
 public:
  void add(const Values& values) {
    Buffer dense(values.type,
                 {values.shape.width, values.shape.height, values.shape.channels, values.shape.batch, Layout::planar},
                 conformance::placements[0], conformance::Guard::input);
    conformance::write(values, dense.view());
    for (const std::uint8_t byte : dense.bytes()) hash_ = (hash_ ^ byte) * 0x100000001b3u;
  }
  std::string text() const {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
    return text;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// Of several vectors and rows of blocks of the CPU's algorithm; small, where every access is simulated.
constexpr Cut large{"large", 331, 203, 96, 40}, small{"small", 75, 41, 40, 16};

std::string bits_of_tables(const TableWay& way, const TableQuestion& q) {
  const Tables tables = way.compute(q, TableInputs(q));
  Hash hash;
  hash.add(tables.sum);
  if (tables.squares) hash.add(*tables.squares);
  return hash.text();
}

/// Options whose results are rounded.
struct FloatOptions {
  const char *name, *types;
  Border border;
  std::vector<const char*> groups;
};
const std::vector<FloatOptions>& float_options() {
  static const std::vector<FloatOptions> all = {{"sum", "32f32f", Border::zero, {}},
                                                {"sum in double", "32f64f", Border::none, {}},
                                                {"sum, exclusive", "64f64f", Border::exclusive, {}},
                                                {"sum of halves", "16f32f", Border::zero, {}},
                                                {"squares", "32f32f", Border::zero, {"squares"}},
                                                {"channels", "32f32f", Border::none, {"channels"}},
                                                {"mask and squares", "32f64f", Border::zero, {"mask", "squares"}},
                                                {"ignore_nan", "32f32f", Border::zero, {"ignore_nan"}}};
  return all;
}

using Bits = std::map<std::string, std::string>;

/// Of every engine that takes these options on a backend.
Bits bits_on(Backend backend) {
  const Cut& cut = backend == Backend::cpu ? large : small;
  Bits bits;
  for (const FloatOptions& f : float_options()) {
    std::vector<const TableOption*> options;
    for (const std::string_view group : f.groups)
      options.push_back(std::ranges::find_if(table_options, [&](const TableOption& o) { return o.group == group; }));
    TableQuestion q = table_question(f.border, type_pair(f.types), cut, options);
    q.backend = backend;
    const auto record = [&](const TableWay& way) {
      try {
        bits[std::string(way.name) + ", " + f.name] = bits_of_tables(way, q);
      } catch (const InvalidArgument&) {  // the matrix looks at what is refused
      }
    };
    record({"whole", whole_tables});
    for (const TableEngine& engine : table_engines())
      if (backend == Backend::cpu || std::string_view(engine.name) != "SpreadSat::execute")
        for (const TableWay& way : engine.ways) record(way);
  }
  TensorQuestion q;
  q.cut = cut, q.type = Type::u8, q.image = {cut.image_width, cut.image_height}, q.backend = backend;
  set_weights(q, Type::f32, Type::f32);
  TensorInputs in(q);
  const Values weights =
      conformance::random_image(Type::f32, {q.image.width, q.image.height}, conformance::Fill::wild, q.seed);
  conformance::write(weights, in.weights.view);
  const auto record = [&](const char* name, const Values& tensor) {
    Hash hash;
    hash.add(tensor);
    bits[std::string(name) + ", weights"] = hash.text();
  };
  record("whole tensor", whole_tensor(q, in));
  for (const TensorWay& way : tensor_engines()[0].ways) record(way.name, way.compute(q, in));
  return bits;
}

constexpr const char* file = AREAL_SOURCE_DIR "/tests/pieces/bits.json";
nlohmann::ordered_json recorded() {
  std::ifstream in(file);
  return in ? nlohmann::ordered_json::parse(in) : nlohmann::ordered_json::object();
}

/// False for a target that is not recorded.
bool expect_recorded(const std::string& target, Backend backend) {
  nlohmann::ordered_json all = recorded();
  if (std::getenv("AREAL_RECORD_BITS") != nullptr) {
    all[target] = bits_on(backend);
    std::ofstream(file) << all.dump(1) << '\n';
  }
  if (!all.contains(target)) return false;
  const Bits expected = all[target].get<Bits>(), bits = bits_on(backend);
  for (const auto& [name, hash] : expected) {
    const auto found = bits.find(name);
    EXPECT_EQ(found == bits.end() ? "refused" : found->second, hash) << target << ": " << name;
  }
  for (const auto& [name, hash] : bits)
    EXPECT_EQ(expected.count(name), 1u) << target << ": " << name << " is not recorded: see README.md";
  return true;
}

TEST(PiecesBits, TheHashTellsABit) {
  TableQuestion q = table_question(Border::none, type_pair("32f32f"), small, {});
  Tables tables = strip_tables<Way::run>(q, TableInputs(q));
  Hash one, same, other;
  one.add(tables.sum), same.add(tables.sum);
  long double& value = tables.sum.real[tables.sum.at(70, 40)];
  value = std::nextafter(static_cast<float>(value), 1e30f);
  other.add(tables.sum);
  EXPECT_EQ(one.text(), same.text());
  EXPECT_NE(one.text(), other.text());
}

TEST(PiecesBits, OfEverySimdTarget) {
  std::vector<std::string> targets = cpu::simd_targets();
  if (extent() == Extent::few) targets = {targets.front(), targets.back()};
  int compared = 0;
  for (const std::string& target : targets) {
    ASSERT_TRUE(cpu::only_simd_target(target));
    compared += expect_recorded(target, Backend::cpu) ? 1 : 0;
  }
  cpu::only_simd_target("");
  if (compared == 0) GTEST_SKIP() << "no target of this machine is recorded: see README.md";
}

TEST(PiecesBits, OfTheSimulatedMachine) {
  if (conformance::missing(Backend::simt)) GTEST_SKIP() << "no simulated machine in this build";
  EXPECT_TRUE(expect_recorded("simt", Backend::simt));
}

}  // namespace
}  // namespace areal::piece_matrix
