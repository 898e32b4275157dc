import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ROWS } from './rows.ts';
import { runRows } from './rows-run.ts';

const SECONDS = 2;

describe('an outage of PostgreSQL', () => {
  it('is answered with 503, loses nothing that was acknowledged and is over without a restart', async () => {
    const lines: string[] = [];
    const rows = ROWS.filter(({ name }) => name === 'postgres-refused');
    const log = (line: string) => lines.push(line);
    const broken = await runRows({ rows, seconds: SECONDS, isIsolated: false, stops: false, log });
    assert.deepEqual(broken, [], lines.join('\n'));
    assert.match(lines.join('\n'), /^ {2}chat .*503 service_unavailable/m);
  });
});
