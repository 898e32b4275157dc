import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { ROWS } from './rows.ts';
import { runRows } from './rows-run.ts';

// The drill inside its namespaces. What it says goes to its parent.

export interface IsolatedSettings {
  readonly names: readonly string[];
  readonly seconds: number;
  readonly stops: boolean;
}

const [settings] = (await once(process, 'message')) as [IsolatedSettings];
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const broken = await runRows({
  rows: ROWS.filter(({ name }) => settings.names.includes(name)),
  seconds: settings.seconds,
  isIsolated: true,
  stops: settings.stops,
  log: (line) => process.send?.({ log: line }),
});
for (const one of broken) process.send?.({ broken: one });
process.disconnect();
