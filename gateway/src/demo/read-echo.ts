import type { Surface } from '@gatehouse/contract';
import { isJsonObject, type JsonObject } from '../protocols/json.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import { chatEcho } from './chat-echo.ts';
import { completionsEcho } from './completions-echo.ts';
import { compose, type EchoAnswer, promptTokensOf } from './compose.ts';
import { type EchoConversation, numberOr, objectOr } from './conversation.ts';
import type { EchoFormat } from './echo-format.ts';
import { DEFAULT_DIMENSIONS, MOST_DIMENSIONS } from './embeddings-echo.ts';
import { messagesEcho } from './messages-echo.ts';
import { responsesEcho } from './responses-echo.ts';
import { textsOf } from './texts.ts';

/** The formats in which the echo answers. */
export const ECHO_FORMATS: Readonly<Partial<Record<Surface, EchoFormat>>> = {
  chat: chatEcho,
  completions: completionsEcho,
  responses: responsesEcho,
  messages: messagesEcho,
};

/** What the echo answers: plain data, because a large body is read in another thread. */
export type EchoRequest = Answers | Vectors | Count | Unusable;

export interface Answers {
  readonly kind: 'answers';
  readonly model: unknown;
  readonly answers: readonly EchoAnswer[];
  readonly isStream: boolean;
  readonly showsUsage: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface Vectors {
  readonly kind: 'vectors';
  readonly model: unknown;
  readonly inputs: readonly string[];
  readonly dimensions: number;
  readonly isBase64: boolean;
  readonly promptTokens: number;
}

/** Only the tokens of a prompt are wanted. */
export interface Count {
  readonly kind: 'count';
  readonly promptTokens: number;
}

/** The echo refuses it, as a provider would. */
export interface Unusable {
  readonly kind: 'unusable';
  readonly message: string;
  readonly param: string;
}

export async function readEcho(surface: Surface, bytes: Buffer): Promise<EchoRequest> {
  const parsed: unknown = JSON.parse(bytes.toString());
  const body = isJsonObject(parsed) ? parsed : {};
  if (surface === 'embeddings') return readVectors(body);
  if (surface === 'count_tokens') return { kind: 'count', promptTokens: await sum(messagesEcho.read(body)) };
  const format = ECHO_FORMATS[surface];
  if (!format) throw new Error(`the echo does not speak ${surface}`);
  return readAnswers(surface, format, body);
}

async function readAnswers(surface: Surface, format: EchoFormat, body: JsonObject): Promise<Answers> {
  const conversations = format.read(body);
  // Several choices are one conversation, whose prompt is read once.
  const distinct = [...new Set(conversations)];
  const composed = new Map<EchoConversation, EchoAnswer>();
  for (const conversation of distinct) composed.set(conversation, await compose(conversation));
  const answers = conversations.flatMap((conversation) => composed.get(conversation) ?? []);
  const isTold = surface === 'responses' || surface === 'messages';
  return {
    kind: 'answers',
    model: body['model'],
    answers,
    isStream: body['stream'] === true,
    showsUsage: isTold || objectOr(body['stream_options'])['include_usage'] === true,
    promptTokens: await sum(distinct),
    completionTokens: answers.reduce((total, { tokens }) => total + tokens, 0),
  };
}

async function sum(conversations: readonly EchoConversation[]): Promise<number> {
  let total = 0;
  for (const conversation of conversations) total += await promptTokensOf(conversation);
  return total;
}

async function readVectors(body: JsonObject): Promise<Vectors | Unusable> {
  const dimensions = numberOr(body['dimensions'], DEFAULT_DIMENSIONS);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MOST_DIMENSIONS) {
    const message = `dimensions must be an integer from 1 to ${MOST_DIMENSIONS}.`;
    return { kind: 'unusable', message, param: 'dimensions' };
  }
  const encoding = body['encoding_format'] ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64') {
    return {
      kind: 'unusable',
      message: 'encoding_format must be float or base64.',
      param: 'encoding_format',
    };
  }
  const inputs = textsOf(body['input']);
  const promptTokens = await countTokens(inputs);
  return {
    kind: 'vectors',
    model: body['model'],
    inputs,
    dimensions,
    isBase64: encoding === 'base64',
    promptTokens,
  };
}
