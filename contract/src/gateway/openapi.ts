import { exampleOf, jsonArguments, shellCommand } from '../code-samples.ts';
import { COMPONENTS, type JsonSchema } from '../json-schema.ts';
import { API_VERSION } from '../openapi.ts';
import { GATEWAY_SCHEMAS } from './schemas.ts';

/** A call of the gateway, in the words of its description. */
interface Described {
  readonly method: 'get' | 'post';
  /** Relative to `/v1`. */
  readonly path: string;
  /** The name of the operation in the gateway's log. */
  readonly operation: string;
  readonly tag: 'models' | 'calls' | 'key' | 'description';
  readonly summary: string;
  /** The names of its schemas. */
  readonly body?: string;
  readonly reply?: string;
  readonly isStreamed?: boolean;
  /** The form of its errors. */
  readonly dialect?: 'AnthropicError';
  readonly parameters?: readonly object[];
  /** The call in JavaScript, with an SDK of the format. */
  readonly sdk?: string;
}

const OPENAI = "const client = new OpenAI({ baseURL: 'http://localhost:8081/v1', apiKey: 'sk_svc_…' });";
const ANTHROPIC = "const client = new Anthropic({ baseURL: 'http://localhost:8081', apiKey: 'sk_svc_…' });";

const query = (name: string, type: string, description: string) => ({
  ...{ name, in: 'query', required: false, description, schema: { type } },
});

const CALLS: readonly Described[] = [
  {
    ...{ method: 'post', path: '/chat/completions', operation: 'createChatCompletion', tag: 'calls' },
    ...{
      summary: 'Chat in OpenAI’s format.',
      body: 'ChatCompletionRequest',
      reply: 'ChatCompletion',
      isStreamed: true,
    },
    sdk: `${OPENAI}\nawait client.chat.completions.create({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] });`,
  },
  {
    ...{ method: 'post', path: '/responses', operation: 'createResponse', tag: 'calls' },
    ...{
      summary: 'A response in OpenAI’s format.',
      body: 'ResponseRequest',
      reply: 'Response',
      isStreamed: true,
    },
    sdk: `${OPENAI}\nawait client.responses.create({ model: 'demo/echo', input: 'Hello' });`,
  },
  {
    ...{ method: 'post', path: '/completions', operation: 'createCompletion', tag: 'calls' },
    ...{
      summary: 'A text completion in OpenAI’s format.',
      body: 'CompletionRequest',
      reply: 'ChatCompletion',
      isStreamed: true,
    },
    sdk: `${OPENAI}\nawait client.completions.create({ model: 'demo/echo', prompt: 'Hello' });`,
  },
  {
    ...{ method: 'post', path: '/embeddings', operation: 'createEmbedding', tag: 'calls' },
    ...{ summary: 'Embeddings in OpenAI’s format.', body: 'EmbeddingsRequest', reply: 'Embeddings' },
    sdk: `${OPENAI}\nawait client.embeddings.create({ model: 'demo/embeddings', input: 'Hello' });`,
  },
  {
    ...{
      method: 'post',
      path: '/messages',
      operation: 'createMessage',
      tag: 'calls',
      dialect: 'AnthropicError',
    },
    ...{
      summary: 'A message in Anthropic’s format.',
      body: 'MessageRequest',
      reply: 'Message',
      isStreamed: true,
    },
    sdk: `${ANTHROPIC}\nawait client.messages.create({ model: 'demo/echo', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] });`,
  },
  {
    ...{ method: 'post', path: '/messages/count_tokens', operation: 'countMessageTokens', tag: 'calls' },
    ...{
      summary: 'The tokens of a prompt, free of charge.',
      body: 'CountTokensRequest',
      reply: 'TokenCount',
    },
    dialect: 'AnthropicError',
    sdk: `${ANTHROPIC}\nawait client.messages.countTokens({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] });`,
  },
  {
    ...{ method: 'get', path: '/models', operation: 'listModels', tag: 'models', reply: 'ModelList' },
    summary: 'The models that the key may use.',
    parameters: [
      query('limit', 'integer', 'How many of them.'),
      query('after_id', 'string', 'Those after this one.'),
      query('before_id', 'string', 'Those before this one.'),
    ],
    sdk: `${OPENAI}\nfor await (const model of client.models.list()) console.log(model.id);`,
  },
  {
    ...{ method: 'get', path: '/models/{id}', operation: 'showModel', tag: 'models', reply: 'Model' },
    summary: 'One of those models. A slash in its id may stand as it is.',
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'Its id.',
        schema: { type: 'string' },
        example: 'demo/echo',
      },
    ],
    sdk: `${OPENAI}\nawait client.models.retrieve('demo/echo');`,
  },
  {
    ...{
      method: 'get',
      path: '/model/info',
      operation: 'listModelInfo',
      tag: 'models',
      reply: 'ModelInfoList',
    },
    summary: 'The same models for clients of LiteLLM.',
  },
  {
    ...{ method: 'get', path: '/key', operation: 'showKey', tag: 'key', reply: 'Key' },
    summary: 'The limits of the key that asks.',
  },
  {
    ...{ method: 'get', path: '/openapi.json', operation: 'describe', tag: 'description' },
    summary: 'This description.',
  },
];

const TAGS: Readonly<Record<Described['tag'], string>> = {
  calls: 'Calls of a model, which are metered.',
  models: 'The models that a key may use.',
  key: 'The key itself.',
  description: 'The gateway itself.',
};

const HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request in the logs and in the analytics.',
    schema: { type: 'string' },
  },
};
const LATER = {
  ...HEADERS,
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 1 } },
};

const ERRORS: readonly (readonly [status: number, when: string, isOfCalls: boolean])[] = [
  [400, 'the request is not what the format demands', true],
  [401, 'the key is missing, unknown, revoked or expired', false],
  [402, 'the credit of the key or the organisation, or a spend limit, is used up', true],
  [403, 'the key may not use the model', true],
  [404, 'there is no such model', true],
  [413, 'the body is too large', true],
  [429, 'the rate of the key, or credit that only requests in flight hold', false],
  [500, 'an internal error occurred', false],
  [502, 'no provider has answered', true],
  [503, 'the gateway cannot serve right now', false],
  [504, 'a provider took too long', true],
];

/** The OpenAPI 3.1 document of the gateway. It is deterministic. */
export function gatewayOpenApiDocument() {
  const paths: Record<string, Record<string, object>> = {};
  for (const call of CALLS) paths[call.path] = { ...paths[call.path], [call.method]: operationOf(call) };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gatehouse gateway',
      version: API_VERSION,
      description:
        'Speaks the formats of OpenAI and Anthropic. Send a gateway key as `Authorization: Bearer`, or as `x-api-key`. What a schema does not name is passed on to the provider, or translated.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      schemas: GATEWAY_SCHEMAS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A gateway key, as OpenAI’s SDKs send it.' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'A gateway key, as Anthropic’s SDKs send it.',
        },
      },
    },
  } as const;
}

function operationOf({
  operation,
  tag,
  summary,
  parameters,
  body,
  reply,
  isStreamed,
  dialect,
  ...call
}: Described) {
  const isOpen = tag === 'description';
  const errors = ERRORS.filter(([, , isOfCalls]) => !isOpen && (tag === 'calls' || !isOfCalls));
  const stream = { schema: { type: 'string', description: 'Events of the format, where `stream` is true.' } };
  return {
    operationId: operation,
    tags: [tag],
    summary,
    ...(isOpen && { security: [] }),
    ...(parameters && { parameters }),
    ...(body && { requestBody: { required: true, content: json(refTo(body)) } }),
    responses: {
      200: {
        description: 'Success.',
        headers: HEADERS,
        content: {
          ...json(reply ? refTo(reply) : { type: 'object', additionalProperties: true }),
          ...(isStreamed && { 'text/event-stream': stream }),
        },
      },
      ...Object.fromEntries(
        errors.map(([status, when]) => [
          status,
          {
            description: `${when.charAt(0).toUpperCase()}${when.slice(1)}.`,
            headers: status === 429 || status === 503 ? LATER : HEADERS,
            content: json(refTo(dialect ?? 'OpenAiError')),
          },
        ]),
      ),
    },
    'x-codeSamples': [
      { lang: 'Shell', label: 'curl', source: curlOf(call.path, body, isOpen) },
      ...(call.sdk === undefined ? [] : [{ lang: 'JavaScript', label: 'SDK', source: call.sdk }]),
    ],
  };
}

function curlOf(path: string, body: string | undefined, isOpen: boolean): string {
  return shellCommand([
    `curl -sS http://localhost:8081/v1${path.replace('{id}', 'demo/echo')}`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $GATEWAY_KEY"']),
    ...(body === undefined ? [] : jsonArguments(exampleOf({ $ref: COMPONENTS + body }, GATEWAY_SCHEMAS))),
  ]);
}

function json(schema: JsonSchema) {
  return { 'application/json': { schema } };
}

function refTo(name: string): JsonSchema {
  return { $ref: COMPONENTS + name };
}
