#include "launch_table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>
#include "help.hpp"
#include "numbers.hpp"
#include "out.hpp"

namespace areal::command {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const GlobalCounts& c) {
  return {{"elements", c.elements}, {"bytes", c.bytes},   {"requests", c.requests}, {"coalesced", c.coalesced},
          {"strided", c.strided},   {"groups", c.groups}, {"sectors", c.sectors}};
}
Json json_of(const SharedCounts& c) {
  return {{"elements", c.elements}, {"bytes", c.bytes}, {"requests", c.requests}, {"conflicts", c.conflicts}};
}

SharedCounts shared(const Counts& c) {
  SharedCounts all = c.shared_reads;
  all += c.shared_writes;
  return all += c.shared_atomics;
}

Json json_of(const LaunchCounts& launch) {
  const Counts& c = launch.counts;
  return {{"kernel", launch.kernel},
          {"blocks", launch.blocks},
          {"threads", launch.threads},
          {"reads", json_of(c.reads)},
          {"writes", json_of(c.writes)},
          {"atomics", json_of(c.atomics)},
          {"shared_reads", json_of(c.shared_reads)},
          {"shared_writes", json_of(c.shared_writes)},
          {"shared_atomics", json_of(c.shared_atomics)},
          {"published", c.published},
          {"polls", c.polls},
          {"shuffles", c.shuffles},
          {"votes", c.votes},
          {"barrier_steps", c.barrier_steps()}};
}

/// A line of the table and the number that it shows of a launch.
struct Line {
  const char* name;
  std::uint64_t (*of)(const LaunchCounts&);
};
constexpr Line lines[] = {
    {"blocks", [](const LaunchCounts& l) { return static_cast<std::uint64_t>(l.blocks); }},
    {"global reads, coalesced", [](const LaunchCounts& l) { return l.counts.reads.coalesced; }},
    {"  strided", [](const LaunchCounts& l) { return l.counts.reads.strided; }},
    {"  address groups", [](const LaunchCounts& l) { return l.counts.reads.groups; }},
    {"  sectors", [](const LaunchCounts& l) { return l.counts.reads.sectors; }},
    {"global writes, coalesced", [](const LaunchCounts& l) { return l.counts.writes.coalesced; }},
    {"  strided", [](const LaunchCounts& l) { return l.counts.writes.strided; }},
    {"  address groups", [](const LaunchCounts& l) { return l.counts.writes.groups; }},
    {"  sectors", [](const LaunchCounts& l) { return l.counts.writes.sectors; }},
    {"shared accesses", [](const LaunchCounts& l) { return shared(l.counts).elements; }},
    {"  bank conflicts", [](const LaunchCounts& l) { return shared(l.counts).conflicts; }},
    {"global atomics", [](const LaunchCounts& l) { return l.counts.atomics.elements; }},
    {"polls", [](const LaunchCounts& l) { return l.counts.polls; }},
    {"barrier steps", [](const LaunchCounts& l) { return l.counts.barrier_steps(); }},
};

}  // namespace

void LaunchTable::add_to(CLI::App& verb) {
  begin_group(verb, group::output);
  verb.add_flag("--count", enabled_,
                "With --backend simt: print the accesses and waits of each launch on standard error");
}

LaunchReport LaunchTable::report(const Settings& settings) {
  if (!enabled_) return {};
  if (settings.backend != Backend::simt)
    refuse("--count: backend ", name_of(settings.backend), " does not count; it needs --backend simt");
  return [this](const LaunchCounts& launch) { launches_.push_back(launch); };
}

nlohmann::ordered_json LaunchTable::take_json() {
  Json list = Json::array();
  for (const LaunchCounts& launch : std::exchange(launches_, {})) list.push_back(json_of(launch));
  return list;
}

std::string LaunchTable::text() const {
  constexpr std::size_t first = 26, least = 14;
  const auto width = [&](const LaunchCounts& launch) { return std::max(least, launch.kernel.size() + 2); };
  std::string text(first, ' ');
  for (const LaunchCounts& launch : launches_) text += fmt::format("{:>{}}", launch.kernel, width(launch));
  text += fmt::format("{:>{}}", "all", least);
  for (const Line& line : lines) {
    text += fmt::format("\n{:<{}}", line.name, first);
    std::uint64_t all = 0;
    for (const LaunchCounts& launch : launches_) {
      text += fmt::format("{:>{}}", line.of(launch), width(launch));
      all += line.of(launch);
    }
    text += fmt::format("{:>{}}", all, least);
  }
  return text;
}

void LaunchTable::write(const Item& item, bool is_sequence, const Settings& settings) {
  if (launches_.empty()) return;
  if (settings.json) {
    Json row;
    if (is_sequence) row["frame"] = item.number;
    row["launches"] = take_json();
    write_out(row.dump() + "\n");
    return;
  }
  flush_out();  // on a shared terminal, rows come before the table
  if (is_sequence) Settings::say(fmt::format("frame {}", item.number));
  std::istringstream table(text());
  for (std::string line; std::getline(table, line);) Settings::say(line);
  launches_.clear();
}

}  // namespace areal::command
