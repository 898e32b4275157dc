import { command, option } from '../terminal/command.ts';
import { invalidValue } from '../terminal/errors.ts';

export const start = command({
  name: 'start',
  summary: 'run the service, or one part of it',
  details: [
    'It runs until it is interrupted or told to stop. Its log goes to standard output: JSON, one object a line, or short lines for a person where that is a terminal. What it tells a person goes to standard error.',
  ],
  jsonMeaning: 'is for errors alone: the log is JSON wherever it does not go to a terminal',
  inputs: { role: option('all|api|gateway', 'which part of it; all unless given') },
  examples: ['gatehouse start', 'PORT=9000 DATA_DIR=/var/lib/gatehouse gatehouse start'],
  run: async ({ role = 'all' }, { environment, err }) => {
    if (role !== 'all' && role !== 'api' && role !== 'gateway') {
      throw invalidValue('--role', role, 'all, api or gateway');
    }
    const settings = environment();
    const { becomeDataOwner } = await import('../service/data-owner.ts');
    const { inspectSettings } = await import('../config/config.ts');
    // First, so that what is checked is what this user can do.
    const { dataDir } = inspectSettings(settings).values;
    const user = dataDir === undefined ? undefined : becomeDataOwner(dataDir);
    if (user !== undefined) err(`Running as uid ${user}, to whom DATA_DIR belongs.\n`);
    const { checkedConfig } = await import('../service/start-check.ts');
    const config = await checkedConfig(settings, role);
    // Else the gateway is in processes of its own.
    if (role === 'gateway' && config.gatewayProcesses === 1) {
      const { defaultGatewayHeapMb, requireGatewayHeap } = await import('../process/gateway-heap.ts');
      requireGatewayHeap(config.gatewayHeapMb ?? defaultGatewayHeapMb(), settings);
    }
    // Only now, because it loads most of the code.
    const service = await import('../service/start.ts');
    await service.start(config, role, settings);
    return 0;
  },
});
