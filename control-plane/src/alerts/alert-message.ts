import {
  type AlertType,
  pkrInWords,
  pkrNumber,
  SPEND_MODES,
  SPEND_SCOPES,
  SPEND_WINDOWS,
  spendWindowInWords,
  timestampWithOffset,
} from '@gatehouse/contract';
import { z } from 'zod';

/*
 * What an alert says, to programs and to people. The functions of the database write the figures (alert_of_spend.sql, alert_of_balance.sql,
 * alert_of_expiries.sql): amounts in micro-PKR as digits, and times in microseconds since the epoch.
 */

const amount = z.string().transform((digits) => BigInt(digits));
const instant = z.int().transform((micros) => timestampWithOffset(BigInt(micros)));

const spendData = z.object({
  limitId: z.string(),
  scope: z.enum(SPEND_SCOPES),
  scopeId: z.string().nullable(),
  scopeName: z.string().nullable(),
  metadataName: z.string().nullable(),
  metadataValue: z.string().nullable(),
  window: z.enum(SPEND_WINDOWS),
  timeZone: z.string(),
  mode: z.enum(SPEND_MODES),
  limitMicroPkr: amount,
  spentMicroPkr: amount,
  heldMicroPkr: amount,
  startedAt: instant,
  endsAt: instant.nullable(),
  percent: z.int(),
});

const balanceData = z.object({ percent: z.int(), depositedMicroPkr: amount, remainingMicroPkr: amount });

const expiryData = z.object({
  days: z.int(),
  keyId: z.string(),
  name: z.string(),
  keyPrefix: z.string(),
  expiresAt: instant,
});

/** An alert as it is stored. */
export interface StoredAlert {
  readonly type: AlertType;
  readonly createdAt: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly data: unknown;
}

/** The message to a webhook, and the same for people. */
export interface AlertMessage {
  readonly body: { readonly type: AlertType; readonly timestamp: string; readonly data: object };
  readonly subject: string;
  readonly text: string;
}

/** The message of an alert. The same alert gives the same message. */
export function alertMessage({
  type,
  createdAt,
  organizationId,
  organizationName,
  data,
}: StoredAlert): AlertMessage {
  const { fields, subject, sentence } = SAID[type](data);
  return {
    body: {
      type,
      timestamp: createdAt,
      data: { organization: { id: organizationId, name: organizationName }, ...fields },
    },
    subject: `[Gatehouse] ${subject}`,
    text: `${sentence}\n\nOrganisation: ${organizationName}\nTime: ${createdAt}\n`,
  };
}

interface Said {
  readonly fields: object;
  readonly subject: string;
  readonly sentence: string;
}

const SAID: Readonly<Record<AlertType, (data: unknown) => Said>> = {
  'spend_limit.threshold_reached': (data) => ofSpend(spendData.parse(data)),
  'spend_limit.reached': (data) => ofSpend(spendData.parse(data)),
  'balance.low': (data) => ofBalance(balanceData.parse(data)),
  'key.expiring': (data) => ofExpiry(expiryData.parse(data)),
  'alert.test': () => ({
    fields: {},
    subject: 'Test',
    sentence: 'This is a test. Alerts of spend limits, the balance and keys that expire arrive here.',
  }),
};

function ofSpend(data: z.output<typeof spendData>): Said {
  const { limitMicroPkr: limit, spentMicroPkr: spent, heldMicroPkr: held, percent, endsAt, mode } = data;
  const remaining = limit - spent - held;
  const scope = scopeFields(data);
  const isReached = percent === 100;
  const what = `The spend limit of ${scopeInWords(data)} (${pkrInWords(limit)} ${spendWindowInWords(data.window)})`;
  const until = endsAt === null ? 'It has no end.' : `Its window ends at ${endsAt}.`;
  const effect =
    mode === 'refuse' ? 'Requests that would pass it are refused.' : 'It refuses nothing: requests go on.';
  return {
    fields: {
      limit: {
        id: data.limitId,
        scope,
        window: data.window,
        time_zone: data.timeZone,
        limit_pkr: pkrNumber(limit),
        mode,
      },
      threshold_percent: percent,
      spent_pkr: pkrNumber(spent),
      held_pkr: pkrNumber(held),
      remaining_pkr: pkrNumber(remaining > 0n ? remaining : 0n),
      window_started_at: data.startedAt,
      window_ends_at: endsAt,
    },
    subject: isReached ? 'Spend limit reached' : `${percent} % of a spend limit spent`,
    sentence: `${what} is ${isReached ? 'reached' : `spent to ${percent} %`}: ${pkrInWords(spent)} are spent and ${pkrInWords(held)} are held by requests in flight. ${isReached ? `${effect} ` : ''}${until}`,
  };
}

type Scope = Pick<
  z.output<typeof spendData>,
  'scope' | 'scopeId' | 'scopeName' | 'metadataName' | 'metadataValue'
>;

function scopeFields({ scope: kind, scopeId, scopeName, metadataName, metadataValue }: Scope) {
  if (kind === 'organization') return { kind };
  if (kind === 'metadata') return { kind, name: metadataName, value: metadataValue };
  return { kind, id: scopeId, name: scopeName };
}

function scopeInWords({ scope, scopeName, metadataName, metadataValue }: Scope): string {
  if (scope === 'organization') return 'the organisation';
  if (scope !== 'metadata') return `the ${scope} ${scopeName}`;
  return `requests with the ${metadataName} ${metadataValue ?? 'of any further value'}`;
}

function ofBalance({ percent, depositedMicroPkr, remainingMicroPkr }: z.output<typeof balanceData>): Said {
  return {
    fields: {
      threshold_percent: percent,
      deposited_pkr: pkrNumber(depositedMicroPkr),
      remaining_pkr: pkrNumber(remainingMicroPkr),
    },
    subject: `Less than ${percent} % of the deposits left`,
    sentence: `The balance is low: ${pkrInWords(remainingMicroPkr)} of ${pkrInWords(depositedMicroPkr)} are left. When it is used up, requests are refused.`,
  };
}

function ofExpiry({ days, keyId, name, keyPrefix, expiresAt }: z.output<typeof expiryData>): Said {
  return {
    fields: { days, key: { id: keyId, name, key_prefix: keyPrefix, expires_at: expiresAt } },
    subject: `A key expires within ${days === 1 ? 'a day' : `${days} days`}`,
    sentence: `The key ${name} (${keyPrefix}) expires at ${expiresAt}. From then on its requests are refused.`,
  };
}
