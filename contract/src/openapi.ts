import type { z } from 'zod';
import { type CodeSample, endpointSamples } from './code-samples.ts';
import { ERROR_BODIES, errorsOf } from './declared-errors.ts';
import { type Endpoint, type ExportType, mayLackBody, pathParameters } from './endpoint.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas } from './json-schema.ts';
import { ACCESS_COOKIE } from './limits.ts';
import type { Navigation } from './navigation.ts';
import { SECTIONS, sectionsOf } from './sections.ts';

/** The version of this package. */
export const API_VERSION = '0.1.0';

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Nothing where it is a redirect. */
  readonly content?: { readonly 'application/json': { readonly schema: JsonSchema } } & {
    readonly [type in ExportType]?: { readonly schema: JsonSchema };
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: JsonSchema } };
  };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
  readonly 'x-codeSamples'?: readonly CodeSample[];
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: NamedSchemas;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

const DESCRIPTION = [
  'Manages one organisation on the inference gateway: for scripts and for the dashboard.',
  'Fields that end in `_cents` are integers of micro-PKR (1 PKR is 1,000,000 of them) and never cents; fields that end in `_pkr` are PKR.',
  'Null means unknown. An empty query parameter counts as unset, a repeated one is rejected, and unknown names are ignored, in queries and in bodies.',
  'An unknown path returns 404, an unknown method of a known path 405 with `Allow`; both with an `Error` body.',
].join('\n\n');

/** The OpenAPI 3.1 document of the endpoints and navigations. It is deterministic. */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  navigations: readonly Navigation[],
): OpenApiDocument {
  const named: NamedSchemas = {};
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    (paths[endpoint.path] as Record<string, OpenApiOperation>)[endpoint.method.toLowerCase()] = operation(
      endpoint,
      named,
    );
  }
  paths['/openapi.json'] = { get: describing() };
  for (const navigation of navigations) paths[navigation.path] = { get: redirecting(navigation, named) };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gatehouse control plane',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }],
    tags: sectionsOf(endpoints).map((name) => ({ name, description: SECTIONS[name] })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: {
        RequestId: {
          description: 'The id of this request in the logs of the service.',
          schema: { type: 'string', format: 'uuid' },
        },
        RetryAfter: {
          description: 'Seconds to wait before a retry; not always present.',
          schema: { type: 'integer', minimum: 1 },
        },
        FileName: {
          description: 'The file name; only where the reply is not JSON.',
          schema: { type: 'string' },
        },
        Location: {
          description: 'Where the browser goes next.',
          schema: { type: 'string', format: 'uri-reference' },
        },
        SessionCookies: {
          description: 'A session cookie that the reply sets or clears; one header for each.',
          schema: { type: 'string' },
        },
        Hint: {
          description:
            'Why the session cookies may not come back, and what to do; only where the request came over plain HTTP.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: ACCESS_COOKIE,
          description: 'Set by signing in; valid for 15 minutes and renewed by `refresh`.',
        },
      },
    },
  };
}

function operation(endpoint: Endpoint, named: NamedSchemas): OpenApiOperation {
  return {
    operationId: endpoint.name,
    tags: [endpoint.section],
    summary: endpoint.summary,
    security: endpoint.access === 'session' ? [{ session: [] }] : [],
    parameters: [
      ...pathParameters(endpoint.path).map(pathParameter),
      ...parametersIn('query', endpoint.query, named),
      ...parametersIn('header', endpoint.headers, named),
    ],
    ...(endpoint.body && {
      requestBody: {
        required: !mayLackBody(endpoint),
        content: { 'application/json': { schema: jsonSchema(endpoint.body, 'sent', named) } },
      },
    }),
    responses: { [endpoint.status]: success(endpoint, named), ...errors(endpoint, named) },
    'x-codeSamples': endpointSamples(endpoint, named),
  };
}

/** The description itself, which is no endpoint of the contract. */
function describing(): OpenApiOperation {
  return {
    operationId: 'describe',
    tags: ['service'],
    summary: 'This description.',
    security: [],
    parameters: [],
    responses: {
      200: {
        description: 'Success.',
        headers: {},
        content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
      },
    },
  };
}

function redirecting({ name, section, summary, query, redirects }: Navigation, named: NamedSchemas) {
  return {
    operationId: name,
    tags: [section],
    summary,
    security: [],
    parameters: parametersIn('query', query, named),
    responses: Object.fromEntries(
      redirects.map(({ status, when }) => [
        status,
        {
          description: sentence(when),
          headers: { ...REQUEST_ID, Location: { $ref: '#/components/headers/Location' }, ...SET_COOKIE },
        },
      ]),
    ),
  };
}

// The format says what to send. It is not enforced: any other text is an unknown id.
function pathParameter(name: string): OpenApiParameter {
  const format = name.endsWith('_id') ? { format: 'uuid' } : {};
  return { name, in: 'path', required: true, schema: { type: 'string', ...format } };
}

function parametersIn(
  location: 'query' | 'header',
  fields: z.ZodObject,
  named: NamedSchemas,
): OpenApiParameter[] {
  const object = jsonSchema(fields, 'sent', named);
  return Object.entries(object.properties ?? {}).map(([name, { description, examples, ...schema }]) => ({
    name: location === 'header' ? headerName(name) : name,
    in: location,
    required: object.required?.includes(name) ?? false,
    ...(description !== undefined && { description }),
    schema,
    ...(examples !== undefined && { example: examples[0] }),
  }));
}

/** A header name as usually written: `Idempotency-Key`. */
export function headerName(lowerCase: string): string {
  return lowerCase.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const HINT = { 'X-Gatehouse-Hint': { $ref: '#/components/headers/Hint' } };
const SET_COOKIE = { 'Set-Cookie': { $ref: '#/components/headers/SessionCookies' }, ...HINT };
const EXPORT_HEADERS = { 'Content-Disposition': { $ref: '#/components/headers/FileName' } };

const DESCRIPTIONS: Readonly<Record<Endpoint['status'], string>> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
};

function success(endpoint: Endpoint, named: NamedSchemas): OpenApiResponse {
  return {
    description: DESCRIPTIONS[endpoint.status],
    headers: {
      ...REQUEST_ID,
      ...(endpoint.setsCookies && SET_COOKIE),
      ...(endpoint.exports.length > 0 && EXPORT_HEADERS),
    },
    content: {
      'application/json': { schema: jsonSchema(endpoint.reply, 'got', named) },
      ...Object.fromEntries(
        endpoint.exports.map((type) => [type, { schema: { type: 'string', description: EXPORTS[type] } }]),
      ),
    },
  };
}

/** The description of each format. */
const EXPORTS: Readonly<Record<ExportType, string>> = {
  'text/csv':
    'All rows, regardless of limit and offset: a line of column names, then one line per row (RFC 4180).',
  'application/x-ndjson':
    'All rows, regardless of limit and offset: one line per row with the same object as in a page.',
};

function errors(endpoint: Endpoint, named: NamedSchemas): Record<string, OpenApiResponse> {
  const entries = errorsOf(endpoint);
  return Object.fromEntries(
    [...new Set(entries.map(({ status }) => status))].map((status) => {
      const cases = entries.filter((entry) => entry.status === status);
      const forms = [...new Set(cases.map(({ body }) => body))].map((body) =>
        jsonSchema(ERROR_BODIES[body], 'got', named),
      );
      return [
        status,
        {
          description: `${cases.map(({ when }) => sentence(when)).join(' ')}`,
          headers: {
            ...REQUEST_ID,
            ...(status === 401 && HINT),
            ...((status === 429 || status === 503) && RETRY_AFTER),
          },
          content: {
            'application/json': { schema: forms.length === 1 ? (forms[0] as JsonSchema) : { oneOf: forms } },
          },
        },
      ];
    }),
  );
}

// The name of a field stays as it is.
function sentence(when: string): string {
  if (/^[a-z]+_[a-z]/.test(when)) return `${when}.`;
  return `${when.charAt(0).toUpperCase()}${when.slice(1)}.`;
}
