import { argument, command } from '../terminal/command.ts';

export const completion = command({
  name: 'completion',
  summary: 'print what makes a shell complete this command',
  details: [
    'bash: source <(gatehouse completion bash). The scripts for zsh and fish say where they belong in their second line.',
  ],
  inputs: { shell: argument('bash|zsh|fish', 'the shell') },
  examples: [
    'gatehouse completion bash',
    'gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish',
  ],
  run: async ({ shell }, context) => (await import('./completion/print.ts')).printCompletion(shell, context),
});
