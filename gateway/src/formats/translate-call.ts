import type { Surface } from '@gatehouse/contract';
import type { BodyIssue } from '../errors/body-errors.ts';
import { parseExact } from '../wire/exact-json.ts';
import { wholeJson } from '../wire/json.ts';
import { BodyError, type RequestFacts } from './call.ts';
import { parseBody, surveyBody } from './parse-body.ts';
import { readFacts } from './read-request.ts';
import { type TranslationNotes, type TranslationOptions, translateRequest } from './translation/index.ts';

// Like reading, translating a body is a pure function from its bytes: it runs on the main thread for a small body, in a
// reader thread for a large one.

export interface CallTranslation {
  readonly from: Surface;
  readonly to: Surface;
  readonly options: TranslationOptions;
}

export type TranslatedCall =
  | {
      readonly kind: 'translated';
      /** The facts of the body in its new format. */
      readonly facts: RequestFacts;
      readonly dropped: readonly string[];
      readonly notes: TranslationNotes;
    }
  | { readonly kind: 'refused'; readonly issue: BodyIssue };

/** The body in another format, with its facts; or why it cannot be said there. */
export function translateCall(
  bytes: Buffer<ArrayBuffer>,
  { from, to, options }: CallTranslation,
): { readonly result: TranslatedCall; readonly body: Buffer<ArrayBuffer> } {
  try {
    const translated = translateRequest(from, to, parseBody(bytes, parseExact).value, options);
    const { dropped, notes } = translated;
    const body = Buffer.from(wholeJson(translated.body));
    const written = parseBody(body);
    const { facts } = readFacts(to, written);
    const references = surveyBody(written);
    const { promptTokens } = options;
    return {
      result: { kind: 'translated', facts: { ...facts, references, promptTokens }, dropped, notes },
      body,
    };
  } catch (error) {
    if (error instanceof BodyError) return { result: { kind: 'refused', issue: error.issue }, body: bytes };
    throw error;
  }
}
