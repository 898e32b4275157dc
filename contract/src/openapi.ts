import type { z } from 'zod';
import { ERROR_BODIES, errorsOf } from './declared-errors.ts';
import { type Endpoint, type ExportType, pathParameters } from './endpoint.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas } from './json-schema.ts';
import { ACCESS_COOKIE } from './limits.ts';

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
  readonly content: { readonly 'application/json': { readonly schema: JsonSchema } } & {
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
    readonly required: true;
    readonly content: { readonly 'application/json': { readonly schema: JsonSchema } };
  };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
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

/** What each section of the API is about. */
export const SECTIONS: Readonly<Record<Endpoint['section'], string>> = {
  auth: 'Accounts and the sessions that they sign in to.',
  organization: 'The organisation, its members and its projects.',
  catalogue: 'The routes that a gateway request may name as its model.',
  keys: 'The keys that open the gateway, and what they may spend.',
  vault: 'The keys of the organisation’s own for the providers.',
  analytics: 'What went through the gateway, from its telemetry.',
  activity: 'The log of administrative changes.',
};

const DESCRIPTION = [
  'An account of one organisation on the inference gateway, for scripts and for the dashboard.',
  'Fields that end in `_cents` are integers of micro-PKR (1 PKR is 1,000,000 of them) and never cents; fields that end in `_pkr` are PKR.',
  'Null means unknown. A blank query parameter is as good as none, a repeated one is refused, and names that are not listed are ignored, in a query as in a body.',
  'A path that is not listed answers 404, a method that is not listed for its path 405 with `Allow`; both with an `Error` body.',
].join('\n\n');

/** The OpenAPI 3.1 document of the endpoints. The same endpoints always give the same document. */
export function openApiDocument(endpoints: readonly Endpoint[]): OpenApiDocument {
  const named: NamedSchemas = {};
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    (paths[endpoint.path] as Record<string, OpenApiOperation>)[endpoint.method.toLowerCase()] = operation(
      endpoint,
      named,
    );
  }
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
          description: 'Names this request in the logs of the service.',
          schema: { type: 'string', format: 'uuid' },
        },
        RetryAfter: {
          description: 'Seconds until it is worth trying again; not always there.',
          schema: { type: 'integer', minimum: 1 },
        },
        FileName: {
          description: 'What to call the file; only where the reply is not JSON.',
          schema: { type: 'string' },
        },
        SessionCookies: {
          description: 'The session cookies that the reply sets or clears, one a line.',
          schema: { type: 'string' },
        },
        Hint: {
          description:
            'Where the session cookies cannot work, because the request came over plain HTTP: why.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: ACCESS_COOKIE,
          description: 'Set by signing in; lives 15 minutes and is renewed by `refresh`.',
        },
      },
    },
  };
}

/** The sections that the endpoints belong to, in the order in which they come up. */
export function sectionsOf(endpoints: readonly Endpoint[]): Endpoint['section'][] {
  return [...new Set(endpoints.map((endpoint) => endpoint.section))];
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
        required: true,
        content: { 'application/json': { schema: jsonSchema(endpoint.body, 'sent', named) } },
      },
    }),
    responses: { [endpoint.status]: success(endpoint, named), ...errors(endpoint, named) },
  };
}

// A text that is no id names nothing and is answered so; the format is what to send, not what is enforced.
function pathParameter(name: string): OpenApiParameter {
  const format = name.endsWith('_id') ? { format: 'uuid' } : {};
  return { name, in: 'path', required: true, schema: { type: 'string', ...format } };
}

function parametersIn(
  place: 'query' | 'header',
  fields: z.ZodObject,
  named: NamedSchemas,
): OpenApiParameter[] {
  const object = jsonSchema(fields, 'sent', named);
  return Object.entries(object.properties ?? {}).map(([name, { description, examples, ...schema }]) => ({
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required: object.required?.includes(name) ?? false,
    ...(description !== undefined && { description }),
    schema,
    ...(examples !== undefined && { example: examples[0] }),
  }));
}

/** A header's name as it is usually written: `Idempotency-Key`. */
export function headerName(lowerCase: string): string {
  return lowerCase.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const HINT = { 'X-Gatehouse-Hint': { $ref: '#/components/headers/Hint' } };
const SET_COOKIE = { 'Set-Cookie': { $ref: '#/components/headers/SessionCookies' }, ...HINT };
const EXPORT_HEADERS = { 'Content-Disposition': { $ref: '#/components/headers/FileName' } };

function success(endpoint: Endpoint, named: NamedSchemas): OpenApiResponse {
  return {
    description: endpoint.status === 201 ? 'Created.' : 'Done.',
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

/** What the text of each form is. */
export const EXPORTS: Readonly<Record<ExportType, string>> = {
  'text/csv':
    'All rows, whatever limit and offset say: a line of column names, then a line for each row, by RFC 4180.',
  'application/x-ndjson':
    'All rows, whatever limit and offset say: for each a line with the object that a page has.',
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

function sentence(when: string): string {
  return `${when.charAt(0).toUpperCase()}${when.slice(1)}.`;
}
