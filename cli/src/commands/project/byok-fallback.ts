import { isStorableText } from '@gatehouse/contract';
import { switchByokFallback } from '@gatehouse/control-plane/organization';
import type { Context } from '../../terminal/command.ts';
import { invalidValue } from '../../terminal/errors.ts';
import { print, shown } from '../../terminal/output.ts';
import { change, noSingleProject, requireOrganization, withDatabase } from '../database.ts';
import { operator } from '../operator.ts';

const STATES: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['off', false],
]);

export async function setByokFallback(
  args: { readonly org: string; readonly project: string; readonly state: string },
  context: Context,
): Promise<number> {
  const isOn = STATES.get(args.state);
  if (isOn === undefined) throw invalidValue('on|off', args.state, 'on or off');
  return withDatabase(context, async (database) => {
    const organization = await requireOrganization(database, args.org);
    const { id: organizationId } = organization;
    const reference = args.project;
    const done = isStorableText(reference)
      ? await change('gatehouse org show', () =>
          database.transaction((tx) => switchByokFallback(tx, { organizationId, reference, isOn }, operator)),
        )
      : { candidates: [] };
    if ('candidates' in done) throw noSingleProject(organization, reference, done.candidates);
    const { project, hasChanged } = done;
    const rule = isOn
      ? "may use the platform's keys after an organisation's own key failed"
      : "use the organisation's own keys only, where it has stored some";
    print(
      context,
      {
        organization,
        project: { id: project.id, name: project.name, byok_fallback: isOn },
        changed: hasChanged,
      },
      [
        hasChanged
          ? `Requests of ${shown(project.name)} ${rule}.`
          : `Nothing was changed. As before, requests of ${shown(project.name)} ${rule}.`,
      ],
    );
    return 0;
  });
}
