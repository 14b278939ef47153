// areal help: what --help prints.

#include "io/help.hpp"
#include "io/laboratory.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "verbs.hpp"

namespace areal::command {

void add_help(CLI::App& app, Settings& settings) {
  CLI::App* verb = app.add_subcommand("help", "The options of a verb, as areal VERB --help prints them");
  auto words = std::make_shared<std::vector<std::string>>();
  begin_group(*verb, group::input);
  verb->add_option("VERB", *words, "The verb, and its sub-command; without it, the verbs are listed");
  verb->footer("Example:\n  areal help sat");
  verb->callback([words, &app, &settings] {
    const CLI::App* of = &app;
    std::string name = app.get_name();
    for (const std::string& word : *words) {
      const std::vector<const CLI::App*> found =
          of->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
      if (found.empty())
        refuse(word,
               of == &app ? " is not a verb; areal --help lists them"
               : of->get_subcommands([](const CLI::App*) { return true; }).empty()
                   ? ": " + of->get_name() + " has no sub-commands; areal help " + of->get_name() + " shows its options"
                   : " is not a sub-command; areal help " + of->get_name() + " lists them");
      of = found.front();
      if (is_for_laboratory(*of)) become_laboratory(settings.arguments);  // which has this verb, too
      name += " " + word;
    }
    write_out(app.get_formatter()->make_help(of, name, CLI::AppFormatMode::Normal));
  });
}

}  // namespace areal::command
