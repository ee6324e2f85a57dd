// `payments completion bash|zsh`: a script that completes commands, options and choices. It is made from the commands
// themselves, so a new one needs nothing here.
import { Argument, Command, type Option } from 'commander';
import { contractScopes } from './scopes.ts';

const shells = ['bash', 'zsh'] as const;

export const completion = (): Command =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      `
It completes the word payments. In a clone without the command in PATH, make it an alias first:
  alias payments='npm run -s payments --'`,
    )
    .action((shell: (typeof shells)[number], _options: object, command: Command) => {
      console.log(scripts[shell](wordsByPlace(command.parent ?? command)));
    });

/** What can follow: by the words before it, and by the option before it for options with choices. */
interface Words {
  after: Map<string, string[]>;
  choices: Map<string, readonly string[]>;
}

function wordsByPlace(program: Command): Words {
  const words: Words = { after: new Map(), choices: new Map() };
  const visit = (command: Command, place: string) => {
    const options = command.createHelp().visibleOptions(command);
    words.after.set(place, [
      ...command.commands.map((sub) => sub.name()),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      ...options.flatMap(({ long }) => long ?? []),
    ]);
    for (const option of options) for (const flag of flagsOf(option)) noteChoices(option, `${place} ${flag}`);
    for (const sub of command.commands) visit(sub, `${place} ${sub.name()}`);
  };
  const noteChoices = (option: Option, place: string) => {
    const choices = /^--(scopes|allow)$/.test(option.long ?? '') ? contractScopes : option.argChoices;
    // Without choices the value is free, and the shell completes names of files.
    if (option.required) words.choices.set(place, choices ?? []);
  };
  visit(program, program.name());
  return words;
}

const flagsOf = ({ long, short }: Option): string[] => [long, short].filter((flag) => flag !== undefined);

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const caseOf = (places: Iterable<readonly [string, readonly string[]]>): string =>
  [...places]
    .map(([place, words]) => `    ${quoted(place)}) offered=${quoted(words.join(' '))} ;;`)
    .join('\n');

/** Walks along the words before the cursor as far as they are commands. Both shells understand it. */
const findPlace = ({ after, choices }: Words): string => {
  const places = [...after.keys()].slice(1).map(quoted).join('|');
  return `  for word in "\${before[@]}"; do
    case "$place $word" in
      ${places}) place="$place $word" ;;
    esac
  done
  case "$place" in
${caseOf(after)}
  esac
  case "$place $previous" in
${caseOf(choices)}
  esac`;
};

const scripts: Record<(typeof shells)[number], (words: Words) => string> = {
  bash: (words) => `# Completion of payments for bash. Made by: payments completion bash
_payments() {
  local place=payments offered= word
  local previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local -a before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${findPlace(words)}
  # In a list such as --scopes, the word after the last comma.
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local last="\${current##*,}"
  COMPREPLY=($(compgen -P "\${current%"$last"}" -W "$offered" -- "$last"))
}
complete -o default -F _payments payments`,
  zsh: (words) => `#compdef payments
# Completion of payments for zsh. Made by: payments completion zsh
_payments() {
  local place=payments previous="\${words[CURRENT-1]}" word
  local -a before=("\${(@)words[2,CURRENT-1]}")
  local offered=
${findPlace(words)}
  if [[ -n "$offered" ]]; then compset -P '*,'; compadd -- \${=offered}; else _files; fi
}
# Works from a file in fpath, where zsh calls the file itself, and with source.
if [[ "$funcstack[1]" = "_payments" ]]; then _payments "$@"; else compdef _payments payments; fi`,
};
