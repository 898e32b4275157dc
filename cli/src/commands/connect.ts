import { argument, command, flag, option, YES } from '../terminal/command.ts';

export const connect = command({
  name: 'connect',
  summary: 'point a client at this gateway',
  details: [
    'CLIENT is claude-code, codex, cursor, opencode, continue, open-webui, openai, anthropic or ai-sdk.',
    'At a terminal, the command asks and then changes the configuration file of claude-code, codex, opencode or continue. Everything else in the file stays, and a copy of it is written beside it first. A file that cannot be changed without loss is left alone. Anywhere else, and for the other clients, the configuration is only printed.',
    'The key stays in the environment, and the configuration names the variable. With --key or --key-stdin, the key itself is written, and the file is closed to other accounts. They can see a key on the command line in the list of processes.',
  ],
  inputs: {
    client: argument('CLIENT', 'the client to configure; one of those below'),
    url: option('URL', 'the address of the gateway; http://localhost at GATEWAY_PORT unless given'),
    key: option('KEY', 'a gateway key to write into the configuration; env:NAME takes it from a variable'),
    'key-stdin': flag('write the gateway key that is the first line of standard input'),
    'key-env': option('NAME', 'the environment variable with the key; GATEHOUSE_API_KEY unless given'),
    model: option('ID', 'the model that the client uses: a route or an alias'),
    'dry-run': flag('print the configuration and change nothing'),
    yes: YES,
  },
  examples: [
    'gatehouse connect claude-code',
    'gatehouse connect codex --model openai/gpt-5-mini --yes',
    'gatehouse connect open-webui --url https://gateway.example.com',
  ],
  run: async (args, context) => (await import('./connect/connect-client.ts')).connectClient(args, context),
});
