import { z } from 'zod';
import { idReference } from '../conventions/id.ts';
import { microPkrCeiling } from '../conventions/money.ts';
import { limit, offset } from '../conventions/paging.ts';
import { DURATION_IN_WORDS, durationFromText } from '../conventions/time.ts';
import { endpoint, type RefusalCase } from '../endpoint.ts';
import { named } from './fields.ts';

export const TERMINATION_REASONS = [
  'success',
  'proxy_guillotine',
  'client_disconnect',
  'upstream_stream_aborted',
] as const;

export type TerminationReason = (typeof TERMINATION_REASONS)[number];

export const STATUS_CATEGORIES = ['2xx', '3xx', '4xx', '5xx'] as const;

const duration = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((value, context) => {
      const parsed = durationFromText(value);
      if (parsed) return parsed;
      context.addIssue({
        code: 'custom',
        message: `Must be ${DURATION_IN_WORDS}.`,
        params: { type: 'not_a_duration' },
      });
      return z.NEVER;
    });

const ownedId = () => idReference().optional();

const scope = {
  time_range: duration('24h').meta({
    description: 'How far to look back: digits and s, m, h or d. Cut to 3650d.',
    example: '24h',
  }),
  project_id: ownedId(),
  key_id: ownedId(),
};

const analyticsRefusals: readonly RefusalCase[] = [
  { status: 404, body: 'error', when: 'project_id or key_id is not one of the organisation' },
  { status: 503, body: 'error', when: 'the telemetry store cannot be reached or takes too long' },
];

export const getSummary = endpoint({
  name: 'getSummary',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/summary',
  summary: 'Requests, averages and tokens of a window; the cost as well when one key is asked for.',
  query: z.object({ ...scope, model_alias: z.string().optional() }),
  reply: z.strictObject({
    time_range: z.string(),
    total_requests: z.int(),
    avg_e2e_latency_ms: z.number().nullable(),
    avg_ttft_ms: z.number().nullable(),
    avg_tokens_per_sec: z.number().nullable(),
    total_token_usage: z.int(),
    total_cost_pkr: z.number().optional(),
  }),
  refusals: analyticsRefusals,
});

export const RequestLogEntry = z
  .strictObject({
    req_id: z.string(),
    timestamp: z.iso.datetime().meta({ example: '2026-11-20T10:15:30.123456Z' }),
    model: z.string(),
    status: z.int(),
    stream: z.boolean(),
    key: named(),
    project: named(),
    metrics: z.strictObject({
      total_ms: z.number(),
      ttft_ms: z.number().nullable(),
      tpot_ms: z.number().nullable(),
      pre_dispatch_ms: z.number(),
      prompt_tokens: z.int().nullable(),
      tokens_generated: z.int(),
      cache_creation_input_tokens: z.int().nullable(),
      cache_read_input_tokens: z.int().nullable(),
      total_tokens: z.int(),
      tokens_estimated: z.boolean(),
    }),
    financials: z.strictObject({ cost_pkr: z.number(), is_byok: z.union([z.literal(0), z.literal(1)]) }),
    status_detail: z.strictObject({
      termination_reason: z.enum(TERMINATION_REASONS),
      upstream_error: z.string().nullable(),
    }),
    upstream: z.strictObject({ model: z.string() }).nullable(),
    user_agent: z.string(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'RequestLogEntry' });

export const listRequests = endpoint({
  name: 'listRequests',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/requests',
  summary: 'The request log, one row a request, newest first.',
  query: z.object({
    ...scope,
    model: z.string().optional(),
    // Its values are checked by the endpoint: a wrong one is answered in one sentence, not as a fault.
    status_category: z
      .string()
      .optional()
      .meta({ description: `One of ${STATUS_CATEGORIES.join(', ')}.` }),
    termination_reason: z
      .string()
      .optional()
      .meta({ description: `One of ${TERMINATION_REASONS.join(', ')}; any other matches nothing.` }),
    min_cost_pkr: z
      .string()
      .transform((value, context) => {
        const amount = microPkrCeiling(value);
        if (amount !== undefined) return amount;
        context.addIssue({
          code: 'custom',
          message: 'Must be a number of PKR, 0 or more, for example 0.25.',
          params: { type: 'not_an_amount' },
        });
        return z.NEVER;
      })
      .optional(),
    search: z
      .string()
      .optional()
      .meta({ description: 'Part of the request id or of the metadata, in any case.' }),
    limit: limit(),
    offset: offset(),
  }),
  reply: z.strictObject({
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    requests: z.array(RequestLogEntry),
  }),
  refusals: [
    { status: 400, body: 'error', when: 'status_category is none of 2xx, 3xx, 4xx, 5xx' },
    ...analyticsRefusals,
  ],
});
