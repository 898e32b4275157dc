import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { createClient } from './client.ts';
import { GatehouseConnectionError, GatehouseReplyError } from './errors.ts';
import { startScriptedServer } from './testing/scripted-server.ts';

const ROW = '{"req_id":"é"}\n';

/** The rows of an export that is answered like this, and what ended it. */
async function rowsOf(answer: (response: ServerResponse) => void, type = 'application/x-ndjson') {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(200, { 'content-type': type, 'content-disposition': 'attachment; filename="../x"' });
    answer(response);
  });
  const rows: string[] = [];
  try {
    for await (const row of createClient(server).iterateRequests()) rows.push(row.req_id);
    return { rows };
  } catch (error) {
    return { rows, error };
  }
}

describe('an export', () => {
  it('has its rows wherever the chunks are cut', async () => {
    const bytes = Buffer.from(ROW.repeat(3));
    for (let at = 1; at < bytes.length; at += 1) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(bytes.subarray(0, at));
          controller.enqueue(bytes.subarray(at));
          controller.close();
        },
      });
      const client = createClient({
        baseUrl: 'http://localhost/api',
        fetch: async () => new Response(body, { headers: { 'content-type': 'application/x-ndjson' } }),
      });
      const rows = await Array.fromAsync(client.iterateRequests());
      assert.deepEqual(
        rows.map(({ req_id }) => req_id),
        ['é', 'é', 'é'],
      );
    }
  });

  it('throws after its rows where the connection ends before the export', async () => {
    const { rows, error } = await rowsOf((response) => {
      response.write(ROW, () => setImmediate(() => response.destroy()));
    });
    assert.deepEqual(rows, ['é']);
    assert.ok(error instanceof GatehouseConnectionError);
    assert.match(error.message, /was aborted before its end/);
  });

  it('throws for a last line without its end, and for a line that is no row', async () => {
    for (const [last, message] of [
      ['{"req_id":"b"}', /aborted within a line/],
      ['<html>\n', /not JSON/],
    ] as const) {
      const { rows, error } = await rowsOf((response) => response.end(ROW + last));
      assert.deepEqual(rows, ['é']);
      assert.ok(error instanceof GatehouseConnectionError);
      assert.match(error.message, message);
    }
  });

  it('throws for a line without end before it fills the memory', async () => {
    const { error } = await rowsOf((response) => {
      const chunk = 'x'.repeat(1024 * 1024);
      const more = () => void response.write(chunk, (failure) => failure || setImmediate(more));
      more();
    });
    assert.ok(error instanceof GatehouseConnectionError);
    assert.match(error.message, /longer than 4194304 characters/);
  });

  it('is no page of HTML', async () => {
    const { error } = await rowsOf((response) => response.end('<h1>Sign in</h1>'), 'text/html');
    assert.ok(error instanceof GatehouseReplyError);
  });

  it('takes no path from the name that the service suggests', async () => {
    await using server = await startScriptedServer((_, response) => {
      response.writeHead(200, {
        'content-type': 'text/csv',
        'content-disposition': 'attachment; filename="../x.csv"',
      });
      response.end();
    });
    const { fileName } = await createClient(server).downloadRequests({}, { type: 'text/csv' });
    assert.equal(fileName, 'requests.csv');
  });
});
