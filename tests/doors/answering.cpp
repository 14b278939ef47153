#include "answering.hpp"

#include <algorithm>
#include <areal/error.hpp>

namespace doors {
namespace {

Json refused(const Json& id, const char* kind, const std::exception& error) {
  return {{"id", id}, {"refused", error.what()}, {"kind", kind}};
}

}  // namespace

Json answered(const std::string& text, const std::function<Json(const Json&)>& ask) {
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

Json ask_one_of(std::span<const Door> all, const Json& line) {
  const Question question(line);
  for (const Door& door : all) {
    if (door.name != question.door()) continue;
    if (std::ranges::find(door.families, question.family()) == door.families.end())
      throw BadQuestion("family: the door " + question.door() + " does not answer " + question.family());
    Json answer = door.ask(question);
    question.expect_sound();
    return answer;
  }
  throw BadQuestion("door: there is none of the name '" + question.door() + "'");
}

std::string line_of(const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace doors
