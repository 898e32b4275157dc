import { readRequest } from './read-request.ts';

// Reads what costs most for its bytes, in a process with a small heap, and tells what came of it.

const HEAD = '{"model":"m","messages":[{"role":"user","content":"Hi"}],"x":[';

const bodies = [
  // Over the limit of structure: refused before it is parsed.
  Buffer.concat([Buffer.from(HEAD), Buffer.alloc(31 * 1024 ** 2, '{},'), Buffer.from('{}]}')]),
  // Just within: an object each with a key of its own.
  Buffer.from(`${HEAD}${Array.from({ length: 99_000 }, (_, index) => `{"${4e9 - index}":1}`).join()}]}`),
];
for (const body of bodies) {
  const reading = await readRequest('chat', body);
  process.stdout.write(`${reading.kind === 'refused' ? reading.issue.status : reading.kind}\n`);
}
