import { z } from 'zod';
import { id, idReference } from '../conventions/id.ts';
import { text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_METADATA_NAME_LENGTH, MAX_METADATA_VALUE_BYTES, MAX_SPEND_LIMITS } from '../limits.ts';
import { creator, optionalPkrAmount, pkr, requiredPkrAmount, timestamp } from './fields.ts';
import { SPEND_MODES, SPEND_SCOPES, SPEND_WINDOWS } from './spend-scopes.ts';

/** The thresholds of a limit that names none, in per cent. */
const DEFAULT_ALERT_AT = [80, 100];

const PER_CENT = z.int().min(1).max(100);

const alertAt = () =>
  z
    .array(PER_CENT)
    .max(100)
    .transform((given) => [...new Set(given)].sort((one, other) => one - other))
    .meta({
      description:
        'When alerts are sent, in per cent of the limit: each once, sorted. One is sent at 100 whatever this says.',
    });

const mode = z.enum(SPEND_MODES).meta({
  description:
    '`refuse`: a request that would pass the limit is refused. `alert`: it is served, and only alerts are sent.',
});

const LIMIT = { description: 'At most 6 decimals; 0 stops at once.' };

/** A name of metadata: a part of a header's name, in any case. */
const metadataName = z
  .string()
  .refine(
    (value) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value) && value.length <= MAX_METADATA_NAME_LENGTH,
    {
      error: `Must have 1 to ${MAX_METADATA_NAME_LENGTH} characters of a header's name.`,
      params: { type: 'not_a_metadata_name' },
    },
  )
  .transform((value) => value.toLowerCase());

/** The name is checked by the time zones of this machine, and then by those of the database. */
const timeZone = text().refine(isTimeZone, {
  error: 'Must be the name of a time zone, such as Asia/Karachi or UTC.',
  params: { type: 'not_a_time_zone' },
});

function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const scopeBody = z
  .object({
    kind: z.enum(SPEND_SCOPES),
    id: idReference().optional().meta({
      description:
        'The project’s, key’s or member’s. A limit of a member is of all keys that the member minted.',
    }),
    name: metadataName.optional().meta({ description: 'The name of the metadata, in any case.' }),
    value: text()
      .refine((value) => new TextEncoder().encode(value).length <= MAX_METADATA_VALUE_BYTES, {
        error: `Must have at most ${MAX_METADATA_VALUE_BYTES} bytes.`,
        params: { type: 'too_long' },
      })
      .nullable()
      .optional()
      .meta({ description: 'The value of the metadata; null: each value has a window for itself.' }),
  })
  .superRefine((scope, context) => {
    for (const name of needed(scope.kind)) {
      if (scope[name] !== undefined) continue;
      const message = `Required for the scope ${scope.kind}.`;
      context.addIssue({ code: 'custom', message, path: [name], params: { type: 'missing' } });
    }
  });

function needed(kind: (typeof SPEND_SCOPES)[number]): readonly ('id' | 'name' | 'value')[] {
  if (kind === 'organization') return [];
  return kind === 'metadata' ? ['name', 'value'] : ['id'];
}

const scope = z
  .union([
    z.strictObject({ kind: z.literal('organization') }),
    z.strictObject({ kind: z.enum(['project', 'key', 'member']), id: id() }),
    z.strictObject({ kind: z.literal('metadata'), name: z.string(), value: z.string().nullable() }),
  ])
  .meta({
    description:
      'A `kind`, with the `id` of a project, key or member, or the `name` and `value` of metadata.',
  });

const figures = {
  spent_pkr: pkr('The cost of finished requests of the window, settled or not.'),
  held_pkr: pkr('The amount that requests of the window hold that are in flight.'),
  remaining_pkr: pkr('limit_pkr - spent_pkr - held_pkr, at least 0.'),
};

export const SpendLimit = z
  .strictObject({
    id: id(),
    scope,
    window: z.enum(SPEND_WINDOWS),
    time_zone: z.string(),
    limit_pkr: z.number(),
    mode: z.enum(SPEND_MODES),
    alert_at: z.array(z.int()),
    ...figures,
    window_started_at: timestamp(),
    window_ends_at: timestamp().nullable().meta({ description: 'Null for a lifetime.' }),
    values: z
      .array(z.strictObject({ value: z.string().nullable(), ...figures }))
      .optional()
      .meta({
        description:
          'Only of a limit for each value of its metadata: those that spent most, at most 100. Null stands for all values beyond the 10,000 that are told apart.',
      }),
    created_by: creator(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'SpendLimit' });

export const listSpendLimits = endpoint({
  name: 'listSpendLimits',
  section: 'limits',
  method: 'GET',
  path: '/spend-limits',
  summary: 'The spend limits, newest first, with what their open windows have spent and hold.',
  reply: z.strictObject({ limits: z.array(SpendLimit) }),
});

export const createSpendLimit = endpoint({
  name: 'createSpendLimit',
  section: 'limits',
  method: 'POST',
  path: '/spend-limits',
  roles: ['owner', 'admin'],
  summary:
    'Limit what may be spent in a window of the calendar. It counts requests that are admitted after it was made.',
  body: z.object({
    scope: scopeBody,
    window: z.enum(SPEND_WINDOWS),
    time_zone: timeZone.default('UTC').meta({ example: 'Asia/Karachi' }),
    limit_pkr: requiredPkrAmount(LIMIT),
    mode: mode.default('refuse'),
    alert_at: alertAt().default(DEFAULT_ALERT_AT).meta({ default: DEFAULT_ALERT_AT }),
  }),
  status: 201,
  reply: SpendLimit,
  records: ['spend_limit.created'],
  errors: [
    { status: 400, body: 'error', when: 'the database does not know the time zone' },
    {
      status: 404,
      body: 'error',
      when: 'the project, key or member of the scope does not belong to the organisation, or the key is revoked',
    },
    { status: 409, body: 'error', when: `the organisation has ${MAX_SPEND_LIMITS} spend limits` },
  ],
});

export const updateSpendLimit = endpoint({
  name: 'updateSpendLimit',
  section: 'limits',
  method: 'PATCH',
  path: '/spend-limits/{limit_id}',
  roles: ['owner', 'admin'],
  summary: 'Change the amount, the mode or the thresholds of a spend limit. It holds for the open window.',
  body: z
    .object({ limit_pkr: optionalPkrAmount(LIMIT), mode: mode.optional(), alert_at: alertAt().optional() })
    .meta({ description: 'At least one of them.' }),
  reply: SpendLimit,
  records: ['spend_limit.updated'],
  errors: [
    { status: 400, body: 'error', when: 'nothing is given' },
    { status: 404, body: 'error', when: 'the limit does not belong to the organisation' },
  ],
});

export const deleteSpendLimit = endpoint({
  name: 'deleteSpendLimit',
  section: 'limits',
  method: 'DELETE',
  path: '/spend-limits/{limit_id}',
  roles: ['owner', 'admin'],
  summary: 'Remove a spend limit. From the next request it binds nothing.',
  reply: z.strictObject({ message: z.string() }),
  records: ['spend_limit.deleted'],
  errors: [{ status: 404, body: 'error', when: 'the limit does not belong to the organisation' }],
});
