import { isUtf8 } from 'node:buffer';
import { parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { type JsonScan, type MemberSpan, type ScanLimits, scanJson } from '../wire/scan-json.ts';
import { BodyError } from './request-facts.ts';

// A value costs many times its bytes once it is parsed (ten million "{}" made a gigabyte of 31 MB), so the values are
// bounded and not only the bytes: no body was found that takes more than 60 bytes for each byte of structure, 24 MB at
// this limit. The largest honest request is one of 300,000 tokens as numbers; an agent's with hundreds of tools has a
// tenth of that.
export const BODY_LIMITS: ScanLimits = { depth: 256, structure: 400_000, members: 256 };

/** A body that was parsed, with the places of its members. */
export interface ParsedBody {
  readonly value: JsonObject;
  readonly bytes: Buffer;
  readonly spans: ReadonlyMap<string, MemberSpan>;
  readonly scan: JsonScan;
}

/** Parses a request body. Throws a BodyError for one that is not JSON, or costs too much to read. */
export function parseBody(bytes: Buffer, parse: typeof parseJson = parseJson): ParsedBody {
  if (!isUtf8(bytes)) throw new BodyError('The body must be UTF-8.');
  const scan = scanJson(bytes, BODY_LIMITS);
  if (scan === 'structure') {
    const message = `The body has more than ${BODY_LIMITS.structure} brackets, commas and colons.`;
    throw new BodyError(message, null, 413);
  }
  if (scan === 'depth') throw new BodyError(`The body is nested deeper than ${BODY_LIMITS.depth} levels.`);
  if (scan === 'members') throw new BodyError(`The body has more than ${BODY_LIMITS.members} members.`);
  const value = parse(bytes.toString());
  if (value === undefined) throw new BodyError('The body is not valid JSON.');
  if (!isJsonObject(value)) throw new BodyError('The body must be a JSON object.');
  return { value, bytes, spans: byName(bytes, scan.members), scan };
}

/**
 * The members by their names, in their order. Of two with one name this gateway would judge the last, and a provider
 * might take the first: so no name may occur twice.
 */
function byName(bytes: Buffer, spans: readonly MemberSpan[]): ReadonlyMap<string, MemberSpan> {
  const named = new Map<string, MemberSpan>();
  for (const span of spans) {
    const name = JSON.parse(bytes.toString('utf8', span.keyStart, span.keyEnd)) as string;
    if (named.has(name)) throw new BodyError(`${shortened(name)} occurs twice.`, shortened(name));
    named.set(name, span);
  }
  return named;
}

function shortened(name: string): string {
  return name.slice(0, 64).toWellFormed();
}
