import { createServer } from 'node:http';

// A provider that answers at once, in a process of its own: a chat completion, or a stream of 50 events where the body
// asks for one. It prints its port.

const EVENTS = 50;
const USAGE = { prompt_tokens: 9, completion_tokens: EVENTS, total_tokens: 9 + EVENTS };
const HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'model-2026-01-01' };

const answer = JSON.stringify({
  ...HEAD,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});

const message = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'model',
  content: [{ type: 'text', text: 'Hello there.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
});

const chunk = (choices: readonly object[], usage: object | null) =>
  `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices, usage })}\n\n`;
const events = [
  ...Array.from({ length: EVENTS - 1 }, () =>
    chunk([{ index: 0, delta: { content: ' word' }, finish_reason: null }], null),
  ),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], null),
  `${chunk([], USAGE)}data: [DONE]\n\n`,
];

const server = createServer((request, response) => {
  let isStream = false;
  request.on('data', (bytes: Buffer) => {
    isStream ||= bytes.includes('"stream":true');
  });
  request.on('end', () => {
    if (!isStream) {
      const body = request.url?.endsWith('/messages') ? message : answer;
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    // One event in each turn of the event loop, as a model sends them: each is a packet of its own.
    const next = () => {
      response.write(events[sent]);
      sent += 1;
      if (sent < events.length) setImmediate(next);
      else response.end();
    };
    next();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
