import { readFile } from 'node:fs/promises';
import { type OrganizationId, timestampWithOffset, uuidFromText } from '@gatehouse/contract';
import {
  type Anchor,
  readAnchors,
  type Verification,
  verifyActivity,
} from '@gatehouse/control-plane/activity';
import { findOrganization } from '@gatehouse/control-plane/organization';
import type { Database } from '@gatehouse/store';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print, shown, warn } from '../../terminal/output.ts';
import { requireOrganization, withDatabase } from '../database.ts';

export async function verifyLogs(
  args: { readonly org: string | undefined; readonly anchors: string | undefined },
  context: Context,
): Promise<number> {
  const anchors = args.anchors === undefined ? [] : await readAnchorsFile(args.anchors);
  return withDatabase(context, async (database) => {
    const only = args.org === undefined ? {} : { organizationId: await organizationId(database, args.org) };
    const documents = [];
    let brokenLogs = 0;
    for await (const verification of verifyActivity(database, { ...only, anchors })) {
      documents.push(verificationDocument(verification));
      // Each as it is known: a large log takes its time.
      if (!context.isJson) context.out(`${verificationLine(verification)}\n`);
      const { broken } = verification;
      if (!broken) continue;
      brokenLogs += 1;
      warn(
        context,
        `the activity log of ${named(verification)} is broken: entry ${broken.sequence} ${broken.reason}`,
      );
    }
    // Nothing is known of it: said as everywhere else.
    if (documents.length === 0 && args.org !== undefined) await requireOrganization(database, args.org);
    print(
      context,
      { organizations: documents },
      documents.length === 0 ? ['There is no organisation yet, and nothing to verify.'] : [],
    );
    return brokenLogs === 0 ? 0 : 1;
  });
}

async function readAnchorsFile(path: string): Promise<Anchor[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`--anchors is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
  // An editor may have put a byte order mark in front.
  return readAnchors(text.replace(/^\uFEFF/, ''));
}

/** An organisation that is gone can be asked for by its id all the same: its log may be there. */
async function organizationId(database: Database, reference: string): Promise<OrganizationId> {
  const found = await findOrganization(database, reference);
  const id = uuidFromText(reference) as OrganizationId | undefined;
  return found?.id ?? id ?? (await requireOrganization(database, reference)).id;
}

function named({ organizationName, organizationId: id }: Verification): string {
  return organizationName === null
    ? `an organisation that is gone (${id})`
    : `${shown(organizationName)} (${id})`;
}

function verificationLine(verification: Verification): string {
  const { entries, checkpointSequence: through, lastSequence, broken, agedAnchors } = verification;
  if (broken) return `${named(verification)}: broken at entry ${broken.sequence}`;
  const removed =
    through > 0n ? `, after ${through} that retention of ${verification.retentionDays} days removed` : '';
  const aged = agedAnchors > 0 ? `; what ${agedAnchors} anchors have seen has aged out` : '';
  return `${named(verification)}: verified, ${entries === 1 ? '1 entry' : `${entries} entries`} up to number ${lastSequence}${removed}${aged}`;
}

function verificationDocument(verification: Verification) {
  const { broken } = verification;
  return {
    id: verification.organizationId,
    name: verification.organizationName,
    verified: broken === null,
    entries: verification.entries,
    checkpoint_sequence: Number(verification.checkpointSequence),
    last_sequence: Number(verification.lastSequence),
    last_hash: verification.lastHash,
    last_occurred_at: timestampWithOffset(verification.lastOccurredAtMicros),
    retention_days: verification.retentionDays,
    aged_anchors: verification.agedAnchors,
    broken: broken && { sequence: Number(broken.sequence), reason: broken.reason },
  };
}
