import { command, option, requiredOption } from '../terminal/command.ts';

export const size = command({
  name: 'size',
  summary: 'calculate processes, cores, disks and network for a rate of requests',
  details: [
    'Needs no database. The figures come from measured costs of a request on one machine; docs/scaling.md says which, and where the design ends. Cores are busy to 60 % at the given rate, those of databases to 50 %.',
  ],
  inputs: {
    rate: requiredOption('N', 'requests a second at the busiest time, up to 1000000'),
    mean: option('SHARE', 'the mean rate of a day, as a share of it; 0.5 unless given'),
    streams: option('SHARE', 'the share of requests that stream; 0.5 unless given'),
    days: option('N', 'how long the request log is kept; 90 unless given'),
    'body-kb': option('N', 'a request and its answer together, in kB; 8 unless given'),
  },
  examples: ['gatehouse size --rate 1000', 'gatehouse size --rate 200 --streams 0.9 --days 30'],
  run: async (args, context) => (await import('./size/print-size.ts')).printSize(args, context),
});
