// Answers questions about tables, histograms, regions and windows, each through a named way of the public headers: a
// line of JSON in, a line of JSON out. `{"list": true}` says which ways there are, `{"self_test": true}` whether
// planted faults are found. tests/doors/question.hpp has the fields.

#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/info.hpp>
#include <array>
#include <iostream>
#include <string>

#include "door.hpp"

namespace doors {
namespace {

std::vector<Door> all_doors() {
  std::vector<Door> all;
  for (const auto some :
       {table_doors(), border_doors(), device_doors(), piece_doors(), strip_doors(), histogram_doors(),
        histogram_part_doors(), cluster_doors(), chunked_doors(), line_doors(), track_doors(), filter_doors()})
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
  const Question question(line);
  for (const Door& door : all_doors()) {
    if (door.name != question.door()) continue;
    if (std::ranges::find(door.families, question.family()) == door.families.end())
      throw BadQuestion("family: the door " + question.door() + " does not answer " + question.family());
    Json answer = door.ask(question);
    question.expect_sound();
    return answer;
  }
  throw BadQuestion("door: there is none of the name '" + question.door() + "'");
}

Json refused(const Json& id, const char* kind, const std::exception& error) {
  return {{"id", id}, {"refused", error.what()}, {"kind", kind}};
}

Json answer_to(const std::string& text) {
  Json id;
  try {
    const Json line = Json::parse(text);
    if (line.is_object() && line.contains("id")) id = line["id"];
    return ask(line);
  } catch (const areal::InvalidArgument& error) {
    return refused(id, "InvalidArgument", error);
  } catch (const areal::OutOfMemory& error) {
    return refused(id, "OutOfMemory", error);
  } catch (const areal::IoError& error) {
    return refused(id, "IoError", error);
  } catch (const areal::Unavailable& error) {
    return refused(id, "Unavailable", error);
  } catch (const areal::DeviceError& error) {
    return refused(id, "DeviceError", error);
  } catch (const areal::Cancelled& error) {
    return refused(id, "Cancelled", error);
  } catch (const areal::Error& error) {
    return refused(id, "Error", error);
  } catch (const BadQuestion& error) {
    return refused(id, "Question", error);
  } catch (const Json::exception& error) {
    return refused(id, "Question", error);
  } catch (const std::exception& error) {
    return {{"id", id}, {"failed", error.what()}};
  } catch (...) {
    return {{"id", id}, {"failed", "an exception of no known type"}};
  }
}

}  // namespace
}  // namespace doors

int main() {
  for (std::string line; std::getline(std::cin, line);)
    if (!line.empty())
      std::cout << doors::answer_to(line).dump(-1, ' ', false, doors::Json::error_handler_t::replace) << std::endl;
}
