#pragma once
// tests/pieces/refused.txt: what an engine refuses though the whole image takes it. Each line is
//     engine | option | the sentence, a regular expression | why, for a user
// The list may only shrink: a refusal without an entry fails, and so does an entry that no refusal met. An engine
// stands for all its ways ("StripSat" for "StripSat::push"), an option for all its values ("channels" for "channels 3
// planar").

#include <cstddef>
#include <fstream>
#include <istream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace areal::piece_matrix {

struct Entry {
  std::string engine, option, sentence, why;
  bool met = false;
};

class Refused {
 public:
  /// Reads the entries of one engine.
  Refused(std::istream& list, std::string_view engine) {
    for (std::string line; std::getline(list, line);) {
      if (line.empty() || line[0] == '#') continue;
      Entry entry;
      std::string* const fields[] = {&entry.engine, &entry.option, &entry.sentence, &entry.why};
      std::size_t begin = 0;
      for (std::string* const field : fields) {
        const std::size_t end = line.find(" | ", begin);
        *field = line.substr(begin, end == std::string::npos ? end : end - begin);
        begin = end == std::string::npos ? line.size() : end + 3;
      }
      if (entry.why.empty()) faults_.push_back("not four fields separated by ` | `: " + line);
      if (entry.engine == engine || stands_for(engine, entry.engine, "::")) entries_.push_back(entry);
    }
  }
  static Refused of_repository(std::string_view engine) {
    std::ifstream list(AREAL_SOURCE_DIR "/tests/pieces/refused.txt");
    return {list, engine};
  }

  /// Whether an entry covers what a way of the engine said of a question with these options. A question with one option
  /// meets the entry: with more, the others may be why.
  bool covers(std::string_view way, const std::vector<std::string>& options, const std::string& sentence) {
    for (Entry& entry : entries_) {
      if (!(entry.engine == way || stands_for(entry.engine, way, "::"))) continue;
      for (const std::string& option : options) {
        if (!(entry.option == option || stands_for(entry.option, option, " "))) continue;
        if (!std::regex_search(sentence, std::regex(entry.sentence))) continue;
        entry.met = entry.met || options.size() == 1;
        return true;
      }
    }
    return false;
  }
  /// Lines that cannot be read, and entries that nothing met.
  std::vector<std::string> faults() const {
    std::vector<std::string> faults = faults_;
    for (const Entry& entry : entries_)
      if (!entry.met)
        faults.push_back("nothing met the entry `" + entry.engine + " | " + entry.option + "`: remove it");
    return faults;
  }

 private:
  static bool stands_for(std::string_view whole, std::string_view part, std::string_view between) {
    return part.size() > whole.size() && part.substr(0, whole.size()) == whole &&
           part.substr(whole.size(), between.size()) == between;
  }
  std::vector<Entry> entries_;
  std::vector<std::string> faults_;
};

}  // namespace areal::piece_matrix
