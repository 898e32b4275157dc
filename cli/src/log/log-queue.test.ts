import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LogFile, LogQueue } from './log-queue.ts';

type Done = Parameters<LogFile['write']>[1];

/** A file whose writes end when the test says so. */
function manualFile() {
  const writes: { readonly text: string; readonly done: Done }[] = [];
  const synced: string[] = [];
  let syncError: Error | undefined;
  const file: LogFile = {
    write: (bytes, done) => void writes.push({ text: bytes.toString(), done }),
    writeSync: (bytes) => {
      if (syncError) throw syncError;
      synced.push(bytes.toString());
      return bytes.length;
    },
  };
  const failSync = (error: Error) => {
    syncError = error;
  };
  return { file, writes, synced, failSync };
}

const error = (code: string) => Object.assign(new Error(code), { code });

describe('LogQueue', () => {
  it('writes lines in order, whole lines of at most 4 KiB with each call, and rests of a short write', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { file, writes } = manualFile();
    const queue = new LogQueue(file, assert.fail);
    const lines = ['a', 'b', 'c'].map((letter) => `${letter.repeat(2_000)}\n`);
    queue.write('first\n');
    for (const line of lines) queue.write(line);
    writes[0]?.done(null, 6);
    writes[1]?.done(null, 100);
    writes[2]?.done(null, 3_902);
    t.mock.timers.tick(10);
    writes[3]?.done(null, 2_001);
    const [a, b, c] = lines;
    assert.deepEqual(
      writes.map(({ text }) => text),
      ['first\n', `${a}${b}`, `${a}${b}`.slice(100), c],
    );
  });

  it('writes a line after a silence at once, and then the lines of 10 ms together', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { file, writes } = manualFile();
    const queue = new LogQueue(file, assert.fail);
    queue.write('a\n');
    assert.equal(writes.length, 1);
    writes[0]?.done(null, 2);
    queue.write('b\n');
    queue.write('c\n');
    assert.equal(writes.length, 1);
    t.mock.timers.tick(10);
    assert.equal(writes[1]?.text, 'b\nc\n');
    writes[1]?.done(null, 4);
    t.mock.timers.tick(10);
    queue.write('d\n');
    assert.equal(writes[2]?.text, 'd\n');
  });

  it('does not wait once there is enough for a write', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { file, writes } = manualFile();
    const queue = new LogQueue(file, assert.fail);
    queue.write('a\n');
    writes[0]?.done(null, 2);
    for (let n = 0; n < 3; n += 1) queue.write(`${'b'.repeat(2_000)}\n`);
    assert.equal(writes[1]?.text.length, 4_002);
    writes[1]?.done(null, 4_002);
    t.mock.timers.tick(10);
    assert.equal(writes[2]?.text.length, 2_001);
  });

  it('loses what cannot be written, reports it, and goes on', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { file, writes } = manualFile();
    const errors: string[] = [];
    const queue = new LogQueue(file, ({ message }) => errors.push(message));
    queue.write('lost\n');
    writes[0]?.done(error('ENOSPC'), 0);
    queue.write('written\n');
    t.mock.timers.tick(10);
    assert.deepEqual([errors, writes.at(-1)?.text], [['ENOSPC'], 'written\n']);
  });

  it('bounds what waits for a reader that has stopped', () => {
    const { file, writes, synced } = manualFile();
    const queue = new LogQueue(file, assert.fail);
    const line = `${'x'.repeat(4_000)}\n`;
    for (let n = 0; n < 10_000; n += 1) queue.write(line);
    assert.equal(writes.length, 1);
    queue.flushAtExit();
    const bytes = synced.reduce((sum, text) => sum + text.length, 0);
    assert.ok(bytes > 15 * 1024 ** 2 && bytes <= 16 * 1024 ** 2 + 4_001, `${bytes}`);
  });

  for (const code of ['ENOSPC', 'EAGAIN']) {
    it(`gives up at the exit of the process when the file answers ${code}`, () => {
      const { file, failSync, synced } = manualFile();
      const queue = new LogQueue(file, assert.fail);
      queue.write('being written\n');
      queue.write('queued\n');
      failSync(error(code));
      queue.flushAtExit();
      assert.deepEqual(synced, []);
    });
  }

  it('writes what is queued at the exit of the process', () => {
    const { file, synced } = manualFile();
    const queue = new LogQueue(file, assert.fail);
    queue.write('being written\n');
    queue.write('queued\n');
    queue.flushAtExit();
    assert.deepEqual(synced, ['being written\n', 'queued\n']);
  });
});
