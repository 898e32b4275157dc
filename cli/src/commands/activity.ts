import { command, option, optionalArgument } from '../terminal/command.ts';

export const activity = [
  command({
    name: 'activity verify',
    summary: 'check that the activity log is as it was written',
    details: [
      'The entries of an organisation form a hash chain, which breaks where one was changed, removed or inserted. A person who can rewrite the whole database can also rewrite the whole chain: against that, keep the output of --json somewhere else, and give it back with --anchors.',
      'The exit code is 1 when a log is broken.',
    ],
    inputs: {
      org: optionalArgument('ORG', 'one organisation, by its id or name; all of them unless given'),
      anchors: option('FILE', 'what an earlier gatehouse activity verify --json printed'),
    },
    examples: [
      'gatehouse activity verify',
      'gatehouse activity verify --json > anchors-2026-11-20.json',
      'gatehouse activity verify --anchors anchors-2026-11-20.json',
    ],
    run: async (args, context) => (await import('./activity/verify.ts')).verifyLogs(args, context),
  }),
  command({
    name: 'activity purge',
    summary: 'remove the entries that are past the retention of their organisation',
    details: ['What is not as it was written stays, with all that follows it, and the exit code is 1 then.'],
    inputs: {},
    examples: ['gatehouse activity purge'],
    run: async (_args, context) => (await import('./activity/purge.ts')).purgeLogs(context),
  }),
];
