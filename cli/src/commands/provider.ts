import { command, option, optionalArgument } from '../terminal/command.ts';

export const provider = [
  command({
    name: 'provider check',
    summary: 'say where a provider is not as the catalogue claims',
    details: [
      'Each surface of the provider gets one small real request as JSON and one as a stream, with the credential, the proxy and the certificates of the catalogue, from this machine. A request costs what any does at the provider; nothing is recorded or billed here.',
      'Without PROVIDER, every provider of an active route whose credential is here. A route that is not active can be checked before it is.',
      'Each difference is printed with its meaning, and the exit code is then 1. The output is what a report about a provider needs.',
    ],
    inputs: {
      provider: optionalArgument('PROVIDER', 'as the catalogue names it'),
      route: option('ID', 'ask for this route instead of the first of each surface'),
    },
    examples: [
      'gatehouse provider check openai',
      'gatehouse provider check --route openai/gpt-5-mini --json',
    ],
    run: async (args, context) => (await import('./provider/check.ts')).checkProviders(args, context),
  }),
];
