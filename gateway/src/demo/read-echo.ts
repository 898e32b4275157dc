import { isJsonObject, type JsonObject } from '../protocols/json.ts';
import { promptSize } from '../protocols/openai/prompt-size.ts';
import { countTokens } from '../tokens/count-tokens.ts';

/** What the echo goes by: plain data, because a large body is read in another thread. */
export interface EchoRequest {
  readonly model: unknown;
  /** What the user said last. */
  readonly said: string;
  readonly cap: number;
  readonly choices: number;
  readonly isStream: boolean;
  readonly showsUsage: boolean;
  readonly promptTokens: number;
}

export async function readEcho(bytes: Buffer): Promise<EchoRequest> {
  const { texts, overheadTokens, ...request } = understand(JSON.parse(bytes.toString()));
  return { ...request, promptTokens: overheadTokens + (await countTokens(texts)) };
}

function understand(body: JsonObject) {
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isJsonObject) : [];
  const options = isJsonObject(body['stream_options']) ? body['stream_options'] : {};
  const { texts, overheadTokens } = promptSize(messages, body);
  return {
    model: body['model'],
    said: lastWords(messages),
    cap: numberOr(body['max_completion_tokens'] ?? body['max_tokens'], Number.POSITIVE_INFINITY),
    choices: numberOr(body['n'], 1),
    isStream: body['stream'] === true,
    showsUsage: options['include_usage'] === true,
    texts,
    overheadTokens,
  };
}

function lastWords(messages: readonly JsonObject[]): string {
  const content = messages.findLast((message) => message['role'] === 'user')?.['content'];
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  return parts
    .map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
