import { isJsonObject } from '../../json.ts';
import { writeBounded } from '../bounded-json.ts';
import type { ReasoningSeal } from '../conversation.ts';

/** The value that a provider gave with a tool call and wants back with it (Gemini: a thought signature), as a seal. */
export function extraSeal(id: string, extra: unknown): ReasoningSeal | undefined {
  const value = isJsonObject(extra) ? writeBounded(extra) : undefined;
  return value === undefined ? undefined : { kind: 'extra', value, id };
}
