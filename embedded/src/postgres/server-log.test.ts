import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openServerLog } from './server-log.ts';

const folder = await mkdtemp(join(tmpdir(), 'server-log-'));
after(() => rm(folder, { recursive: true }));

const self = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
const path = join(folder, 'server.log');

test('a log past its limit keeps its end, and later writes follow it', async () => {
  await using log = await openServerLog(folder, self);
  const line = `${'x'.repeat(1023)}\n`;
  writeSync(log.fd, line.repeat(5 * 1024));
  await log.trim();
  writeSync(log.fd, 'last\n');
  const text = await readFile(path, 'utf8');
  assert.equal(text.length, 256 * 1024 + 5);
  assert.ok(text.endsWith('x\nlast\n') && !text.includes('\0'));
  assert.match(await log.tail(), /x\nlast$/);
});

test('a new start begins a new log and keeps the previous one', async () => {
  {
    await using log = await openServerLog(folder, self);
    writeSync(log.fd, 'before\n');
  }
  await using log = await openServerLog(folder, self);
  assert.equal(await log.tail(), '');
  assert.equal(await readFile(`${path}.1`, 'utf8'), 'before\n');
});
