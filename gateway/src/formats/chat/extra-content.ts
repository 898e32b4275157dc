import { isJsonObject } from '../../wire/json.ts';
import { writeBounded } from '../translation/bounded-json.ts';
import type { ReasoningSeal } from '../translation/conversation.ts';

/** The value that a provider gave with a tool call and wants back with it (Gemini: a thought signature), as a seal. */
export function extraSeal(id: string, extra: unknown): ReasoningSeal | undefined {
  const value = isJsonObject(extra) ? writeBounded(extra) : undefined;
  return value === undefined ? undefined : { kind: 'extra', value, id };
}
