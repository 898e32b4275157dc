import type { Command } from './command.ts';
import type { Commands } from './command-line.ts';

// The scripts that a shell completes with. They hold every command and its options as they are now, and ask nobody.

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type ShellName = (typeof SHELLS)[number];

/** The script for a shell, to be read by it at its start. */
export function completionScript(shell: ShellName, table: Commands): string {
  if (shell === 'bash') return bashScript(table);
  return shell === 'zsh' ? zshScript(table) : fishScript(table);
}

interface Choice {
  readonly word: string;
  readonly meaning: string;
}

/** The words after `gatehouse` and after each group, and the options of each command. */
function choicesOf({ groups, commands }: Commands) {
  const alone = commands.filter(({ name }) => !name.includes(' '));
  return {
    first: [
      ...alone.map(({ name, summary }) => ({ word: name, meaning: summary })),
      ...Object.entries(groups).map(([word, meaning]) => ({ word, meaning })),
    ],
    within: Object.keys(groups).map((group) => ({
      group,
      words: commands
        .filter(({ name }) => name.startsWith(`${group} `))
        .map(({ name, summary }) => ({ word: name.slice(group.length + 1), meaning: summary })),
    })),
    commands: commands.map((command) => ({ name: command.name, options: optionsOf(command) })),
  };
}

function optionsOf({ inputs, jsonMeaning }: Command): Choice[] {
  return [
    ...Object.entries(inputs)
      .filter(([, { kind }]) => kind !== 'argument')
      .map(([name, { meaning }]) => ({ word: `--${name}`, meaning })),
    { word: '--json', meaning: jsonMeaning },
    { word: '--help', meaning: 'show the help' },
  ];
}

const words = (choices: readonly Choice[]) => choices.map(({ word }) => word).join(' ');

function bashScript(table: Commands): string {
  const { first, within, commands } = choicesOf(table);
  return `# bash completion of gatehouse: source <(gatehouse completion bash)
_gatehouse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=() word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -* ]] || words+=("$word"); done
  local one="\${words[0]}" two="\${words[0]} \${words[1]}" choices=''
  if [[ $current == -* ]]; then
    case "$two" in
${commands
  .filter(({ name }) => name.includes(' '))
  .map(({ name, options }) => `      '${name}') choices='${words(options)}' ;;`)
  .join('\n')}
      *) case "$one" in
${commands
  .filter(({ name }) => !name.includes(' '))
  .map(({ name, options }) => `        ${name}) choices='${words(options)}' ;;`)
  .join('\n')}
        *) choices='--help --version' ;;
      esac ;;
    esac
  elif [[ \${#words[@]} -eq 0 ]]; then
    choices='${words(first)} help'
  elif [[ \${#words[@]} -eq 1 ]]; then
    case "$one" in
${within.map(({ group, words: own }) => `      ${group}) choices='${words(own)}' ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
  [[ \${#COMPREPLY[@]} -gt 0 || $current == -* ]] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _gatehouse gatehouse
`;
}

function zshScript(table: Commands): string {
  const { first, within, commands } = choicesOf(table);
  const described = (choices: readonly Choice[]) =>
    choices.map(({ word, meaning }) => quoted(`${word.replaceAll(':', '\\:')}:${meaning}`)).join(' ');
  return `#compdef gatehouse
# zsh completion of gatehouse: gatehouse completion zsh > "\${fpath[1]}/_gatehouse"
_gatehouse() {
  local -a plain choices
  local word
  for word in "\${(@)words[2,CURRENT-1]}"; do [[ $word == -* ]] || plain+=("$word"); done
  if [[ $words[CURRENT] == -* ]]; then
    case "$plain[1] $plain[2]" in
${commands.map(({ name, options }) => `      (${quoted(name)}${name.includes(' ') ? '' : `' '*`}) choices=(${described(options)}) ;;`).join('\n')}
      (*) choices=('--help:show the help' '--version:show the version') ;;
    esac
  elif (( \${#plain} == 0 )); then
    choices=(${described(first)})
  elif (( \${#plain} == 1 )); then
    case "$plain[1]" in
${within.map(({ group, words: own }) => `      (${group}) choices=(${described(own)}) ;;`).join('\n')}
    esac
  fi
  if (( \${#choices} )); then _describe 'gatehouse' choices; else _files; fi
}
if [[ $funcstack[1] == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

function fishScript(table: Commands): string {
  const { first, within, commands } = choicesOf(table);
  const line = (condition: string, { word, meaning }: Choice) =>
    `complete -c gatehouse -n ${quoted(condition)} ${word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`} -d ${quoted(meaning)}`;
  return `# fish completion of gatehouse: gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish
function __gatehouse_words
    string match --invert -- '-*' (commandline -opc)[2..]
end
function __gatehouse_is
    string match --quiet -- "$argv[1] *" (string join ' ' -- (__gatehouse_words))' '
end
complete -c gatehouse -f -n 'test (count (__gatehouse_words)) -eq 0; or contains -- (string join " " -- (__gatehouse_words)) ${within.map(({ group }) => group).join(' ')}'
${first.map((choice) => line('test (count (__gatehouse_words)) -eq 0', choice)).join('\n')}
${within.flatMap(({ group, words: own }) => own.map((choice) => line(`test (string join " " -- (__gatehouse_words)) = ${group}`, choice))).join('\n')}
${commands.flatMap(({ name, options }) => options.map((choice) => line(`__gatehouse_is "${name}"`, choice))).join('\n')}
`;
}

/** Within single quotes a shell expands nothing. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
