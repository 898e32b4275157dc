import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bounded } from './log.ts';

const lineOf = (entry: object) => `${JSON.stringify({ level: 30, time: 1, ...entry, msg: 'request' })}\n`;

describe('a line of the log', () => {
  it('is left as it is while it fits', () => {
    const line = lineOf({ text: 'ü'.repeat(2_000) });
    assert.equal(bounded(line), line);
  });

  it('keeps all its members when its texts are too long, and says that they were cut', () => {
    const line = bounded(lineOf({ request_id: 'r', err: { message: 'm', stack: 's'.repeat(9_000) } }));
    assert.ok(line.endsWith('\n') && Buffer.byteLength(line) <= 4_096);
    const entry = JSON.parse(line);
    assert.deepEqual(
      [entry.request_id, entry.err.message, entry.msg, entry.is_cut],
      ['r', 'm', 'request', true],
    );
    assert.ok(entry.err.stack.length >= 1_000);
  });

  it('fits also where the texts take more room than characters, or are too many', () => {
    const escaped = bounded(lineOf({ one: '\u0001'.repeat(5_000), other: '\ud83d'.repeat(5_000) }));
    const many = bounded(lineOf({ request_id: 'r', ids: Array.from({ length: 5_000 }, () => 'id') }));
    for (const line of [escaped, many]) assert.ok(Buffer.byteLength(line) <= 4_096, line);
    assert.equal(JSON.parse(escaped).one.length > 0, true);
    assert.deepEqual(JSON.parse(many), { level: 30, time: 1, request_id: 'r', msg: 'request', is_cut: true });
  });

  it('stays whole beside those of another process, whatever its length', async () => {
    // A true pipe, as a shell makes one, whose reader is slower than its two writers.
    const fixture = join(import.meta.dirname, '../testing/log.fixture.ts');
    const command = `('${process.execPath}' '${fixture}' a 1500 & '${process.execPath}' '${fixture}' b 1500 & wait) | cat`;
    const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    shell.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const [code] = await once(shell, 'close');
    assert.equal(code, 0);
    const seen = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; n: number } & Record<string, unknown>);
    const { version, ...first } = seen[0] as Record<string, unknown>;
    assert.deepEqual(
      [first['service'], first['role'], first['process'], typeof version],
      ['gatehouse', 'gateway', 2, 'string'],
    );
    for (const name of ['a', 'b']) {
      const numbers = seen.filter((entry) => entry.name === name).map(({ n }) => n);
      assert.deepEqual(
        numbers,
        Array.from({ length: 1_500 }, (_, n) => n),
      );
    }
  });
});
