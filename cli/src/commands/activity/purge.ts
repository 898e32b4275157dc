import { purgeActivity } from '@gatehouse/control-plane/activity';
import type { Context } from '../../terminal/command.ts';
import { print, shown, warn } from '../../terminal/output.ts';
import { withDatabase } from '../database.ts';

export function purgeLogs(context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const documents = [];
    let brokenLogs = 0;
    for await (const { organizationId, organizationName, removed, brokenSequence } of purgeActivity(
      database,
    )) {
      const named = `${shown(organizationName)} (${organizationId})`;
      documents.push({
        id: organizationId,
        name: organizationName,
        removed,
        broken_sequence: brokenSequence === null ? null : Number(brokenSequence),
      });
      if (!context.isJson) {
        context.out(`${named}: removed ${removed === 1 ? '1 entry' : `${removed} entries`}\n`);
      }
      if (brokenSequence === null) continue;
      brokenLogs += 1;
      warn(
        context,
        `the activity log of ${named} is broken at entry ${brokenSequence}: that and what follows it was kept (gatehouse activity verify tells more)`,
      );
    }
    print(
      context,
      { organizations: documents },
      documents.length === 0 ? ['Nothing is past its retention.'] : [],
    );
    return brokenLogs === 0 ? 0 : 1;
  });
}
