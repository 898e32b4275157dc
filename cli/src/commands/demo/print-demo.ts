import { pkrInWords, pkrNumber } from '@gatehouse/contract';
import type { Config } from '../../config/config.ts';
import { addressOf } from '../../listen/listener-address.ts';
import { serviceCommand } from '../../service/project-command.ts';
import type { Context } from '../../terminal/command.ts';
import { columns, counted, print, shown } from '../../terminal/output.ts';
import type { Made } from './fill.ts';
import { KEYS, type PlannedKey, SHOWN_KEY } from './plan.ts';

/** Prints what was created, and what to do next. */
export function printDemo(
  context: Context,
  config: Config,
  made: Made & { readonly rows: number; readonly days: number },
): void {
  const { organization, owner, teammates, rows, days, spent, depositedMicroPkr } = made;
  const spentMicroPkr = [...spent.values()].reduce((sum, one) => sum + one, 0n);
  const page = addressOf(config, config.apiPort);
  const api = `${page}/api`;
  const gateway = `${addressOf(config, config.gatewayPort)}/v1`;
  const start = serviceCommand('npm start', { environment: context.environment() });
  const secret = organization.keys[SHOWN_KEY]?.secret ?? '';
  print(
    context,
    {
      organization: { id: organization.id, name: organization.name },
      owner,
      teammates,
      projects: organization.projects,
      keys: KEYS.map((plan, place) => ({
        id: organization.keys[place]?.id,
        name: plan.name,
        key_prefix: organization.keys[place]?.keyPrefix,
        project_id: organization.keys[place]?.projectId,
        environment: plan.environment,
        state: stateOf(plan),
        spent_pkr: pkrNumber(spent.get(organization.keys[place]?.id ?? '') ?? 0n),
      })),
      api_key: secret,
      requests: rows,
      days,
      spent_pkr: pkrNumber(spentMicroPkr),
      deposited_pkr: pkrNumber(depositedMicroPkr),
      api,
      gateway,
    },
    [
      `${shown(organization.name)} has ${counted(rows, 'request')} of the last ${days === 1 ? 'day' : `${days} days`}, which cost ${pkrInWords(spentMicroPkr)} of ${pkrInWords(depositedMicroPkr)}.`,
      '',
      ...columns([
        ['  E-mail', owner.email],
        ['  Password', owner.password],
        ['  A key', `${secret} (${KEYS[SHOWN_KEY]?.name})`],
      ]),
      '',
      `Next, start the service, unless it runs: ${start}`,
      ...(config.dashboard === 'off' ? [] : [`Then open the dashboard and sign in: ${page}`, '']),
      'The same for scripts:',
      '',
      `  curl -sw '\\n' -c cookies.txt ${api}/auth/login -H 'content-type: application/json' \\`,
      `    -d '{"email":"${owner.email}","password":"${owner.password}"}'`,
      `  curl -sw '\\n' -b cookies.txt '${api}/analytics/summary?time_range=${days}d'`,
      '',
      'And send a request of your own:',
      '',
      `  curl -sw '\\n' ${gateway}/chat/completions -H 'authorization: Bearer ${secret}' \\`,
      `    -H 'content-type: application/json' -d '{"model":"demo/echo","messages":[{"role":"user","content":"Hello"}]}'`,
    ],
  );
}

function stateOf({ isRevoked, expiredAt }: PlannedKey): 'active' | 'revoked' | 'expired' {
  if (isRevoked) return 'revoked';
  return expiredAt === undefined ? 'active' : 'expired';
}
