// Bodies to the model that is built in, whose answers are many times as large as they are, or take many times as long.

const MODEL = 'demo/echo';
const LONG_CONST_CHARACTERS = 3_000;
const MAX_INPUTS = 2_048;
const MAX_DIMENSIONS = 4_096;
const USUAL_DIMENSIONS = 256;
const MAX_CHOICES = 128;
const LONG_PROMPTS = Array.from({ length: 16 }, (_, number) => `${number} ${'word '.repeat(100)}`);
/** A body that is refused at once would be no attack. */
const MAX_INPUT_BYTES = 3_900_000;

export interface ExpandingBody {
  readonly path: string;
  readonly body: Buffer;
}

/** A schema of 3 KB whose smallest value has 27 million characters, at each of twelve levels. */
function nestedSchema(): object {
  let schema: object = {
    type: 'array',
    minItems: 9,
    items: { type: 'array', minItems: 1_000, items: { const: 'x'.repeat(LONG_CONST_CHARACTERS) } },
  };
  for (let level = 0; level < 12; level += 1) schema = { anyOf: [schema] };
  return schema;
}

/** Definitions each of which needs the next one twice. */
function doublingDefinitions(): object {
  const $defs: Record<string, object> = { d64: { const: 'end' } };
  for (let level = 0; level < 64; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] };
  }
  return { $ref: '#/$defs/d0', $defs };
}

function chat(schema: object, n: number): ExpandingBody {
  return bodyOf('/v1/chat/completions', {
    n,
    messages: [{ role: 'user', content: 'x' }],
    response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
  });
}

function bodyOf(path: string, members: object): ExpandingBody {
  return { path, body: Buffer.from(JSON.stringify({ model: MODEL, ...members })) };
}

export function expandingBodies(): readonly ExpandingBody[] {
  const inputs = Array.from({ length: MAX_INPUTS }, () => 'a');
  return [
    chat(nestedSchema(), 1),
    chat(nestedSchema(), MAX_CHOICES),
    chat(doublingDefinitions(), 1),
    bodyOf('/v1/completions', { prompt: inputs, n: MAX_CHOICES }),
    bodyOf('/v1/completions', { prompt: LONG_PROMPTS, n: MAX_CHOICES, max_tokens: 1_000 }),
    bodyOf('/v1/embeddings', { input: inputs, dimensions: MAX_DIMENSIONS }),
    bodyOf('/v1/embeddings', { input: inputs, dimensions: USUAL_DIMENSIONS, encoding_format: 'float' }),
  ];
}

/** Vectors of a text as long as the model takes, each word of which is another. */
export function longInput(): ExpandingBody {
  let input = '';
  for (let word = 0; input.length < MAX_INPUT_BYTES; word += 1) input += `${word.toString(36)} `;
  return bodyOf('/v1/embeddings', { input });
}
