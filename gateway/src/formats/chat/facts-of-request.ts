import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { type MemberSpan, membersIn } from '../../wire/scan-json.ts';
import type { Edit } from '../../wire/splice.ts';
import { type BodyLayout, bodyEdits, layoutOf, type UpstreamTarget } from '../body-layout.ts';
import type { EndpointReading } from '../format.ts';
import { asksForUsage, readCount, readFlag, readMessageList, toolTypesOf } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { CHAT_MEMBERS } from './members.ts';
import { chatPromptSize } from './prompt.ts';

const MAX_CHOICES = 128;

/** Reads the body of `POST /v1/chat/completions`. What the gateway has no stake in is left to the upstream. */
export function readChat(body: ParsedBody): EndpointReading {
  const { value } = body;
  CHAT_MEMBERS.checkNames(body.spans.keys());
  const messages = readMessageList(value);
  const isStream = readFlag(value, 'stream');
  const showsUsage = asksForUsage(value);
  const choices = readCount(value, 'n', { most: MAX_CHOICES }) ?? 1;
  const caps = CAP_NAMES.flatMap((name) => readCount(value, name) ?? []);
  const { overheadTokens, texts, uncountableParts } = chatPromptSize(messages, value);
  return {
    facts: {
      isStream,
      choices,
      outputCap: caps.length === 0 ? undefined : Math.min(...caps),
      showsUsage,
      uncountableParts,
      toolTypes: toolTypesOf(value['tools']),
      layout: chatLayout(body, isStream),
    },
    overheadTokens,
    texts,
  };
}

const CAP_NAMES = ['max_completion_tokens', 'max_tokens'] as const;

/** The places of the changes. */
function chatLayout(body: ParsedBody, isStream: boolean): BodyLayout {
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
