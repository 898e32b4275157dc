import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { readRequest } from './read-request.ts';

const FIXTURE = join(import.meta.dirname, 'costly-body.fixture.ts');

describe('readRequest', () => {
  it('reads and refuses the costliest bodies within a heap of 96 MB', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=96', FIXTURE]);
    assert.deepEqual(stdout.trim().split('\n'), ['413', 'read']);
  });

  it('reads an agent’s request of some megabytes with hundreds of tools', async () => {
    const property = {
      type: 'string',
      description: 'What to look for, as a glob. '.repeat(4),
      enum: ['a', 'b'],
    };
    const properties = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`p${index}`, property]));
    const tools = Array.from({ length: 500 }, (_, index) => ({
      type: 'function',
      function: { name: `tool_${index}`, parameters: { type: 'object', properties, required: ['p0'] } },
    }));
    const messages = Array.from({ length: 5_000 }, () => ({
      role: 'user',
      content: 'Look at it. '.repeat(20),
    }));
    const body = Buffer.from(JSON.stringify({ model: 'm', messages, tools }));
    assert.ok(body.length > 2 * 1024 ** 2);
    assert.equal((await readRequest('chat', body)).kind, 'read');
  });
});
