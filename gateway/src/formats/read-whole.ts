import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { AnswerTally } from './answer-tally.ts';
import type { AnswerContent } from './format.ts';
import type { Usage } from './protocol.ts';
import { statesOutput } from './usage-figures.ts';

/** The reading of an answer that came whole, as a format gives it. */
export interface WholeAnswer {
  readonly usage?: Usage | undefined;
  readonly hasReasoning?: boolean;
  readonly upstreamError?: string | null;
  readonly responseId?: string | undefined;
  /** Hears all that was generated. */
  readonly hearAll?: (tally: AnswerTally) => void;
}

/** The reading of an answer that came whole. What was generated is kept only where the usage does not say how much it was. */
export class ReadAnswer extends AnswerTally implements AnswerContent {
  readonly value: JsonObject;

  constructor(
    value: JsonObject,
    { usage, hasReasoning = false, upstreamError = null, responseId, hearAll }: WholeAnswer,
  ) {
    super(!statesOutput(usage));
    this.value = value;
    hearAll?.(this);
    this.usage = usage;
    this.isUsageFinal = usage !== undefined;
    this.hasReasoning ||= hasReasoning;
    this.upstreamError = upstreamError;
    this.responseId = responseId;
  }
}

/** Reads an answer that came whole; undefined where it is none of the format, for which `read` returns undefined. */
export function readWhole(
  body: Buffer,
  read: (value: JsonObject) => WholeAnswer | undefined,
): AnswerContent | undefined {
  const value = isTooComplex(body) ? undefined : parseJson(body.toString());
  const whole = isJsonObject(value) ? read(value) : undefined;
  return isJsonObject(value) && whole ? new ReadAnswer(value, whole) : undefined;
}
