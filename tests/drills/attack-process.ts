import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answers, ATTACKS, type Target } from './attack-kinds.ts';

// The attackers, and their provider, in a process of their own with the lowest priority: on a machine of few cores it
// is the service that is measured, not how much of a core the attackers use up.

export type Order = { readonly attack: string; readonly target: Target; readonly seconds: number };
export type Report = { readonly baseUrl: string } | { readonly answers: [string, number][] };

setPriority(19);

const LARGE = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'x'.repeat(12_000_000) }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 16, total_tokens: 26 },
  }),
);
const NESTED = Buffer.from(`{"choices":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`);

const SAYS: Readonly<Record<string, (response: ServerResponse) => void | Promise<void>>> = {
  large: (response) => void response.end(LARGE),
  nested: (response) => void response.end(NESTED),
  status: (response) => void response.writeHead(999).end('{}'),
  async bytes(response) {
    response.setHeader('content-type', 'text/event-stream');
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(200) } }] })}\n\n`;
    for (const byte of Buffer.from(event.repeat(20))) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end('data: [DONE]\n\n');
  },
};

const server = createServer((request, response) => {
  let body = '';
  response.on('error', () => undefined);
  request.on('error', () => undefined);
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const wanted = /"content":"(\w+)"/.exec(body)?.[1] ?? '';
    void (SAYS[wanted] ?? ((answer: ServerResponse) => void answer.end('{"choices":[]}')))(response);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ baseUrl: `http://127.0.0.1:${port}/v1` } satisfies Report);
});

process.on('message', (order: Order) => void carryOut(order));
process.on('disconnect', () => process.exit());

async function carryOut({ attack, target, seconds }: Order): Promise<void> {
  const answers: Answers = new Map();
  const stop = new AbortController();
  const work = ATTACKS[attack]?.(target, stop.signal, (answer) => {
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  });
  await delay(seconds * 1_000);
  stop.abort();
  await Promise.race([work, delay(5_000)]);
  process.send?.({ answers: [...answers] } satisfies Report);
}
