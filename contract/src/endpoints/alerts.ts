import { z } from 'zod';
import { id } from '../conventions/id.ts';
import { limit, offset } from '../conventions/paging.ts';
import { text } from '../conventions/text.ts';
import { type Endpoint, endpoint, type Role } from '../endpoint.ts';
import { MAX_ALERT_CHANNELS, MAX_ALERT_TESTS, MAX_URL_LENGTH } from '../limits.ts';
import { creator, emailAddress, timestamp } from './fields.ts';

const CHANNEL_KINDS = ['webhook', 'email'] as const;

/** The types of alerts. */
export const ALERT_TYPES = [
  'spend_limit.threshold_reached',
  'spend_limit.reached',
  'balance.low',
  'key.expiring',
  'alert.test',
] as const;

export type AlertType = (typeof ALERT_TYPES)[number];

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

const ROLES: readonly Role[] = ['owner', 'admin'];

const channel = {
  id: id(),
  kind: z.enum(CHANNEL_KINDS),
  url: z.string().optional().meta({ description: 'The address of a webhook.' }),
  address: z.string().optional().meta({ description: 'The address that e-mails go to.' }),
  created_by: creator(),
  created_at: timestamp(),
};

export const AlertChannel = z.strictObject(channel).meta({ id: 'AlertChannel' });

const NOT_FOUND: Endpoint['errors'][number] = {
  status: 404,
  body: 'error',
  when: 'the channel does not belong to the organisation',
};

export const listAlertChannels = endpoint({
  name: 'listAlertChannels',
  section: 'alerts',
  method: 'GET',
  path: '/alert-channels',
  roles: ROLES,
  summary: 'The places that alerts of money and keys are sent to, newest first.',
  reply: z.strictObject({ channels: z.array(AlertChannel) }),
});

export const createAlertChannel = endpoint({
  name: 'createAlertChannel',
  section: 'alerts',
  method: 'POST',
  path: '/alert-channels',
  roles: ROLES,
  summary: 'Send alerts to a webhook, signed by Standard Webhooks, or to an e-mail address.',
  body: z
    .object({
      kind: z.enum(CHANNEL_KINDS),
      url: text()
        .transform((value) => value.trim())
        .refine((value) => value.length <= MAX_URL_LENGTH, {
          error: `Must have at most ${MAX_URL_LENGTH} characters.`,
          params: { type: 'too_long' },
        })
        .optional()
        .meta({
          description: 'The address of a webhook: https.',
          example: 'https://hooks.example.com/alerts',
        }),
      address: emailAddress().optional(),
    })
    .superRefine((given, context) => {
      const name = given.kind === 'webhook' ? 'url' : 'address';
      if (given[name] !== undefined) return;
      const message = `Required for the kind ${given.kind}.`;
      context.addIssue({ code: 'custom', message, path: [name], params: { type: 'missing' } });
    }),
  status: 201,
  reply: z.strictObject({
    ...channel,
    secret: z.string().optional().meta({
      description: 'The secret that verifies each message to a webhook. It is shown in this answer only.',
    }),
  }),
  records: ['alert_channel.created'],
  errors: [
    { status: 400, body: 'error', when: 'the service may not send there, or sends no e-mail' },
    { status: 409, body: 'error', when: `the organisation has ${MAX_ALERT_CHANNELS} channels` },
    { status: 503, body: 'error', when: 'the vault cannot seal the secret of the webhook' },
  ],
});

export const deleteAlertChannel = endpoint({
  name: 'deleteAlertChannel',
  section: 'alerts',
  method: 'DELETE',
  path: '/alert-channels/{channel_id}',
  roles: ROLES,
  summary:
    'Send no more alerts there. What is on its way is dropped, and its deliveries are no longer listed.',
  reply: z.strictObject({ message: z.string() }),
  records: ['alert_channel.deleted'],
  errors: [NOT_FOUND],
});

export const testAlertChannel = endpoint({
  name: 'testAlertChannel',
  section: 'alerts',
  method: 'POST',
  path: '/alert-channels/{channel_id}/test',
  roles: ROLES,
  summary: 'Send an `alert.test`, as an alert is sent. The list of deliveries shows how it went.',
  status: 202,
  reply: z.strictObject({ delivery_id: id() }),
  errors: [
    NOT_FOUND,
    { status: 429, body: 'error', when: `the organisation sent ${MAX_ALERT_TESTS} tests within 10 minutes` },
  ],
});

export const listAlertDeliveries = endpoint({
  name: 'listAlertDeliveries',
  section: 'alerts',
  method: 'GET',
  path: '/alert-deliveries',
  roles: ROLES,
  summary: 'The alerts of the last week and whether they arrived, newest first.',
  query: z.object({ limit: limit(), offset: offset() }),
  reply: z.strictObject({
    deliveries: z.array(
      z
        .strictObject({
          id: id().meta({ description: 'The `webhook-id` of the message, the same in each attempt.' }),
          channel_id: id(),
          type: z.enum(ALERT_TYPES),
          created_at: timestamp(),
          status: z.enum(DELIVERY_STATUSES),
          attempts: z.int(),
          last_error: z.string().nullable().meta({ description: 'Why the last attempt failed.' }),
        })
        .meta({ id: 'AlertDelivery' }),
    ),
  }),
});
