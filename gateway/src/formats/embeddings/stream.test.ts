import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { redactionOf } from '../../wire/redaction.ts';
import { embeddings } from './index.ts';

const SECRET = 'sk-platform-0123456789abcdef';
const usage = { prompt_tokens: 7, total_tokens: 7 };
const answer = JSON.stringify({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -1.25e-3] }],
  model: 'm',
  usage,
});

function pass(text: string, at: readonly number[], secret?: string) {
  const stream = embeddings.openStream({ showsUsage: true, choices: 0, redaction: redactionOf(secret) });
  const bytes = Buffer.from(text);
  const ends = [...at, bytes.length];
  const passed = ends.map((end, index) => stream.push(bytes.subarray(ends[index - 1] ?? 0, end)).toString());
  return { stream, passed: passed.join(''), tail: stream.end().toString() };
}

describe('an answer with embeddings', () => {
  it('passes as it comes, its last byte at its end, wherever the packets split', () => {
    for (let at = 0; at <= answer.length; at += 1) {
      const { stream, passed, tail } = pass(answer, [at]);
      assert.equal(passed + tail, answer);
      assert.equal(tail, '}');
      assert.deepEqual(stream.usage, { promptTokens: 7, completionTokens: 0 });
      assert.ok(stream.isComplete && stream.isUsageFinal && stream.hasContent);
    }
  });

  for (const text of ['', '[]', '<html>', answer.slice(0, -1), '{"data":[']) {
    it(`is not complete: ${text.slice(0, 20)}`, () => {
      const { stream, passed, tail } = pass(text, []);
      assert.equal(stream.isComplete, false);
      assert.equal(passed + tail, text);
    });
  }

  it('has no credential in it, wherever the packets split', () => {
    const said = answer.replace('"m"', JSON.stringify(`a ${SECRET} b`));
    for (let at = 0; at <= said.length; at += 1) {
      const { passed, tail } = pass(said, [at, Math.min(at + 5, said.length)], SECRET);
      assert.equal(passed + tail, said.replace(SECRET, '[redacted]'));
    }
  });

  it('says what went wrong', () => {
    assert.equal(pass('{"error":{"message":"overloaded"}}', []).stream.upstreamError, 'overloaded');
    assert.equal(pass(answer, []).stream.upstreamError, null);
  });

  it('keeps little of a hundred megabytes', () => {
    const stream = embeddings.openStream({ showsUsage: true, choices: 0, redaction: redactionOf(SECRET) });
    stream.push(Buffer.from('{"data":[{"embedding":['));
    const numbers = Buffer.from('0.0123456789,'.repeat(80_000));
    for (let sent = 0; sent < 100e6; sent += numbers.length) {
      stream.push(numbers);
      assert.ok(stream.keptBytes < 1_000);
    }
    stream.push(Buffer.from(`0]}],"usage":${JSON.stringify(usage)}}`));
    assert.equal(stream.usage?.promptTokens, 7);
    assert.equal(stream.isComplete, true);
  });

  it('is read whole too, without parsing its numbers', () => {
    const content = embeddings.readAnswer(Buffer.from(answer));
    assert.deepEqual(content?.usage, { promptTokens: 7, completionTokens: 0 });
    assert.equal(embeddings.readAnswer(Buffer.from('<html>')), undefined);
    assert.equal(embeddings.readAnswer(Buffer.from('{"data":[')), undefined);
  });
});
