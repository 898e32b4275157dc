import type { JsonObject } from '../wire/json.ts';
import type { EchoAnswer } from './compose.ts';
import type { EchoConversation } from './conversation.ts';

/** A format that the echo speaks: how it reads a request and writes an answer. */
export interface EchoFormat {
  /** The contents of a body: one conversation, or several that are answered side by side. */
  read(body: JsonObject): EchoReading;
  /** An answer that comes whole. */
  whole(answers: readonly EchoAnswer[], frame: Frame): JsonObject;
  /** The same as the events of a stream. */
  events(answers: readonly EchoAnswer[], frame: Frame): Generator<string>;
}

export interface EchoReading {
  readonly conversations: readonly EchoConversation[];
  /** How often each is answered. */
  readonly choices: number;
}

/** The members around an answer. */
export interface Frame {
  /** Unique; without the prefix that it has in a format. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly model: unknown;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** True if a stream tells its usage. */
  readonly showsUsage: boolean;
}

/** The usage as chat and completions write it. */
export function openAiUsage({ promptTokens, completionTokens }: Frame): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
