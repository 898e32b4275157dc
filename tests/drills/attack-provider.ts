import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// The attackers' own provider. The text of the message names the answer.

const CONTENT_BYTES = 12_000_000;
const NESTED_LEVELS = 5_000_000;
const ENDLESS_BYTES = 50_000_000;

const completion = (content: string) =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 16, total_tokens: 26 },
  });
const event = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

const SMALL = completion('Hello.');
const LARGE = Buffer.from(completion('x'.repeat(CONTENT_BYTES)));
const NESTED = Buffer.from(`{"choices":${'['.repeat(NESTED_LEVELS)}${']'.repeat(NESTED_LEVELS)}}`);
const LARGE_EVENT = Buffer.from(event('x'.repeat(16_000)));

const ODD_ANSWERS = {
  /** One answer of 12 MB. */
  large: (response: ServerResponse) => void response.end(LARGE),
  /** Ten megabytes of brackets. */
  nested: (response: ServerResponse) => void response.end(NESTED),
  /** A status that does not exist. */
  status: (response: ServerResponse) => void response.writeHead(999).end('{}'),
  /** An informational response before the real one. */
  hints: (response: ServerResponse) =>
    response.writeEarlyHints({ link: '</a>; rel=preload; as=style' }, () => void response.end(SMALL)),
  /** A stream in packets of one byte. */
  async bytes(response: ServerResponse) {
    response.setHeader('content-type', 'text/event-stream');
    for (const byte of Buffer.from(event('x'.repeat(200)).repeat(20))) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end('data: [DONE]\n\n');
  },
  /** A stream of 50 MB, as fast as it is read. */
  async endless(response: ServerResponse) {
    response.setHeader('content-type', 'text/event-stream');
    const gone = new Promise<void>((resolve) => response.once('close', () => resolve()));
    for (let sent = 0; sent < ENDLESS_BYTES && !response.destroyed; sent += LARGE_EVENT.length) {
      if (response.write(LARGE_EVENT)) continue;
      await Promise.race([gone, new Promise<void>((resolve) => response.once('drain', () => resolve()))]);
    }
    response.end('data: [DONE]\n\n');
  },
};

export type OddAnswer = keyof typeof ODD_ANSWERS;

/** Starts it; resolves with its base URL. It ends with its process. */
export async function startAttackProvider(): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    request.on('data', (chunk) => {
      // The name is within the first kilobytes.
      if (body.length < 10_000) body += chunk;
    });
    request.on('end', () => {
      const wanted = /"content":"(\w+)"/.exec(body)?.[1] ?? '';
      if (Object.hasOwn(ODD_ANSWERS, wanted)) void ODD_ANSWERS[wanted as OddAnswer](response);
      else response.end(SMALL);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
