import { command } from '../terminal/command.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'check that the money adds up',
  details: [
    'Counts every sum of the ledger again from its rows: what each key has spent and holds, and what each organisation has deposited, spent and holds. Looks also for holds that nobody released, for partitions that nobody made, and at what the service may do. Changes nothing, and may run at any time, under load too.',
    'The exit code is 1 when something is wrong. The activity log has a check of its own: gatehouse activity verify.',
  ],
  inputs: {},
  examples: ['gatehouse doctor', `gatehouse doctor --json | jq -r '.findings[].sentence'`],
  run: async (_args, context) => (await import('./doctor/examine.ts')).examine(context),
});
