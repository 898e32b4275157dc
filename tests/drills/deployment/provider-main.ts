import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

// A provider of the OpenAI protocol in one file, for a container that has nothing else.

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

createServer(async (request, response) => {
  const { stream } = (await json(request)) as { readonly stream?: boolean };
  const content = 'Hello there.';
  if (stream !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of [
    { choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ])
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...chunk })}\n\n`);
  response.end('data: [DONE]\n\n');
}).listen(8000, '0.0.0.0');
