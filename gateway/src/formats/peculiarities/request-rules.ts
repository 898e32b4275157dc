import { createHash } from 'node:crypto';
import type { Losses } from '../translation/losses.ts';

interface RequestRules {
  /** The longest name of a tool. */
  readonly maxNameLength: number;
  /** The longest id of a tool's call. */
  readonly maxCallIdLength: number;
  readonly maxUserLength: number;
  /** The longest title of a document, which is not empty either. */
  readonly maxTitleLength?: number;
  /** True if an address or a telephone number is refused as the id of a user. */
  readonly isUserOpaque: boolean;
  /** Stop sequences at most. */
  readonly maxStops?: number;
  /** The smallest output cap. */
  readonly minOutputCap?: number;
}

/** The rules of each format beside its shape: those of its maker. */
export const REQUEST_RULES = {
  // OpenAI: `string too long` names the lengths of names, ids and users; further stop sequences are refused.
  chat: { maxNameLength: 64, maxCallIdLength: 40, maxUserLength: 64, isUserOpaque: false, maxStops: 4 },
  // Anthropic: `^[a-zA-Z0-9_-]{1,128}$` for names and ids, `metadata.user_id` without anything that names a person.
  messages: {
    maxNameLength: 128,
    maxCallIdLength: 128,
    maxUserLength: 256,
    maxTitleLength: 500,
    isUserOpaque: true,
  },
  // OpenAI: names and users as for chat; clients try a model out with an output cap of 1, and a smaller one than 16 is refused.
  responses: {
    maxNameLength: 64,
    maxCallIdLength: 64,
    maxUserLength: 64,
    isUserOpaque: false,
    minOutputCap: 16,
  },
} as const satisfies Readonly<Record<string, RequestRules>>;

/** Characters that the providers of all formats take in names and ids. */
const ALLOWED = /^[a-zA-Z0-9_-]+$/;
const HASH_DIGITS = 10;

/**
 * The text itself where it fits a provider's rule for names and ids, else one that does, the same for the same text: a
 * call and its result, or a declaration and a call, still belong together.
 */
export function fittingName(text: string, longest: number): string {
  if (text.length <= longest && ALLOWED.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS);
  return `${text.slice(0, longest - HASH_DIGITS - 1).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_${hash}`;
}

const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
const MAX_ARGUMENT_NAME_LENGTH = 64;

/** The name of a tool's argument as Anthropic takes it; `$top` and `filter[id]` it refuses, with all tools of the request. */
export function argumentName(name: string): string {
  return ARGUMENT_NAME.test(name) ? name : fittingName(name, MAX_ARGUMENT_NAME_LENGTH);
}

const SHORT_ID = /^[a-zA-Z0-9]{9}$/;
const SHORT_ID_LENGTH = 9;

/** The id itself, or nine letters and digits, the same for the same id: Mistral takes no other ids of tool calls. */
export function shortId(id: string): string {
  if (SHORT_ID.test(id)) return id;
  const hash = createHash('sha256')
    .update(id)
    .digest('base64')
    .replaceAll(/[^a-zA-Z0-9]/g, '');
  return hash.slice(0, SHORT_ID_LENGTH).padEnd(SHORT_ID_LENGTH, '0');
}

const EMAIL = /[^\s@]@[^\s@]+\.[^\s@]/;
/** Digits with the marks of a telephone number between them; without any mark, as many as one has with its country. */
const TELEPHONE = /^(?=(?:\D*\d){7,15}\D*$)\+?[\d\s().-]*[+\s().-][\d\s().-]*$|^\+?\d{10,15}$/;

type UserRules = Pick<RequestRules, 'maxUserLength' | 'isUserOpaque'>;

/** The end user's id as a provider takes it. One that it refuses is left out, and disclosed. */
export function writtenUser(
  userId: string | undefined,
  { maxUserLength, isUserOpaque }: UserRules,
  losses: Losses,
): string | undefined {
  if (userId === undefined) return undefined;
  const isPersonal = isUserOpaque && (EMAIL.test(userId) || TELEPHONE.test(userId.trim()));
  if (userId.length <= maxUserLength && !isPersonal) return userId;
  losses.lose('user');
  return undefined;
}
