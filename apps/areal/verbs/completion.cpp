// areal completion: scripts for bash, zsh and fish, made from the verbs and options of the command.

#include <CLI/CLI.hpp>
#include "io/help.hpp"
#include "io/laboratory.hpp"
#include "io/numbers.hpp"
#include "io/out.hpp"
#include "verbs.hpp"

namespace areal::command {
namespace {

// The verbs of the command, or the sub-commands of a verb, without hidden ones.
std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

// An alias kept for old scripts.
bool is_hidden(const CLI::Option& option) { return option.get_group().empty(); }

// "--bins --range -o --output ..." of a verb and its sub-commands, or of the command itself.
std::string options_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    if (is_hidden(*option)) continue;
    for (const std::string& name : option->get_lnames()) words += " --" + name;
    for (const std::string& name : option->get_snames()) words += " -" + name;
  }
  if (app.get_parent() != nullptr)
    for (const CLI::App* sub : verbs_of(app)) words += " " + options_of(*sub);
  return words.empty() ? words : words.substr(1);
}

std::string verb_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* verb : verbs_of(app)) names += (names.empty() ? "" : " ") + verb->get_name();
  return names;
}

// What follows each verb.
std::string bash_cases(const CLI::App& app) {
  std::string lines;
  for (const CLI::App* verb : verbs_of(app))
    if (!is_for_laboratory(*verb))
      lines +=
          "    " + verb->get_name() + ") options=\"" + options_of(*verb) + "\" subs=\"" + verb_names(*verb) + "\" ;;\n";
  return lines;
}

// Also works in zsh, through bashcompinit.
std::string bash(const CLI::App& app) {
  std::string script =
      "_areal() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" verb=\"\" options=\"\" subs=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"${COMP_WORDS[i]}\" in\n      " +
      [&] {
        std::string pattern;
        for (const CLI::App* verb : verbs_of(app)) pattern += (pattern.empty() ? "" : "|") + verb->get_name();
        return pattern;
      }() +
      ") verb=\"${COMP_WORDS[i]}\"; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$verb\" in\n";
  script += bash_cases(app) + laboratory_output({"completion", "bash", "--verbs"});
  script += "    *) options=\"" + verb_names(app) +
            "\" ;;\n"
            "  esac\n"
            "  if [[ -z \"$verb\" || \"$word\" == -* ]]; then\n"
            "    COMPREPLY=($(compgen -W \"$options " +
            options_of(app) +
            "\" -- \"$word\"))\n"
            "  else\n"
            "    COMPREPLY=($(compgen -f -W \"$subs\" -- \"$word\"))\n"
            "  fi\n"
            "}\n"
            "complete -o filenames -F _areal areal\n";
  return script;
}

std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\'");
  return "'" + text + "'";
}

std::string fish_options(const CLI::App& of, const std::string& condition) {
  std::string text;
  for (const CLI::Option* option : of.get_options()) {
    if (is_hidden(*option) || (option->get_lnames().empty() && option->get_snames().empty())) continue;
    text += "complete -c areal" + condition;
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    if (option->get_items_expected_min() > 0) text += " -r";
    text += " -d " + quoted(option->get_description()) + "\n";
  }
  return text;
}

std::string fish_verbs(const CLI::App& app) {
  std::string script;
  for (const CLI::App* verb : verbs_of(app)) {
    if (is_for_laboratory(*verb)) continue;
    script += "complete -c areal -n __fish_use_subcommand -f -a " + verb->get_name() + " -d " +
              quoted(verb->get_description()) + "\n";
    const std::string seen = " -n '__fish_seen_subcommand_from " + verb->get_name() + "'";
    script += fish_options(*verb, seen);
    for (const CLI::App* sub : verbs_of(*verb))
      script += "complete -c areal" + seen + " -a " + sub->get_name() + " -d " + quoted(sub->get_description()) + "\n" +
                fish_options(*sub, seen);
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, Settings&) {
  CLI::App* verb = app.add_subcommand("completion", "A shell script that completes verbs and options");
  auto shell = std::make_shared<std::string>();
  auto only_verbs = std::make_shared<bool>(false);
  begin_group(*verb, group::what);
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  verb->add_flag("--verbs", *only_verbs, "Only the lines of the verbs, for the script of another program")->group("");
  verb->footer("For bash: source <(areal completion bash)\n\nExample:\n  areal completion bash");
  verb->callback([shell, only_verbs, &app] {
    if (*only_verbs)
      write_out(*shell == "bash" ? bash_cases(app) : fish_verbs(app));
    else if (*shell == "bash")
      write_out(bash(app));
    else if (*shell == "zsh")
      write_out("autoload -U +X bashcompinit && bashcompinit\n" + bash(app));
    else if (*shell == "fish")
      write_out(fish_options(app, "") + fish_verbs(app) + laboratory_output({"completion", "fish", "--verbs"}));
    else
      refuse("completion ", *shell, ": may be bash, zsh or fish");
  });
}

}  // namespace areal::command
