import { epochMicrosFromTimestamp, type OrganizationId } from '@gatehouse/contract';
import { z } from 'zod';

/** The head of a log at an earlier time, kept outside the database. */
export interface Anchor {
  readonly organizationId: OrganizationId;
  readonly sequence: bigint;
  /** In hexadecimal. */
  readonly hash: string;
  /** The time of the newest entry then, in microseconds since 1970. */
  readonly lastOccurredAtMicros: bigint;
  /** The retention at that time. */
  readonly retentionDays: number;
}

/** A file of anchors cannot be used. The message says why, to an operator. */
export class AnchorsError extends Error {
  override readonly name = 'AnchorsError';
}

const file = z.object({
  organizations: z.array(
    z.object({
      id: z.uuid(),
      verified: z.boolean(),
      last_sequence: z.int().min(0),
      last_hash: z.string().regex(/^[0-9a-f]{64}$/),
      last_occurred_at: z.string(),
      retention_days: z.int().min(1),
    }),
  ),
});

/**
 * Reads the output of an earlier `gatehouse activity verify --json`. Logs that were broken or empty then give no anchor.
 * @throws AnchorsError for anything else
 */
export function readAnchors(text: string): Anchor[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new AnchorsError(
      'the anchors are not JSON; expected what gatehouse activity verify --json printed',
    );
  }
  const result = file.safeParse(parsed);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new AnchorsError(
      `the anchors have no valid ${issue?.path.join('.') || 'content'}; expected what gatehouse activity verify --json printed`,
    );
  }
  const anchors = result.data.organizations
    .filter(({ verified, last_sequence }) => verified && last_sequence > 0)
    .map((one) => ({
      organizationId: one.id.toLowerCase() as OrganizationId,
      sequence: BigInt(one.last_sequence),
      hash: one.last_hash,
      lastOccurredAtMicros: timeOf(one.last_occurred_at),
      retentionDays: one.retention_days,
    }));
  if (anchors.length === 0)
    throw new AnchorsError('the anchors hold no head of a verified log, so there is nothing to compare with');
  return anchors;
}

function timeOf(text: string): bigint {
  const micros = epochMicrosFromTimestamp(text);
  if (micros === undefined)
    throw new AnchorsError(`the anchors have the time ${JSON.stringify(text)}, which is none`);
  return micros;
}
