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

function pass(text: string, at: readonly number[], secret?: string, encodingFormat?: string) {
  const redaction = redactionOf(secret);
  const stream = embeddings.openStream({ showsUsage: true, choices: 0, encodingFormat, redaction });
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

  it('is none without a vector', () => {
    for (const data of ['[]', '[null]', ' [ null, 1, "x" ] ', 'null', '"x"', '{"0":{}}']) {
      const text = `{"data":${data},"usage":${JSON.stringify(usage)}}`;
      for (let at = 0; at <= text.length; at += 1) {
        const { stream } = pass(text, [at]);
        assert.equal(stream.hasContent, false, data);
        assert.equal(stream.upstreamError, 'answered without an embedding', data);
      }
      assert.equal(embeddings.readAnswer(Buffer.from(text)), undefined, data);
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

  const asBase64 = (text: string, at: readonly number[] = [], secret?: string) => {
    const { passed, tail } = pass(text, at, secret, 'base64');
    return passed + tail;
  };

  it('has its numbers as the base64 that was asked for, wherever the packets split', () => {
    const vectors = [[0.5, -1.25e-3, 3], [], [1e-40]];
    const others = {
      [`${'a'.repeat(20)}"embedding`]: [1],
      note: 'an "embedding":[1] of \\\\\\""',
      embedding: { embedding: 'x' },
    };
    const withVectors = (data: readonly unknown[]) => JSON.stringify({ ...others, data, usage }, null, 1);
    const item = (embedding: unknown, index: number) => ({ object: 'embedding', index, embedding });
    const said = withVectors(vectors.map(item));
    const wanted = withVectors(
      vectors.map((one) => Buffer.from(Float32Array.from(one).buffer).toString('base64')).map(item),
    );
    for (let at = 0; at <= said.length; at += 1) assert.equal(asBase64(said, [at, at + 3]), wanted);
    assert.equal(asBase64(wanted), wanted);
    assert.equal(pass(said, [], undefined, 'float').passed, said.slice(0, -1));
  });

  for (const embedding of [
    '[[1,2],[3]]',
    '["1"]',
    '[1,null]',
    '[1,]',
    '[1',
    '{"0":[1]}',
    '[{"a":1}]',
    'null',
    '"AAAA"',
  ])
    it(`keeps what is no list of numbers: ${embedding}`, () => {
      const text = `{"data":[{"embedding" : ${embedding}}]}`;
      for (let at = 0; at <= text.length; at += 1) assert.equal(asBase64(text, [at]), text);
    });

  it('keeps no more than a vector can have, and no credential in what is left of one', () => {
    const stream = embeddings.openStream({ showsUsage: true, choices: 0, encodingFormat: 'base64' });
    stream.push(Buffer.from('{"data":[{"embedding":['));
    let passed = 0;
    for (let count = 0; count < 100; count += 1) {
      passed += stream.push(Buffer.from('1.5,'.repeat(10_000))).length;
      assert.ok(stream.keptBytes < 1024 ** 2 + 1_000);
    }
    assert.ok(passed > 3_900_000, `${passed} bytes`);
    assert.equal(
      asBase64(`{"data":[{"embedding":["${SECRET}`, [], SECRET),
      '{"data":[{"embedding":["[redacted]',
    );
  });
});
