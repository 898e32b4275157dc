import { isStorableText } from '@gatehouse/contract';
import { switchRoute } from '@gatehouse/control-plane/catalogue';
import { readDatabaseConfig } from '../../config/config.ts';
import type { Context } from '../../terminal/command.ts';
import { CommandError } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, withDatabase } from '../database.ts';

export function setRoute(id: string, isActive: boolean, context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const done = isStorableText(id)
      ? await change('gatehouse route list', () => switchRoute(database, id, isActive))
      : undefined;
    if (!done) {
      throw new CommandError(
        `no route has the id ${JSON.stringify(id)}; gatehouse route list shows those there are`,
      );
    }
    if (done.aliasOf !== undefined) {
      throw new CommandError(
        `${JSON.stringify(id)} is an alias of the route ${JSON.stringify(done.aliasOf)}, so no route of this id can be in service; take it out of the aliases first`,
      );
    }
    // With a database of the operator's own, only a catalogue keeps it in service.
    const isForNow =
      isActive && done.isBuiltIn && readDatabaseConfig(context.environment()).databaseUrl !== undefined;
    const state = isActive ? 'in service' : 'out of service';
    print(context, { route: { id, active: isActive }, changed: done.hasChanged, until_restart: isForNow }, [
      done.hasChanged ? `${shown(id)} is ${state}.` : `${shown(id)} was ${state} already.`,
      ...(isForNow
        ? ['The next start takes this built-in route out of service again, unless a catalogue names it.']
        : []),
    ]);
    return 0;
  });
}
