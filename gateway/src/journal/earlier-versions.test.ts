import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { useTestDatabase } from '@gatehouse/store/testing';
import { books, createAccount, temporaryDirectory } from './testing/fixtures.ts';
import { openTestJournal } from './testing/test-journal.ts';

// Lines as the gateway of 2026-11-22 wrote them. They stay as they are: a process of that version may have left them.
const SERVED =
  '{"requestId":"0193a5c0-0000-7000-8000-000000000001","organizationId":"ORGANIZATION","keyId":"KEY","projectId":"PROJECT","startedAtMicros":"1795000000123456","model":"openai/gpt-5-mini","status":200,"isStream":true,"totalMs":812.5,"ttftMs":90.25,"tpotMs":11,"preDispatchMs":3,"promptTokens":120,"tokensGenerated":64,"cacheCreationInputTokens":null,"cacheReadInputTokens":5,"totalTokens":184,"tokensEstimated":false,"costMicroPkr":"4611686018427387","isByok":true,"terminationReason":"proxy_guillotine","refusal":"","upstreamError":"said \\"no\\"","upstreamModel":"gpt-5-mini","userAgent":"café 😀","metadata":[["__proto__","polluted"],["team","red"]],"isHeld":true}';
const COUNTED =
  '{"requestId":"0193a5c0-0000-7000-8000-000000000002","organizationId":"ORGANIZATION","keyId":null,"projectId":null,"startedAtMicros":"1795000000123456","model":"","status":429,"isStream":false,"totalMs":0.5,"ttftMs":null,"tpotMs":null,"preDispatchMs":0.5,"promptTokens":null,"tokensGenerated":0,"cacheCreationInputTokens":null,"cacheReadInputTokens":null,"totalTokens":0,"tokensEstimated":false,"costMicroPkr":"0","isByok":false,"terminationReason":"success","refusal":"rate_limit_exceeded","upstreamError":null,"upstreamModel":null,"userAgent":"","metadata":[],"isHeld":false,"requestCount":1940}';

const test = await useTestDatabase();

describe('what an earlier version left on disk', () => {
  for (const { name, isSettled } of [
    { name: '3.open', isSettled: false },
    { name: '3.2.LENGTH.owes-ledger-telemetry', isSettled: false },
    { name: '3.2.LENGTH.owes-telemetry', isSettled: true },
  ]) {
    it(`is recovered and shipped, every field of it: ${name}`, async () => {
      await using directory = await temporaryDirectory();
      const account = await createAccount(test.database);
      const [keyId = ''] = account.keyIds;
      const text = [SERVED, COUNTED]
        .map((line) =>
          line
            .replace('ORGANIZATION', account.organizationId)
            .replace('KEY', keyId)
            .replace('PROJECT', account.projectId)
            .replace('0193a5c0', randomUUID().slice(0, 8)),
        )
        .map((line) => `${crc32(line).toString(16).padStart(8, '0')} ${line}\n`)
        .join('');
      const instance = randomUUID();
      await mkdir(join(directory.path, instance));
      const owner = { pid: 1, startedAt: '1', world: 'gone', format: 1, isReleased: true };
      await writeFile(join(directory.path, instance, 'owner'), JSON.stringify(owner));
      const file = `${instance}.${name.replace('LENGTH', String(Buffer.byteLength(text)))}`;
      await writeFile(join(directory.path, instance, file), text);

      await using opened = await openTestJournal(test.database, { directory: directory.path });
      const { journal, sink } = opened;
      await journal.flush();
      const [served, counted] = sink.rows;
      assert.deepEqual(served, {
        requestId: served?.requestId,
        organizationId: account.organizationId,
        keyId,
        projectId: account.projectId,
        startedAtMicros: 1_795_000_000_123_456n,
        model: 'openai/gpt-5-mini',
        status: 200,
        isStream: true,
        totalMs: 812.5,
        ttftMs: 90.25,
        tpotMs: 11,
        preDispatchMs: 3,
        promptTokens: 120,
        tokensGenerated: 64,
        cacheCreationInputTokens: null,
        cacheReadInputTokens: 5,
        totalTokens: 184,
        tokensEstimated: false,
        costMicroPkr: 4_611_686_018_427_387n,
        isByok: true,
        terminationReason: 'proxy_guillotine',
        refusal: '',
        upstreamError: 'said "no"',
        upstreamModel: 'gpt-5-mini',
        userAgent: 'café 😀',
        metadata: new Map([
          ['__proto__', 'polluted'],
          ['team', 'red'],
        ]),
        attempts: [],
        isHeld: true,
      });
      assert.deepEqual([counted?.keyId, counted?.requestCount], [null, 1_940]);
      const { settlements, spent } = await books(test.database, account);
      assert.deepEqual([settlements, spent], isSettled ? [0n, 0n] : [1n, 4_611_686_018_427_387n]);
      assert.equal((await readdir(directory.path)).length, 1);
    });
  }
});
