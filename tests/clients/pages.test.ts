import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { addRoute, issueKey, useBench } from '@gatehouse/gateway/testing';
import { clientFile } from './install.ts';
import { runProgram } from './program.ts';

// The programs of docs/clients that need packages of this folder. The other pages are tested with a whole service
// (tests/journey/client-pages.test.ts).

const PAGES = join(import.meta.dirname, '../../docs/clients');
const bench = await useBench();

describe('the programs on the pages of the clients', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-pages-'));
    await symlink(await clientFile(), join(folder, 'node_modules'));
    const endpoints = ['chat', 'responses', 'messages'];
    await addRoute(bench.database, { id: 'demo/echo', protocol: 'demo', apiKeyEnv: null, endpoints });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [page, program] of [
    ['ai-sdk.md', /^\$ gatehouse connect ai-sdk\n([\s\S]*?)^```/m],
    ['langchain.md', /^```ts\n([\s\S]*?)^```/m],
  ] as const) {
    it(`${page} says Hello`, async () => {
      const text = await readFile(join(PAGES, page), 'utf8');
      const [, code] = program.exec(text) ?? assert.fail(`${page} has no such program`);
      const baseUrl = `http://localhost:${bench.gateway.port}/v1`;
      const file = join(folder, `${page}.mjs`);
      await writeFile(file, (code ?? '').replaceAll('http://localhost:8081/v1', baseUrl));
      const { secret } = await issueKey(bench.database);
      const result = await runProgram(process.execPath, [file], {
        home: folder,
        directory: folder,
        environment: { GATEHOUSE_API_KEY: secret, OPENAI_API_KEY: secret, OPENAI_BASE_URL: baseUrl },
      });
      assert.equal(result.code, 0, result.stderr);
      assert.equal(result.stdout, 'Hello\n');
    });
  }
});
