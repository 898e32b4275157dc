import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { Edit } from '../../wire/splice.ts';
import { type BodyLayout, bodyEdits, layoutOf, type UpstreamTarget } from '../body-layout.ts';
import { BodyError } from '../call.ts';
import type { EndpointReading } from '../format.ts';
import { checkRole, readCount, readFlag, readOptional } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { RESPONSES_MEMBERS } from './members.ts';
import { foreignReasoningEdits, ownReferences } from './own-items.ts';
import { isKeptByTheProvider, responsesPromptSize } from './prompt.ts';
import { dispensableTools, responsesToolTypes, toolEdits, toolSpans } from './tools.ts';

/** Reads the body of `POST /v1/responses`. What the gateway has no stake in is left to the upstream. */
export function readResponses(body: ParsedBody): EndpointReading {
  const { value } = body;
  RESPONSES_MEMBERS.checkNames(body.spans.keys());
  const input = readInput(value);
  readOptional<string>(value, 'instructions', 'text', (text) => typeof text === 'string');
  const isStream = readFlag(value, 'stream');
  if (readFlag(value, 'background')) {
    // Its answer is fetched later, past the gateway, and so is its usage.
    throw new BodyError(
      'background is not available here: what a response uses could not be seen. Leave it out, or ask for a stream.',
      'background',
    );
  }
  const outputCap = readCount(value, 'max_output_tokens');
  const references = ownReferences(body);
  const { overheadTokens, texts, uncountableParts } = responsesPromptSize(input, value);
  return {
    facts: {
      isStream,
      choices: 1,
      outputCap,
      showsUsage: true,
      uncountableParts,
      toolTypes: responsesToolTypes(value),
      dispensableTools: dispensableTools(value),
      ...(references.length > 0 && { ownReferences: references }),
      layout: responsesLayout(body),
    },
    overheadTokens,
    texts,
  };
}

function readInput(body: JsonObject): string | readonly JsonObject[] {
  const { input } = body;
  if (typeof input === 'string') return input;
  const isOptional = isKeptByTheProvider(body);
  if (isOptional && (input === undefined || input === null)) return [];
  if (!Array.isArray(input) || !input.every(isJsonObject) || (input.length === 0 && !isOptional)) {
    throw new BodyError('input must be text or a list of at least one item.', 'input');
  }
  input.forEach(({ role }, index) => {
    checkRole(role, `input[${index}]`);
  });
  return input;
}

const CAP = ['max_output_tokens'] as const;

function responsesLayout(body: ParsedBody): BodyLayout {
  const ownEdits = foreignReasoningEdits(body);
  const layout = { ...layoutOf(body), ...(ownEdits.length > 0 && { ownEdits }) };
  return dispensableTools(body.value).length === 0 ? layout : { ...layout, tools: toolSpans(body) };
}

/** The edits that make a caller's body the provider's. Usage comes without being asked for. */
export function responsesEdits(layout: BodyLayout, target: UpstreamTarget): Edit[] {
  const { tools, ownEdits = [] } = layout;
  const caps = bodyEdits(layout, target, { known: CAP, sent: CAP });
  const edits = [...caps, ...toolCallEdits(layout, target), ...ownEdits];
  const { removed, droppedTools } = target;
  if (!tools || !droppedTools || removed.has('tools')) return edits;
  return [...edits, ...toolEdits(tools, droppedTools)];
}

const TOOL_CALLS = 'max_tool_calls';

/** The cap of hosted calls, in its place or behind the model. Not where the provider takes no such member. */
function toolCallEdits({ members }: BodyLayout, { toolCallCap, removed }: UpstreamTarget): Edit[] {
  if (toolCallCap === undefined || removed.has(TOOL_CALLS)) return [];
  const own = members.get(TOOL_CALLS);
  if (own) return [{ start: own.valueStart, end: own.valueEnd, text: String(toolCallCap) }];
  const end = members.get('model')?.valueEnd;
  return end === undefined ? [] : [{ start: end, end, text: `,"${TOOL_CALLS}":${toolCallCap}` }];
}
