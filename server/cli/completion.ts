// `payments completion bash|zsh`: a script that completes commands, options and choices. It is made from the commands
// themselves, so a new one needs nothing here.
import { Argument, Command, type Option } from 'commander';
import { contractScopes } from './values.ts';

export const completion = (): Command =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      `
It completes the word payments. In a clone without the command in PATH, make it an alias first:
  alias payments='npm run -s payments --'

Examples:
  source <(payments completion bash)     # in ~/.bashrc
  source <(payments completion zsh)      # in ~/.zshrc`,
    )
    .action((shell: string, _options: object, command: Command) => {
      // zsh runs scripts for bash after this.
      if (shell === 'zsh') console.log('autoload -U +X compinit bashcompinit && compinit && bashcompinit');
      console.log(script(wordsAfter(command.parent ?? command, 'payments')));
    });

type Offers = readonly [after: string, words: readonly string[]];

/** What can follow a command, and an option of it. */
function wordsAfter(command: Command, place: string): Offers[] {
  const options = command.createHelp().visibleOptions(command);
  const choicesOf = ({ long, argChoices }: Option) =>
    /^--(scopes|allow)$/.test(long ?? '') ? contractScopes : (argChoices ?? []);
  return [
    [
      place,
      [
        ...command.commands.map((sub) => sub.name()),
        ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
        ...options.flatMap(({ long }) => long ?? []),
      ],
    ],
    // Without choices the value is free, and the shell completes names of files.
    ...options
      .filter(({ required }) => required)
      .map((option): Offers => [`${place} ${option.long}`, choicesOf(option)]),
    ...command.commands.flatMap((sub) => wordsAfter(sub, `${place} ${sub.name()}`)),
  ];
}

const script = (offers: readonly Offers[]): string => `_payments() {
  local place=payments offered= word at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="$place \${COMP_WORDS[at]}"
    case "$word" in
      ${offers.flatMap(([after]) => (after.includes(' --') ? [] : `'${after}'`)).join('|')}) place="$word" ;;
    esac
  done
  for word in "$place" "$place \${COMP_WORDS[COMP_CWORD-1]}"; do
    case "$word" in
${offers.map(([after, words]) => `      '${after}') offered='${words.join(' ')}' ;;`).join('\n')}
    esac
  done
  # In a list such as --scopes, the word after the last comma.
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local last="\${current##*,}"
  COMPREPLY=($(compgen -P "\${current%"$last"}" -W "$offered" -- "$last"))
}
complete -o default -F _payments payments`;
