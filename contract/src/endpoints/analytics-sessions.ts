import { z } from 'zod';
import { idReference } from '../conventions/id.ts';
import { limit, offset } from '../conventions/paging.ts';
import { codePoints } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_METADATA_NAME_LENGTH, MAX_SESSION_MODELS, MAX_SESSION_OFFSET } from '../limits.ts';
import { analyticsErrors, appliedWindow, filters, windowParameters } from './analytics-filters.ts';
import { pkr } from './fields.ts';

/** The sort orders of sessions, the largest first. */
export const SESSION_ORDERS = ['last_request', 'requests', 'cost', 'duration'] as const;
export type SessionOrder = (typeof SESSION_ORDERS)[number];

const moment = (description: string) =>
  z.iso.datetime().meta({ description, example: '2026-11-20T10:15:30.123456Z' });

export const Session = z
  .strictObject({
    session: z.string().meta({ description: 'The value of the metadata.' }),
    requests: z.int(),
    errors: z.int().meta({
      description: 'Requests with an error_code. A caller that left early is not an error.',
    }),
    tokens: z.int().meta({ description: 'Tokens of every kind.' }),
    cost_pkr: pkr('Exact.'),
    first_request_at: moment('When the first request in the window began.'),
    last_request_at: moment('When the last request in the window began.'),
    duration_ms: z.number().meta({
      description: 'From the start of the first request to the end of the last answer.',
    }),
    models: z
      .array(z.string())
      .max(MAX_SESSION_MODELS)
      .meta({
        description: `The routes as the caller named them, the one with the most requests first; at most ${MAX_SESSION_MODELS}.`,
      }),
  })
  .meta({ id: 'RequestSession' });
export type Session = z.infer<typeof Session>;

export const listSessions = endpoint({
  name: 'listSessions',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/sessions',
  summary:
    'Requests grouped by the values of their metadata under one name, such as the session of a coding agent. Requests without one are left out.',
  query: z.object({
    metadata: z
      .string()
      .refine((name) => codePoints(name) <= MAX_METADATA_NAME_LENGTH, {
        error: `Must have at most ${MAX_METADATA_NAME_LENGTH} characters.`,
        params: { type: 'too_long' },
      })
      .transform((name) => name.toLowerCase())
      .meta({
        description: `The name of the metadata, in any case; at most ${MAX_METADATA_NAME_LENGTH} characters.`,
        example: 'session-id',
      }),
    search: z.string().optional().meta({ description: 'Part of the value; case-insensitive.' }),
    sort: z.enum(SESSION_ORDERS).default('last_request').meta({ description: 'The most first.' }),
    ...windowParameters,
    ...filters,
    member_id: idReference()
      .optional()
      .meta({ description: 'Requests with the keys that the member minted.' }),
    model_alias: z.string().optional(),
    limit: limit(),
    offset: offset(),
  }),
  reply: z.strictObject({
    ...appliedWindow,
    metadata: z.string().meta({ description: 'In lower case.' }),
    total: z.int().meta({ description: 'All values that match.' }),
    limit: z.int(),
    offset: z.int(),
    sessions: z.array(Session),
  }),
  errors: [
    {
      status: 400,
      body: 'error',
      when: `offset is above ${MAX_SESSION_OFFSET}, or the member minted too many keys`,
    },
    { status: 404, body: 'error', when: 'the member does not belong to the organisation' },
    ...analyticsErrors,
  ],
});
