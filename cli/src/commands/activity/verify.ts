import { readFile } from 'node:fs/promises';
import { type Anchor, readAnchors, type Verification, verifyActivity } from '@gatehouse/control-plane';
import type { Database } from '@gatehouse/store';
import type { Context } from '../command.ts';
import { requireOrganization, withDatabase } from '../database.ts';
import { CommandFault } from '../faults.ts';
import { print, shown, warn } from '../output.ts';

export async function verifyLogs(
  given: { readonly org: string | undefined; readonly anchors: string | undefined },
  context: Context,
): Promise<number> {
  const anchors = given.anchors === undefined ? [] : await readAnchorsFile(given.anchors);
  return withDatabase(context, async (database) => {
    const only =
      given.org === undefined ? {} : { organizationId: await organizationId(database, given.org, anchors) };
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
    throw new CommandFault(`--anchors is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
  return readAnchors(text);
}

/** An organisation that is gone although an anchor has seen it can be asked for all the same. */
async function organizationId(
  database: Database,
  reference: string,
  anchors: readonly Anchor[],
): Promise<string> {
  const seen = anchors.find((anchor) => anchor.organizationId === reference.toLowerCase());
  return seen?.organizationId ?? (await requireOrganization(database, reference)).id;
}

function named({ organizationName, organizationId: id }: Verification): string {
  return organizationName === null
    ? `an organisation that is gone (${id})`
    : `${shown(organizationName)} (${id})`;
}

function verificationLine(verification: Verification): string {
  const { entries, checkpointSequence: through, lastSequence, broken } = verification;
  if (broken) return `${named(verification)}: broken at entry ${broken.sequence}`;
  const removed = through > 0n ? `, after ${through} that retention removed` : '';
  return `${named(verification)}: verified, ${entries === 1 ? '1 entry' : `${entries} entries`} up to number ${lastSequence}${removed}`;
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
    broken: broken && { sequence: Number(broken.sequence), reason: broken.reason },
  };
}
