import { command, option } from './command.ts';
import { notAccepted } from './faults.ts';

export const start = command({
  name: 'start',
  summary: 'run the service, or one part of it',
  details: [
    'It runs until it is interrupted or told to stop. Its log goes to standard output; what it tells a person goes to standard error.',
  ],
  jsonMeaning: 'changes nothing: the log is JSON, one object a line, in any case',
  inputs: { role: option('all|api|gateway', 'which part of it; all unless given') },
  examples: ['gatehouse start', 'PORT=9000 DATA_DIR=/var/lib/gatehouse gatehouse start'],
  run: async ({ role = 'all' }, { environment }) => {
    if (role !== 'all' && role !== 'api' && role !== 'gateway') {
      throw notAccepted('--role', role, 'all, api or gateway');
    }
    const [service, { readConfig }] = await Promise.all([import('../start.ts'), import('../config.ts')]);
    const settings = environment();
    await service.start(readConfig(settings), role, settings);
    return 0;
  },
});
