import { command, option } from '../terminal/command.ts';

export const demo = command({
  name: 'demo',
  summary: 'fill an installation with an organisation to look at',
  details: [
    'Makes an organisation with three accounts, three projects, a dozen keys and some weeks of made-up requests, to the routes and at the prices of the catalogue. What the requests cost is in the ledger too, so that everything adds up. Nobody is asked: no provider sees a request.',
    'For the embedded stores, whether or not the service runs; where there is no DATA_DIR yet, it is made. The accounts and the entries of the activity log are from the time of the command. gatehouse org delete removes the organisation, but not its request log: for a look, use a DATA_DIR of its own.',
  ],
  inputs: {
    name: option('NAME', 'what the organisation is called; Demo Company unless given'),
    rows: option('N', 'how many requests, from 1 to 5000000; 200000 unless given'),
    days: option('N', 'over how many days up to now, from 1 to 90; 30 unless given'),
  },
  examples: ['gatehouse demo', 'DATA_DIR=/tmp/look gatehouse demo --rows 1000000 --days 90'],
  run: async (args, context) => (await import('./demo/fill.ts')).fillDemo(args, context),
});
