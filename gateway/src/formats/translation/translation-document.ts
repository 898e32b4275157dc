import { formatOf } from '../formats.ts';
import {
  type Direction,
  TRANSLATED_FORMATS,
  type TranslatedFormat,
  type Treatment,
  treatmentOf,
} from './feature-table.ts';
import { FEATURES, type Feature } from './features.ts';

const DIRECTIONS: readonly Direction[] = [
  'chat to messages',
  'chat to responses',
  'messages to chat',
  'messages to responses',
  'responses to chat',
  'responses to messages',
];

const WORDS: Readonly<Record<Treatment, string>> = {
  translated: 'yes',
  dropped: 'dropped',
  refused: 'refused',
};

/** docs/translation.md, generated from the table of features. */
export function translationDocument(): string {
  // Features that are treated alike in every direction share a row.
  const rows = Map.groupBy(Object.keys(FEATURES) as Feature[], (feature) =>
    DIRECTIONS.map((direction) => {
      const treatment = treatmentOf(feature, direction);
      return treatment ? WORDS[treatment] : '–';
    }).join(' | '),
  );
  const lines = [...rows].map(
    ([cells, features]) => `| ${features.map((feature) => FEATURES[feature]).join('; ')} | ${cells} |`,
  );
  return `${BEFORE}
| feature | ${DIRECTIONS.map((direction) => direction.replace(' to ', ' → ')).join(' | ')} |
|---|${DIRECTIONS.map(() => '---|').join('')}
${lines.join('\n')}

## Members of a body

A member that is not listed is dropped or refused as its feature above, or as any other member. A provider with
[\`strict_fields\`](catalogue.md#how-a-provider-differs-from-its-protocol) gets the common ones only; natively, every other provider gets all.

| format | common | further ones |
|---|---|---|
${TRANSLATED_FORMATS.map(membersRow).join('\n')}
${AFTER}`;
}

function membersRow(format: TranslatedFormat): string {
  const { common, translated } = formatOf(format).members;
  const further = translated.filter((name) => !common.has(name));
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  return `| ${format} | ${list([...common])} | ${list(further)} |`;
}

const BEFORE = `# Translation between formats

<!-- Written by \`npm run generate\` from the feature table and the members of each format. -->

A caller can use chat completions (\`/v1/chat/completions\`), messages (\`/v1/messages\`) or responses (\`/v1/responses\`) on
any route that serves the endpoint, whatever its provider speaks. If the provider has the same
[surface](gateway.md#from-endpoint-to-surface), the body passes byte for byte and nothing on this page applies. Otherwise the gateway translates the request, the answer and the
stream. Completions and embeddings are never translated.

| the caller uses | if the provider lacks it, the gateway asks for |
|---|---|
| chat | messages, else responses |
| messages | chat, else responses; with tools and without stop sequences responses, else chat |
| responses | chat, else messages |

## What becomes of a feature

- **yes**: the provider is asked for the same in its own format.
- **dropped**: not sent to the provider. The answer names what was dropped in the header \`x-gatehouse-dropped\`, for example
  \`x-gatehouse-dropped: seed, tools[web_search]\`: at most 32 names, then \`...\`.
- **refused**: 400 before anything is sent. \`param\` names the member. Without the feature, the answer would mean something else.
- **–**: the caller's format does not have it.
`;

const AFTER = `
## Items that are referred to

SDKs that leave \`store\` to the Responses API name what the model said before by the ids of its items (\`item_reference\`), as the AI SDK does from the
second step of a tool loop on. After a translated answer no provider has them, so the gateway keeps them for an hour and puts them in place of the
references before the body is counted, whatever its provider. Only the organisation that was answered can refer to them. In PostgreSQL an item is
sealed under a key that only its id gives, and the id is not stored. With \`"store": false\` nothing is kept. A reference to anything else is
refused with 400. How much is kept is [limited](gateway-limits.md#answers-of-providers).

## How it is translated

**Instructions.** For messages, leading system and developer messages become \`system\`. Instructions between the turns keep
their place in the user's turn, between \`<system>\` tags, so that the provider's cache still serves the prompt before them. Newer Claude models accept them as separate messages: list \`system_turns\` in the
provider's \`keep\` ([catalogue](catalogue.md#how-a-provider-differs-from-its-protocol)). For chat they are messages with the role system. Instructions between a
tool call and its result follow the result, because providers refuse anything between the two.

**Tools.** A name or an id that the provider's format does not accept (longer than 64 characters for OpenAI, characters
other than letters, digits, \`_\` and \`-\`) is sent as a shorter one that ends in a hash; the caller sees its own name in
the answer. A custom tool becomes a function with the one argument \`input\` and its grammar in the description, and its calls
become custom again. A tool of a namespace is sent as \`namespace__name\`, and its calls go back under the namespace, whose
name has at most 256 characters. A tool search that
the client runs becomes a function; the tools that it found are declared from then on. If the tool choice allows some of the tools, only those are
declared. Anthropic refuses tool calls in a conversation that declares no tools, so for messages the called tools are declared and calls are
forbidden.

**Arguments of a tool call** are text in chat and responses and an object in messages. Empty text is an empty object, an
object is itself, and anything else, invalid JSON too, becomes \`{"invalid_arguments": "<the text>"}\`, which
the tool's schema refuses, so that the model can see why. Translated back, it is that text again. In a stream, text after the end of
the object is left out.

**Numbers** arrive as they were sent, in tool arguments, schemas and metadata, in requests, whole answers and streams: \`9007199254740993\`
keeps its last digit, \`1.0\` its zero, and \`1e400\` does not become null. Members that the gateway reads itself (output cap, \`temperature\`,
usage) are read as double-precision numbers; one that is too large for that is refused by its name. One body, event or text of arguments
keeps 10,000 numbers that JavaScript would write differently; each further one becomes the nearest double. A body of
64 KiB full of such numbers takes 4.5 ms instead of 1.1 ms, an event of 4 MiB 20 to 30 ms more.

**Results of tools.** Chat accepts text only: images and documents of a result follow in the user's message, after a line
that names the call.

**Reasoning.** \`reasoning_effort\` becomes \`thinking: {"type": "adaptive"}\` with \`output_config.effort\` (\`minimal\` is
\`low\`), and \`none\` becomes \`disabled\`. For OpenAI, a budget of up to 4,096 tokens is \`low\`, up to 16,384 \`medium\`, above
that \`high\`; \`max\` is \`xhigh\`. A provider whose models do not reason refuses the member: list \`reasoning_effort\` in its
\`drop\`. OpenAI's newest models take tools together with reasoning in responses only, so messages with tools go there where
the provider has it. While Claude thinks, it accepts no temperature, no \`top_k\`, no \`top_p\` below 0.95 and no forced tool. The first three are
dropped; with a forced tool, thinking is off.

**Reasoning that comes back.** Providers seal their model's reasoning and want the seal back in the next turn. A caller of another
format gets the seal in its own format, and its client sends it back unread: messages in \`signature\` or in a \`redacted_thinking\`
block, responses in \`encrypted_content\`, chat in \`reasoning_details\`. A seal is never sent
to a provider of another format, and a thinking block without one is never sent to a messages provider, which would refuse the
request. A chat provider is sent \`reasoning_content\`, \`reasoning_details\` and \`extra_content\` (Gemini's thought
signatures) if its \`keep\` lists them.

If a conversation that began translated continues natively, those blocks pass byte for byte, and the provider may refuse
them. Start a new conversation, or remove the thinking from the old turns.

**Sampling.** For messages, a temperature above 1 becomes 1. If both \`temperature\` and \`top_p\` are given, only the temperature is sent.

**Structured output.** A schema from messages is \`strict\` for OpenAI if it meets OpenAI's rules for strict schemas:
every object lists all its properties as required and allows no others. \`json_object\` has no counterpart in messages; the
prompt has to ask for JSON.

## Answers and streams

- Text, reasoning, refusals, tool calls, the finish reason and the usage are translated. The answer names the provider's
  model. Its id is the provider's id with the prefix of the caller's format; the id of a response is derived from the request id.
- Usage keeps its sum: OpenAI's \`prompt_tokens\` include cache reads and writes, Anthropic's \`input_tokens\` do not.
- Events come in the order that the caller's format requires. Parallel tool calls that a
  provider interleaves become blocks one after the other.
- \`message_start\` of a translated stream states the prompt as the gateway counted it. The provider's figures follow
  in \`message_delta\`.
- A stream that is silent for 15 seconds gets a \`ping\` event in messages, a comment in chat, and another \`response.in_progress\`
  in responses.
- A response has \`store: false\`. It repeats small members of the request, but not \`tools\` or \`instructions\`. The last event of
  its stream repeats the whole answer, so an answer of more than 2,097,152 characters ends with an error.
- An error in a stream of responses is sent twice, as \`error\` for SDKs and as \`response.failed\` for Codex.
- Citations, annotations, log probabilities and images in an answer are left out.
- A provider's error keeps its status and its message, in the caller's envelope. An error about a context that is too long
  begins with \`prompt is too long\` for callers of messages and has the code \`context_length_exceeded\` for the others:
  coding agents then shorten the conversation.
`;
