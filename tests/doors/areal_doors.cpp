// Answers questions about tables, histograms, regions and windows, each through a named way of the public headers: a
// line of JSON in, a line of JSON out. `{"list": true}` says which ways there are, `{"self_test": true}` whether
// planted faults are found. tests/doors/question.hpp has the fields.

#include <areal/catalog.hpp>
#include <areal/info.hpp>
#include <iostream>
#include <string>

#include "answering.hpp"
#include "door.hpp"

namespace doors {
namespace {

std::vector<Door> all_doors() {
  std::vector<Door> all;
  for (const auto some : {table_doors(), border_doors(), device_doors(), piece_doors(), strip_doors(),
                          histogram_doors(), histogram_part_doors(), cluster_doors(), chunked_doors(), line_doors(),
                          track_doors(), filter_doors(), cascade_doors(), store_doors()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

Json list_of(std::span<const Field> fields) {
  Json list;
  for (const Field& field : fields) list[std::string(field.name)] = field.meaning;
  return list;
}

Json list() {
  Json answer{{"fields", list_of(question_fields())}, {"params", list_of(param_fields())}};
  for (const Door& door : all_doors()) answer["doors"].push_back({{"name", door.name}, {"families", door.families}});
  for (const auto& row : areal::algorithms()) {
    Json types = Json::array();
    for (const areal::TypePair pair : areal::type_pairs_of(row)) types.push_back(areal::name_of(pair));
    answer["algorithms"].push_back({{"family", row.family},
                                    {"id", row.id},
                                    {"cpu", row.cpu},
                                    {"simt", row.simt},
                                    {"cuda", row.cuda},
                                    {"plain_only", row.plain_only},
                                    {"types", types}});
  }
  for (const areal::TypePair pair : areal::type_pairs()) answer["types"].push_back(areal::name_of(pair));
  for (const auto& backend : areal::backends())
    answer["backends"].push_back(
        {{"name", areal::name_of(backend.backend)}, {"available", backend.available}, {"why_not", backend.why_not}});
  return answer;
}

Json ask(const Json& line) {
  if (line.is_object() && line.contains("list")) return list();
  if (line.is_object() && line.contains("self_test")) return self_test();
  return ask_one_of(all_doors(), line);
}

}  // namespace
}  // namespace doors

int main() {
  for (std::string line; std::getline(std::cin, line);)
    if (!line.empty()) std::cout << doors::line_of(doors::answered(line, doors::ask)) << std::endl;
}
