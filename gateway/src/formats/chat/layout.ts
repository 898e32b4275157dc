import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { type MemberSpan, membersIn } from '../../wire/scan-json.ts';
import type { Edit } from '../../wire/splice.ts';
import { type BodyLayout, bodyEdits, layoutOf, type UpstreamTarget } from '../body-layout.ts';
import type { ParsedBody } from '../parse-body.ts';

export const CAP_NAMES = ['max_completion_tokens', 'max_tokens'] as const;

/** The places of the changes. */
export function chatLayout(body: ParsedBody, isStream: boolean): BodyLayout {
  return layoutOf(body, isStream ? usageEdits(body) : []);
}

/** The edits that make a caller's chat completion the provider's. */
export function chatEdits(layout: BodyLayout, target: UpstreamTarget): Edit[] {
  const { outputLimit } = target;
  const sent = outputLimit === 'both' ? CAP_NAMES : [outputLimit];
  return bodyEdits(layout, target, { known: CAP_NAMES, sent });
}

const ASKED = '"include_usage":true';

/** Makes a stream report its usage, in OpenAI's way. */
export function usageEdits({ value, bytes, spans }: ParsedBody): Edit[] {
  const options = value['stream_options'];
  const span = spans.get('stream_options');
  if (!span) {
    const end = spans.get('model')?.valueEnd ?? 0;
    return [{ start: end, end, text: `,"stream_options":{${ASKED}}` }];
  }
  if (!isJsonObject(options)) {
    return [{ start: span.valueStart, end: span.valueEnd, text: `{${ASKED}}` }];
  }
  return options['include_usage'] === true ? [] : editsWithin(options, bytes, span);
}

function editsWithin(options: JsonObject, bytes: Buffer, { valueStart, valueEnd }: MemberSpan): Edit[] {
  const inner = membersIn(bytes.subarray(valueStart, valueEnd));
  const asked = inner.find(
    ({ keyStart, keyEnd }) =>
      JSON.parse(bytes.toString('utf8', valueStart + keyStart, valueStart + keyEnd)) === 'include_usage',
  );
  if (asked) {
    return [{ start: valueStart + asked.valueStart, end: valueStart + asked.valueEnd, text: 'true' }];
  }
  const isEmpty = Object.keys(options).length === 0;
  return [{ start: valueStart + 1, end: valueStart + 1, text: isEmpty ? ASKED : `${ASKED},` }];
}
