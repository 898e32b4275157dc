import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { childEnvironment } from './child-environment.ts';

// A module that is loaded for nothing costs every start processor time and memory, and one import is enough to load a
// hundred. Each case names what its process has no use for.

const FIXTURE = join(import.meta.dirname, 'loaded-modules.fixture.ts');

async function loadedBy(file: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [FIXTURE, file], {
    env: childEnvironment(),
    maxBuffer: 1024 ** 2,
  });
  return JSON.parse(stdout) as string[];
}

const APPLICATION = [/^control-plane\/src\/(app|http\/server)\.ts$/, /find-my-way/];
const GATEWAY = [/^gateway\/src\/gateway\.ts$/, /gpt-tokenizer/, /node_modules\/undici\//];
const RARE = [/node_modules\/(jose|yaml|ioredis|prom-client|@opentelemetry|@zxcvbn-ts)\//];

describe('loaded modules', { concurrency: 2 }, () => {
  for (const [title, file, unused] of [
    // Which word was probably meant is asked of the contract's own file.
    ['help or a usage error', 'cli/src/main.ts', [/^(?!cli\/|contract\/src\/conventions\/edits-between)/]],
    ['the process of the API', 'cli/src/service/start.ts', [...GATEWAY, ...RARE]],
    [
      'a gateway process',
      'cli/src/process/gateway-service.ts',
      [/^control-plane\//, ...RARE, /undici\/lib\/web\//, /gpt-tokenizer\/.*ranks/i],
    ],
    ['an operator command', 'cli/src/commands/org/deposit.ts', [...APPLICATION, ...GATEWAY, ...RARE]],
    ['a backup', 'cli/src/commands/backup/make.ts', [...APPLICATION, ...GATEWAY, ...RARE]],
  ] as const) {
    it(`${title} loads only what it uses`, async () => {
      const loaded = await loadedBy(file);
      assert.ok(loaded.includes(file));
      assert.deepEqual(
        loaded.filter((path) => unused.some((pattern) => pattern.test(path))),
        [],
      );
    });
  }
});
