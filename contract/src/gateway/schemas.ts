import type { JsonSchema } from '../json-schema.ts';

// The formats of OpenAI and Anthropic are theirs, and change when they change them: what is named here is what the gateway
// itself reads or needs. Every other member is passed on, or translated (docs/translation.md).

const text = (description: string, example?: string): JsonSchema => ({
  type: 'string',
  description,
  ...(example !== undefined && { examples: [example] }),
});
const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 1, description });
const pkr = (description: string): JsonSchema => ({ type: 'number', description: `${description}, in PKR.` });
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type ?? [], 'null'].flat() });
const open = (
  description: string,
  required: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema => ({
  type: 'object',
  description,
  required: [...required],
  properties,
  additionalProperties: true,
});
const closed = (description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  description,
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
});

const MODEL = text('A route of the catalogue, or one of its aliases.', 'demo/echo');
const STREAM: JsonSchema = { type: 'boolean', description: 'True for an answer as server-sent events.' };
const ANYTHING: JsonSchema = { description: 'As the format has it.' };
const MESSAGE: JsonSchema = {
  type: 'object',
  required: ['role', 'content'],
  properties: { role: { type: 'string' }, content: ANYTHING },
  additionalProperties: true,
};
const messages = (description: string): JsonSchema => ({
  type: 'array',
  minItems: 1,
  items: MESSAGE,
  description,
  examples: [[{ role: 'user', content: 'Hello' }]],
});
const usage = (description: string): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: true,
});

/** The named schemas of the gateway's description. */
export const GATEWAY_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ChatCompletionRequest: open('OpenAI’s chat completions.', ['model', 'messages'], {
    model: MODEL,
    messages: messages('The conversation.'),
    stream: STREAM,
    max_completion_tokens: count(
      'The cap of the answer. Without it, the cap of the route, or what the credit allows.',
    ),
  }),
  ChatCompletion: open('OpenAI’s answer.', ['id', 'choices'], {
    id: text('The id of the answer.'),
    choices: {
      type: 'array',
      items: { type: 'object', additionalProperties: true },
      description: 'The answers.',
    },
    usage: usage('The tokens, as billed.'),
  }),
  CompletionRequest: open('OpenAI’s text completions.', ['model', 'prompt'], {
    model: MODEL,
    prompt: { ...ANYTHING, examples: ['Hello'] },
    stream: STREAM,
    max_tokens: count('The cap of the answer.'),
  }),
  EmbeddingsRequest: open('OpenAI’s embeddings.', ['model', 'input'], {
    model: MODEL,
    input: { ...ANYTHING, examples: ['Hello'] },
  }),
  Embeddings: open('OpenAI’s answer.', ['data'], {
    data: {
      type: 'array',
      items: { type: 'object', additionalProperties: true },
      description: 'A vector for each input.',
    },
    usage: usage('The tokens, as billed.'),
  }),
  ResponseRequest: open('OpenAI’s responses.', ['model', 'input'], {
    model: MODEL,
    input: { ...ANYTHING, examples: ['Hello'] },
    stream: STREAM,
    max_output_tokens: count('The cap of the answer.'),
  }),
  Response: open('OpenAI’s answer.', ['id', 'output'], {
    id: text('The id of the answer.'),
    output: {
      type: 'array',
      items: { type: 'object', additionalProperties: true },
      description: 'Its items.',
    },
    usage: usage('The tokens, as billed.'),
  }),
  MessageRequest: open('Anthropic’s messages.', ['model', 'messages', 'max_tokens'], {
    model: MODEL,
    messages: messages('The conversation.'),
    max_tokens: { ...count('The cap of the answer.'), examples: [100] },
    stream: STREAM,
  }),
  Message: open('Anthropic’s answer.', ['id', 'content'], {
    id: text('The id of the answer.'),
    content: {
      type: 'array',
      items: { type: 'object', additionalProperties: true },
      description: 'Its blocks.',
    },
    usage: usage('The tokens, as billed.'),
  }),
  CountTokensRequest: open('The prompt of a message.', ['model', 'messages'], {
    model: MODEL,
    messages: messages('The conversation.'),
  }),
  TokenCount: closed('The tokens of a prompt, as they would be billed.', {
    input_tokens: { type: 'integer', minimum: 0, description: 'How many.' },
  }),
  Model: open(
    'A route that the key may use, or an alias of one, for the SDKs of OpenAI and Anthropic.',
    ['id', 'object', 'route'],
    {
      id: text('What requests name as `model`.', 'demo/echo'),
      object: { type: 'string', const: 'model' },
      created: { type: 'integer', description: 'Seconds since 1970.' },
      owned_by: text('The provider.'),
      display_name: text('The same as `id`.'),
      context_length: orNull({
        type: 'integer',
        description: 'Tokens of a prompt; null where it is unknown.',
      }),
      endpoints: { type: 'array', items: { type: 'string' }, description: 'The endpoints that serve it.' },
      route: text('The id of the route, which lists of allowed models name.'),
    },
  ),
  ModelList: open('A page of models.', ['object', 'data', 'has_more'], {
    object: { type: 'string', const: 'list' },
    data: { type: 'array', items: { $ref: '#/components/schemas/Model' }, description: 'The models.' },
    has_more: { type: 'boolean', description: 'True if there are more.' },
    first_id: orNull(text('The first of the page.')),
    last_id: orNull(text('The last of the page, to go on after.')),
  }),
  ModelInfoList: open('The models in the form of LiteLLM, without prices.', ['data'], {
    data: {
      type: 'array',
      items: { type: 'object', additionalProperties: true },
      description: 'The models.',
    },
  }),
  SpendLimit: closed('A spend limit that binds the key.', {
    id: { type: 'string', format: 'uuid' },
    scope: { type: 'object', description: 'Whom it limits.', additionalProperties: true },
    window: text('hour, day, week, month or lifetime.'),
    limit_pkr: pkr('What may be spent in the window'),
    spent_pkr: pkr('What is spent'),
    held_pkr: pkr('What requests in flight hold'),
    remaining_pkr: pkr('What is left'),
    window_ends_at: orNull({ type: 'string', format: 'date-time', description: 'Null for a lifetime.' }),
  }),
  Key: closed('The limits of the key that asks.', {
    key_prefix: text('The part of the key that may be shown.', 'sk_svc_4fQz81aB'),
    rate_limit_rpm: { type: 'integer', description: 'Requests a minute.' },
    expires_at: orNull({ type: 'string', format: 'date-time', description: 'Null: never.' }),
    allowed_models: orNull({ type: 'array', items: { type: 'string' }, description: 'Null: all.' }),
    credit_limit_pkr: orNull(pkr('The lifetime credit; null without a limit')),
    spent_pkr: pkr('What is spent'),
    held_pkr: pkr('What requests in flight hold'),
    remaining_pkr: orNull(pkr('What is left; null without a limit')),
    spend_limits: {
      type: 'array',
      items: { $ref: '#/components/schemas/SpendLimit' },
      description: 'The spend limits that bind it.',
    },
  }),
  OpenAiError: closed('The error of every endpoint but those of messages.', {
    error: closed('What was wrong.', {
      message: text('A sentence that says what was wrong, and what is accepted.'),
      type: text('Its kind.', 'invalid_request_error'),
      param: orNull(text('The member that it is about.')),
      code: orNull(text('A word for programs.', 'model_not_found')),
    }),
  }),
  AnthropicError: open('The error of the endpoints of messages.', ['type', 'error'], {
    type: { type: 'string', const: 'error' },
    error: open('What was wrong.', ['type', 'message'], {
      type: text('Its kind.', 'invalid_request_error'),
      message: text('A sentence that says what was wrong, and what is accepted.'),
    }),
    request_id: text('The id of the request.'),
  }),
};
