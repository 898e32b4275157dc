import type { Surface } from '@gatehouse/contract';
import { BodyError } from '../formats/call.ts';
import type { CountTokens } from '../formats/protocol.ts';
import { translateRequest } from '../formats/translation/index.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { chatEcho } from './chat-echo.ts';
import { completionsEcho } from './completions-echo.ts';
import { compose, type EchoAnswer, promptOf } from './compose.ts';
import { type EchoConversation, numberOr, objectOr } from './conversation.ts';
import type { EchoBounds } from './echo-bounds.ts';
import type { EchoFormat } from './echo-format.ts';
import { DEFAULT_DIMENSIONS, MAX_DIMENSIONS, unitVectors } from './embeddings-echo.ts';
import { textsOf } from './texts.ts';

/** As many prompts as a completion may have, each answered once. */
export const MAX_CHOICES = 2_048;
/** The characters of all inputs of a request for vectors: about as many as the million tokens that the model's context has. */
export const MAX_INPUT_CHARACTERS = 4_000_000;

/** The facts of a request of which only the prompt is read. */
const NO_REQUEST = { keep: [], requestId: '', createdSeconds: 0, promptTokens: 0 };

/** The formats in which the echo answers. */
export const ECHO_FORMATS: Readonly<Partial<Record<Surface, EchoFormat>>> = {
  chat: chatEcho,
  completions: completionsEcho,
};

/** The answer of the echo as plain data, because most bodies are read in another thread. */
export type EchoRequest = Answers | Vectors | Count | Unusable;

export interface Answers {
  readonly kind: 'answers';
  readonly model: unknown;
  readonly answers: readonly EchoAnswer[];
  readonly isStream: boolean;
  readonly showsUsage: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The characters of the distinct answers. */
  readonly characters: number;
}

/** The vectors themselves, one after the other, are the body of what was read. */
export interface Vectors {
  readonly kind: 'vectors';
  readonly model: unknown;
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
  readonly param: string | null;
}

export interface EchoReading {
  readonly result: EchoRequest;
  readonly vectors?: Float32Array<ArrayBuffer>;
}

/** Computes the answer of the echo; undefined where the bounds are small and it takes more. */
export async function readEcho(
  surface: Surface,
  bytes: Buffer,
  count: CountTokens,
  bounds: EchoBounds,
): Promise<EchoReading | undefined> {
  const parsed: unknown = JSON.parse(bytes.toString());
  const body = isJsonObject(parsed) ? parsed : {};
  if (surface === 'embeddings') return readVectors(body, count, bounds);
  if (surface === 'count_tokens') {
    return { result: await readCount(body, count) };
  }
  const format = ECHO_FORMATS[surface];
  if (!format) throw new Error(`the echo does not speak ${surface}`);
  const result = await readAnswers(format, body, count, bounds);
  return result && { result };
}

/** The tokens that the prompt of a message has in chat. */
async function readCount(body: JsonObject, count: CountTokens): Promise<Count | Unusable> {
  try {
    const { body: inChat } = translateRequest('messages', 'chat', body, NO_REQUEST);
    return { kind: 'count', promptTokens: await sum(chatEcho.read(inChat).conversations, count) };
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { message, param } = error.issue;
    return { kind: 'unusable', message, param };
  }
}

async function readAnswers(
  format: EchoFormat,
  body: JsonObject,
  count: CountTokens,
  bounds: EchoBounds,
): Promise<Answers | Unusable | undefined> {
  const { conversations, choices } = format.read(body);
  if (conversations.length * choices > MAX_CHOICES) {
    const message = `This model gives at most ${MAX_CHOICES} choices at once: n times the number of prompts.`;
    return { kind: 'unusable', message, param: 'n' };
  }
  const answers: EchoAnswer[] = [];
  const mostCharacters = Math.floor(bounds.characters / choices);
  let characters = 0;
  for (const conversation of conversations) {
    const composed = await compose(conversation, { ...bounds, characters: mostCharacters - characters });
    if (composed.isCut && !bounds.isFinal) return undefined;
    characters += composed.characters;
    for (let choice = 0; choice < choices; choice += 1) answers.push(composed.answer);
  }
  return {
    kind: 'answers',
    model: body['model'],
    answers,
    isStream: body['stream'] === true,
    showsUsage: objectOr(body['stream_options'])['include_usage'] === true,
    // Several choices are one conversation, whose prompt is read once.
    promptTokens: await sum(conversations, count),
    completionTokens: answers.reduce((total, { tokens }) => total + tokens, 0),
    characters,
  };
}

async function sum(conversations: readonly EchoConversation[], count: CountTokens): Promise<number> {
  const prompts = conversations.map(promptOf);
  const overhead = prompts.reduce((total, { overheadTokens }) => total + overheadTokens, 0);
  return overhead + (await count(prompts.flatMap(({ texts }) => texts)));
}

async function readVectors(
  body: JsonObject,
  count: CountTokens,
  bounds: EchoBounds,
): Promise<EchoReading | undefined> {
  const refused = (message: string, param: string): EchoReading => ({
    result: { kind: 'unusable', message, param },
  });
  const dimensions = numberOr(body['dimensions'], DEFAULT_DIMENSIONS);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_DIMENSIONS) {
    return refused(`dimensions must be an integer from 1 to ${MAX_DIMENSIONS}.`, 'dimensions');
  }
  const encoding = body['encoding_format'] ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64') {
    return refused('encoding_format must be float or base64.', 'encoding_format');
  }
  const inputs = textsOf(body['input']);
  if (inputs.length * dimensions > bounds.numbers) {
    if (!bounds.isFinal) return undefined;
    return refused(
      `input times dimensions is ${inputs.length * dimensions} numbers, and ${bounds.numbers} are given at once. Send fewer inputs, or ask for fewer dimensions.`,
      'input',
    );
  }
  if (inputs.reduce((total, { length }) => total + length, 0) > MAX_INPUT_CHARACTERS) {
    return refused(`input must have at most ${MAX_INPUT_CHARACTERS} characters in all.`, 'input');
  }
  return {
    result: {
      kind: 'vectors',
      model: body['model'],
      dimensions,
      isBase64: encoding === 'base64',
      promptTokens: await count(inputs),
    },
    vectors: unitVectors(inputs, dimensions),
  };
}
