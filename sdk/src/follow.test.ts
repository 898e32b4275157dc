import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from './client.ts';
import { startScriptedServer } from './testing/scripted-server.ts';

/** A request log that grows by so many rows before each look. */
async function startGrowing(counts: readonly number[]) {
  const rows: { req_id: string }[] = [];
  let looks = 0;
  const server = await startScriptedServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const [limit, offset] = [Number(searchParams.get('limit')), Number(searchParams.get('offset'))];
    if (offset === 0) {
      for (let index = counts[looks] ?? 0; index > 0; index -= 1)
        rows.unshift({ req_id: String(rows.length) });
      looks += 1;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ requests: rows.slice(offset, offset + limit), total: rows.length, limit, offset }),
    );
  });
  return { server, looks: () => looks };
}

describe('following requests', () => {
  it('has each once, the older ones first, however many come between two looks', async () => {
    const counts = [10, 0, 1, 450, 3];
    const { server } = await startGrowing(counts);
    await using _ = server;
    const got: string[] = [];
    for await (const { req_id } of createClient(server).followRequests({}, { earlier: 4, everyMs: 1 })) {
      got.push(req_id);
      if (got.length === 4 + 454) break;
    }
    assert.deepEqual(
      got,
      Array.from({ length: 458 }, (_row, index) => String(index + 6)),
    );
  });

  it('ends with the reason of its signal, and looks no more', async () => {
    const { server, looks } = await startGrowing([1]);
    await using _ = server;
    const stop = new AbortController();
    const reason = new Error('enough');
    const following = (async () => {
      for await (const row of createClient(server).followRequests(
        {},
        { earlier: 1, everyMs: 60_000, signal: stop.signal },
      ))
        if (row) stop.abort(reason);
    })();
    await assert.rejects(following, reason);
    assert.equal(looks(), 1);
  });
});
