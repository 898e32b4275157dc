import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOCK_SURFACES, TRANSLATED } from '../testing/mock-surfaces.ts';
import { redactionOf } from '../wire/redaction.ts';
import { openCallersStream } from './formats.ts';
import { MAX_KEPT_CHARACTERS } from './responses/stream-writer.ts';
import type { TranslationNotes } from './translation/index.ts';
import { createStreamTranslator } from './translation/testing.fixture.ts';

const SECRET = 'sk-platform-0123456789abcdef';
const notes: TranslationNotes = {
  ...{ model: 'm', requestId: 'req-1', createdSeconds: 1, promptTokens: 8, showsUsage: true },
  ...{ customTools: [], toolNames: {} },
};

describe('a translated stream', () => {
  for (const from of TRANSLATED) {
    for (const to of TRANSLATED.filter((one) => one !== from)) {
      const open = () =>
        openCallersStream(
          from,
          { to, notes },
          { showsUsage: true, choices: 1, redaction: redactionOf(SECRET) },
        );
      const usage = MOCK_SURFACES[from].usage(20, 7);

      it(`translates ${from} to ${to} wherever the packets split, without the credential`, () => {
        const pieces = ['Hé☕ ', SECRET, ' you'];
        const bytes = Buffer.from(MOCK_SURFACES[from].stream(pieces, usage).join(''));
        const whole = open();
        const expected = whole.push(bytes).toString() + whole.end().toString();
        assert.ok(!expected.includes(SECRET));
        assert.match(MOCK_SURFACES[to].textOfStream(expected), /^Hé☕ \[redacted\] you$/);
        for (let at = 0; at < bytes.length; at += 7) {
          const stream = open();
          const first = stream.push(bytes.subarray(0, at)).toString();
          const second = stream.push(bytes.subarray(at)).toString();
          assert.doesNotMatch(first + second, MOCK_SURFACES[to].end);
          assert.equal(first + second + stream.end().toString(), expected);
          assert.ok(stream.isComplete && stream.hasContent);
          assert.deepEqual([stream.usage?.promptTokens, stream.usage?.completionTokens], [20, 7]);
        }
      });

      it(`is not complete where ${from} for ${to} ends before its answer is finished`, () => {
        const events = MOCK_SURFACES[from].stream(['Hello'], usage);
        const stream = open();
        stream.push(Buffer.from(events.slice(0, -3).join('')));
        assert.doesNotMatch(stream.end().toString(), MOCK_SURFACES[to].end);
        assert.equal(stream.isComplete, false);
      });
    }
  }

  it('that fails at a limit of the gateway says so once, and why', () => {
    const stream = createStreamTranslator('messages', 'responses', notes);
    const events = MOCK_SURFACES.messages.stream(['x'.repeat(MAX_KEPT_CHARACTERS), 'y', 'z']);
    const bytes = stream.push(Buffer.from(events.join(''))).toString() + stream.end().toString();
    assert.equal(bytes.match(/event: response\.failed/g)?.length, 1);
    assert.match(stream.upstreamError ?? '', /longer than/);
    assert.ok(stream.isComplete);
  });

  it('is not complete where messages stop without a reason', () => {
    const stream = createStreamTranslator('messages', 'chat', notes);
    const events = MOCK_SURFACES.messages.stream(['Hello']);
    stream.push(Buffer.from([...events.slice(0, -2), ...events.slice(-1)].join('')));
    assert.equal(stream.end().toString(), '');
    assert.equal(stream.isComplete, false);
  });
});
