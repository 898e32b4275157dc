import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded } from '../translation/bounded-json.ts';

// The words of a provider's failure. Providers agree neither on the member that holds them nor on how deep it lies.

const MAX_DEPTH = 6;
/** A validation error lists what was wrong; the first few say enough. */
const MAX_LISTED = 3;
const MAX_CHARACTERS = 64 * 1024;

/** The members that hold an error's words, or an object or a list that does; the most telling first. */
const HOLDERS = [
  // OpenAI, Anthropic; as a text xAI, Ollama and Hugging Face.
  'error',
  // vLLM and Cohere; an object with `detail` at Mistral.
  'message',
  // Zhipu, SiliconFlow; the entries of FastAPI's lists.
  'msg',
  // Baidu, and its older gateways.
  'error_msg',
  'error_message',
  'errmsg',
  // FastAPI and what is built on it, as a text or a list; problem details (RFC 9457).
  'detail',
  // Gateways that wrap the provider's error.
  'upstream_error',
  // Cloudflare; GraphQL.
  'errors',
  // MiniMax.
  'base_resp',
  'status_msg',
  // AWS, Volcengine; AWS Lambda.
  'Message',
  'errorMessage',
  'Error',
  'ResponseMetadata',
  // Apigee.
  'fault',
  'faultstring',
  // OAuth, beside the kind of error as a text.
  'error_description',
  'title',
  'reason',
] as const;
/** The members around an error that hold an answer elsewhere: of Tencent, of AWS, and of APIs that wrap all they say. */
const WRAPPERS = ['Response', 'Output', 'data', 'result'] as const;
/** Bedrock names the member by the kind of error. */
const EXCEPTION = /Exception$/;

/** The words of an error, in whatever members a provider puts them; undefined where there are none. */
export function readErrorMessage(value: unknown): string | undefined {
  return wordsIn(value, MAX_DEPTH)?.slice(0, MAX_CHARACTERS);
}

/** The words of what is known to be an error, also where it is wrapped. */
export function wordsOfFailure(value: unknown): string | undefined {
  const wrapped = isJsonObject(value) ? WRAPPERS.map((name) => value[name]).filter(isJsonObject) : [];
  return readErrorMessage(value) ?? readErrorMessage(wrapped);
}

/** The words of what is known to be an error; a placeholder where the provider gave none. */
export function errorInWords(value: unknown): string {
  return wordsOfFailure(value) ?? 'an error without a message';
}

function wordsIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (depth === 0) return undefined;
  if (Array.isArray(value)) {
    const words = value.slice(0, MAX_LISTED).flatMap((one: unknown) => wordsIn(one, depth - 1) ?? []);
    return words.length === 0 ? undefined : words.join('; ');
  }
  if (!isJsonObject(value)) return undefined;
  for (const name of holdersOf(value)) {
    const words = Object.hasOwn(value, name) ? wordsIn(value[name], depth - 1) : undefined;
    if (words !== undefined) return withQuoted(words, value, depth);
  }
  return undefined;
}

/** The members to look at. An error that is a text beside a message is only the kind of it: `invalid_request`, "Bad Request". */
function holdersOf(value: JsonObject): readonly string[] {
  const exceptions = Object.keys(value).filter((name) => EXCEPTION.test(name));
  return typeof value['error'] === 'string'
    ? [...HOLDERS.slice(1), 'error']
    : [...HOLDERS, ...exceptions.slice(0, MAX_LISTED)];
}

/** The words with those of the provider that a router quotes: its own say only that the provider failed. */
function withQuoted(words: string, { metadata }: JsonObject, depth: number): string {
  const raw = isJsonObject(metadata) ? metadata['raw'] : undefined;
  const parsed = typeof raw === 'string' ? parseBounded(raw) : undefined;
  const quoted = wordsIn(typeof parsed === 'object' ? parsed : raw, depth - 1);
  return quoted === undefined ? words : `${words}: ${quoted}`;
}

/** The error beside what an answer or an event of its format holds: `error`, also within Groq's member, or MiniMax's status. Undefined where all is well. */
export function errorBeside(value: JsonObject): string | undefined {
  const { error, base_resp: status, x_groq: groq } = value;
  if ((isJsonObject(error) && Object.keys(error).length > 0) || (typeof error === 'string' && error !== ''))
    return errorInWords(value);
  if (isJsonObject(groq) && groq['error']) return errorInWords(groq);
  return isJsonObject(status) && isFailureCode(status['status_code']) ? errorInWords(status) : undefined;
}

/** The members by which an event that is none of its format says that it is an error, whatever type it names. */
const SIGNS = ['error', 'error_msg', 'detail', 'errors'] as const;
const CODES = ['code', 'error_code', 'status_code'] as const;
const FAILURE = /error|exception|fail|invalid/i;
/** A text in place of JSON that speaks of an error: "Internal Server Error". */
const PLAIN_FAILURE = /^(?!\{).{0,256}?(?:error|exception|fail|invalid)/i;

/**
 * The error that an event, or a whole body, is in place of one of its format: its name says so, or its members do. Undefined for what
 * is none: a ping, an event that only this provider knows.
 */
export function errorInstead(name: string | undefined, data: string, value: unknown): string | undefined {
  if (name === 'error') {
    const said = readErrorMessage(value) ?? (value === undefined ? data.slice(0, MAX_CHARACTERS) : '');
    return said === '' ? errorInWords(value) : said;
  }
  if (value === undefined) return PLAIN_FAILURE.test(data) ? data.slice(0, MAX_CHARACTERS) : undefined;
  if (Array.isArray(value)) return errorInstead(name, data, value[0]);
  if (!isJsonObject(value)) return undefined;
  const { success, base_resp: status, type, object } = value;
  const stated = [value, status].flatMap((one) => (isJsonObject(one) ? CODES.map((code) => one[code]) : []));
  const isDenied = success === false || object === 'error' || stated.some(isFailureCode);
  const isFine = success === true || stated.some((code) => code !== undefined && !isFailureCode(code));
  const isSigned = SIGNS.some((sign) => Boolean(value[sign]));
  const isOtherKind = typeof type === 'string' && !FAILURE.test(type);
  const words = readErrorMessage(value);
  const isWorded = words !== undefined && !isFine && !isOtherKind;
  return isDenied || (isSigned && !isFine) || isWorded ? (words ?? errorInWords(value)) : undefined;
}

const SUCCESS_CODES: ReadonlySet<unknown> = new Set([
  0,
  '0',
  200,
  '200',
  '',
  'ok',
  'OK',
  'success',
  'Success',
  'SUCCESS',
]);

/** True for a code that is not one of those by which providers say that all is well. */
function isFailureCode(code: unknown): boolean {
  return (typeof code === 'number' || typeof code === 'string') && !SUCCESS_CODES.has(code);
}
