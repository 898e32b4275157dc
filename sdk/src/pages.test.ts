import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from './client.ts';
import { startScriptedServer } from './testing/scripted-server.ts';

/** An activity log of so many entries, the newest first, to which one is added before each page. */
async function startLog(entries: number) {
  const asked: string[] = [];
  let added = 0;
  const server = await startScriptedServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    asked.push(url.search);
    const until = Number(url.searchParams.get('until') ?? entries + added);
    const [limit, offset] = [Number(url.searchParams.get('limit')), Number(url.searchParams.get('offset'))];
    added += 1;
    const events = Array.from({ length: until }, (_, index) => ({ timestamp: String(until - index) }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ events: events.slice(offset, offset + limit), limit, offset }));
  });
  return { server, asked };
}

describe('iterating a list', () => {
  for (const entries of [0, 1, 199, 200, 201, 650]) {
    it(`has each of ${entries} rows once, although more arrive meanwhile`, async () => {
      const { server, asked } = await startLog(entries);
      await using _ = server;
      const rows = await Array.fromAsync(
        createClient(server).iterate('listActivity', { action: 'user.login' }),
      );
      const expected = Array.from({ length: entries }, (_row, index) => String(entries - index));
      assert.deepEqual(
        rows.map(({ timestamp }) => timestamp),
        expected,
      );
      for (const search of asked) assert.match(search, /action=user\.login/);
      assert.equal(asked.length, Math.floor(entries / 200) + 1);
    });
  }

  it('asks for no page that the loop does not need', async () => {
    const { server, asked } = await startLog(650);
    await using _ = server;
    for await (const { timestamp } of createClient(server).iterate('listActivity'))
      if (timestamp === '600') break;
    assert.equal(asked.length, 1);
  });
});
