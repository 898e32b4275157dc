import type { Provider } from '../../catalogue/queries.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { ParsedBody } from '../read-request.ts';
import type { BodyLayout, CapName, MemberPlace } from '../request-facts.ts';
import { type MemberSpan, scanJson } from '../scan-json.ts';
import type { Edit } from '../splice.ts';

// What of a caller's body is changed on its way to a provider: the model, the output cap under the names that the
// provider knows, and for a stream the wish for its usage. Every other byte goes on as it came, numbers beyond a
// double's digits included. What is added stands beside the model, the one member that every body has.

const NO_LIMITS = { depth: Infinity, structure: Infinity, members: Infinity };

/** Where the changes go. */
export function layoutOf(body: ParsedBody, isStream: boolean): BodyLayout {
  const model = placeOf(body, 'model');
  if (!model) throw new Error('a body without a model');
  const maxTokens = placeOf(body, 'max_tokens');
  const maxCompletionTokens = placeOf(body, 'max_completion_tokens');
  return {
    model,
    caps: {
      ...(maxTokens && { max_tokens: maxTokens }),
      ...(maxCompletionTokens && { max_completion_tokens: maxCompletionTokens }),
    },
    usageEdits: isStream ? usageEdits(body, model) : [],
  };
}

/** The edits that make a caller's body the provider's. */
export function upstreamEdits(
  { model, caps, usageEdits }: BodyLayout,
  upstreamModel: string,
  outputCap: number,
  outputLimit: Provider['outputLimit'],
): Edit[] {
  const wanted: readonly CapName[] =
    outputLimit === 'both' ? ['max_completion_tokens', 'max_tokens'] : [outputLimit];
  const missing = wanted.filter((name) => !caps[name]);
  const edits: Edit[] = [...usageEdits];
  for (const [name, place] of Object.entries(caps) as [CapName, MemberPlace][]) {
    const known = wanted.includes(name) ? name : missing.shift();
    edits.push(
      known === undefined
        ? { start: place.removalStart, end: place.removalEnd, text: '' }
        : { start: place.keyStart, end: place.valueEnd, text: `"${known}":${outputCap}` },
    );
  }
  const added = missing.map((name) => `,"${name}":${outputCap}`).join('');
  edits.push({ start: model.valueStart, end: model.valueEnd, text: JSON.stringify(upstreamModel) + added });
  return edits;
}

function placeOf({ spans, spanList }: ParsedBody, name: string): MemberPlace | undefined {
  const span = spans.get(name);
  if (!span) return undefined;
  const index = spanList.indexOf(span);
  const before = spanList[index - 1];
  const after = spanList[index + 1];
  return {
    ...span,
    removalStart: before ? before.valueEnd : span.keyStart,
    removalEnd: before || !after ? span.valueEnd : after.keyStart,
  };
}

const ASKED = '"include_usage":true';

function usageEdits({ value, bytes, spans }: ParsedBody, model: MemberPlace): Edit[] {
  const options = value['stream_options'];
  const span = spans.get('stream_options');
  if (!span) return [{ start: model.valueEnd, end: model.valueEnd, text: `,"stream_options":{${ASKED}}` }];
  if (!isJsonObject(options)) {
    return [{ start: span.valueStart, end: span.valueEnd, text: `{${ASKED}}` }];
  }
  return options['include_usage'] === true ? [] : editsWithin(options, bytes, span);
}

function editsWithin(options: JsonObject, bytes: Buffer, { valueStart, valueEnd }: MemberSpan): Edit[] {
  const scan = scanJson(bytes.subarray(valueStart, valueEnd), NO_LIMITS);
  const inner = typeof scan === 'string' ? [] : scan.members;
  // Every one, should the name occur twice.
  const asks = inner.filter(
    ({ keyStart, keyEnd }) =>
      JSON.parse(bytes.toString('utf8', valueStart + keyStart, valueStart + keyEnd)) === 'include_usage',
  );
  if (asks.length > 0) {
    return asks.map((ask) => ({
      start: valueStart + ask.valueStart,
      end: valueStart + ask.valueEnd,
      text: 'true',
    }));
  }
  const isEmpty = Object.keys(options).length === 0;
  return [{ start: valueStart + 1, end: valueStart + 1, text: isEmpty ? ASKED : `${ASKED},` }];
}
