import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import { CHAT_SAMPLES } from './feature-samples-chat.fixture.ts';
import { MESSAGES_SAMPLES } from './feature-samples-messages.fixture.ts';
import { RESPONSES_SAMPLES } from './feature-samples-responses.fixture.ts';
import { SENT_TO_RESPONSES } from './feature-sent-responses.fixture.ts';
import {
  FEATURES,
  type Feature,
  TRANSLATED_FORMATS,
  type TranslatedFormat,
  treatmentOf,
} from './feature-table.ts';
import { isTranslated, translateRequest } from './index.ts';

// Every entry of the table is tried: what it says is what a request of that feature goes through.

export interface FeatureSample {
  /** Members beside the model, and a message where there is none. */
  readonly body: JsonObject;
  /** By the provider's format, where it needs another one. */
  readonly bodyFor?: { readonly [Format in TranslatedFormat]?: JsonObject };
  /** By the provider's format: what of its body says the same. */
  readonly sent?: { readonly [Format in TranslatedFormat]?: string };
  /** By what it is disclosed and refused. */
  readonly path?: string;
}

export type FeatureSamples = { readonly [Name in Feature]?: FeatureSample };

const SAMPLES: Readonly<Record<TranslatedFormat, FeatureSamples>> = {
  chat: CHAT_SAMPLES,
  messages: MESSAGES_SAMPLES,
  responses: RESPONSES_SAMPLES,
};

/** The members that no request of the format may leave out. */
const LEAST: Readonly<Record<TranslatedFormat, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'Hi' }] },
  messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 },
  responses: { input: 'Hi' },
};

const OPTIONS = { keep: [], requestId: 'req_1', createdSeconds: 1_795_000_000, promptTokens: 9 };
const names = Object.keys(FEATURES) as Feature[];

describe('the table of translated features', () => {
  it('has a row for every feature', () => {
    const without = names.filter((name) =>
      TRANSLATED_FORMATS.every((from) =>
        TRANSLATED_FORMATS.every((to) => !treatmentOf(name, `${from} to ${to}`)),
      ),
    );
    assert.deepEqual(without, []);
  });

  for (const [from, samples] of Object.entries(SAMPLES) as [TranslatedFormat, FeatureSamples][]) {
    for (const to of TRANSLATED_FORMATS.filter((format) => isTranslated(from, format))) {
      for (const name of names) {
        const treatment = treatmentOf(name, `${from} to ${to}`);
        const sample = samples[name];
        if (!treatment) continue;
        it(`${from} to ${to}: ${name} is ${treatment}`, () => {
          assert.ok(sample, 'a sample');
          const body = { model: 'm', ...LEAST[from], ...(sample.bodyFor?.[to] ?? sample.body) };
          const translate = () => translateRequest(from, to, body, OPTIONS);
          if (treatment === 'refused') {
            assert.throws(translate, (error) => {
              assert.ok(error instanceof BodyError, String(error));
              assert.deepEqual([error.issue.status, error.issue.param], [400, sample.path]);
              assert.ok(
                error.message.startsWith(`${sample.path} cannot be sent to this model`),
                error.message,
              );
              return true;
            });
            return;
          }
          const { body: written, dropped } = translate();
          if (treatment === 'dropped') {
            assert.ok(dropped.includes(sample.path ?? ''), `${dropped}`);
            return;
          }
          assert.deepEqual(dropped, []);
          const json = JSON.stringify(written);
          const expected = sample.sent?.[to] ?? (to === 'responses' && sentToResponses(name, from));
          assert.ok(expected, `a sample of what is sent: ${json}`);
          assert.ok(json.includes(expected), json);
        });
      }
    }
  }
});

function sentToResponses(name: Feature, from: TranslatedFormat): string | undefined {
  const sent = SENT_TO_RESPONSES[name];
  return typeof sent === 'object' && from !== 'responses' ? sent[from] : (sent as string | undefined);
}
