import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOCK_SURFACES, TRANSLATED } from '../testing/mock-surfaces.ts';
import { RandomJson } from '../testing/random-json.ts';
import { readRequest } from './read-request.ts';
import { translateCall } from './translate-call.ts';
import { CHAT_SAMPLES } from './translation/feature-samples-chat.fixture.ts';
import { MESSAGES_SAMPLES } from './translation/feature-samples-messages.fixture.ts';
import { RESPONSES_SAMPLES } from './translation/feature-samples-responses.fixture.ts';
import { OPTIONS } from './translation/testing.fixture.ts';

// Whatever a caller sends becomes the other format's, or is refused by name: a body with one broken value of every kind
// that the features have.

const ROUNDS = 6;
const SAMPLES = { chat: CHAT_SAMPLES, messages: MESSAGES_SAMPLES, responses: RESPONSES_SAMPLES };

describe('translateCall', () => {
  for (const from of TRANSLATED) {
    for (const to of TRANSLATED.filter((one) => one !== from)) {
      it(`translates or refuses any ${from} for ${to}`, async () => {
        const counts = { translated: 0, refused: 0 };
        let seed = 0;
        for (const sample of Object.values(SAMPLES[from])) {
          const body = JSON.stringify({ model: 'm', ...MOCK_SURFACES[from].body, ...sample.body });
          for (let round = 0; round < ROUNDS; round += 1) {
            seed += 1;
            const text = round === 0 ? body : withBrokenValue(new RandomJson(seed), body);
            // What is refused on the way in never comes here.
            if ((await readRequest(from, Buffer.from(text))).kind === 'refused') continue;
            const { result, body: written } = translateCall(Buffer.from(text), {
              from,
              to,
              options: OPTIONS,
            });
            counts[result.kind] += 1;
            if (result.kind === 'refused') {
              assert.ok(result.issue.message.length > 0, text);
            } else {
              assert.equal(
                (await readRequest(to, written)).kind,
                'read',
                `${text} became ${written.toString()}`,
              );
              assert.ok(result.facts.layout.members.has('model'));
            }
          }
        }
        assert.ok(counts.translated > 50 && counts.refused > 20, JSON.stringify(counts));
      });
    }
  }
});

function withBrokenValue(random: RandomJson, text: string): string {
  const values = [
    ...text.matchAll(
      /"(?:[^"\\]|\\.)*"(?=\s*[,}\]])|-?\d+(?:\.\d+)?(?=\s*[,}\]])|null|true|false|\[\]|\{\}/g,
    ),
  ];
  const value = random.one(values);
  if (!value) return text;
  return text.slice(0, value.index) + random.value() + text.slice(value.index + value[0].length);
}
