import type { Inputs, SpendLimit } from '@gatehouse/sdk';
import type { Context } from '../../terminal/command.ts';
import { invalidValue } from '../../terminal/errors.ts';
import { columns, minute, print, second, shown } from '../../terminal/output.ts';
import { asAccount } from './client.ts';
import { readLimit } from './read-limit.ts';

const GROUPS = [
  'model',
  'key',
  'project',
  'member',
] as const satisfies readonly Inputs['getSpend']['group_by'][];

export function showSpend(
  args: { readonly by: string | undefined; readonly range: string | undefined },
  context: Context,
): Promise<number> {
  const group_by = GROUPS.find((group) => group === (args.by ?? 'model'));
  if (group_by === undefined) throw invalidValue('--by', args.by ?? '', GROUPS.join(', '));
  return asAccount(context, async (client) => {
    const time_range = args.range ?? '30d';
    const spend = await client.analytics.getSpend({ group_by, time_range, interval: '1d', limit: 100 });
    const rows = spend.groups.map(({ group, name, cost_pkr }) => [
      shown(name ?? group ?? '-'),
      String(cost_pkr),
    ]);
    const { other } = spend;
    print(
      context,
      spend,
      columns(
        [
          [group_by.toUpperCase(), 'PKR'],
          ...rows,
          ...(other ? [[`${other.groups} others`, String(other.cost_pkr)]] : []),
          ['All', String(spend.total.cost_pkr)],
        ],
        context.width,
      ),
    );
    return 0;
  });
}

export function listLimits(context: Context): Promise<number> {
  return asAccount(context, async (client) => {
    const { limits } = await client.limits.listSpendLimits();
    print(
      context,
      { limits },
      columns(
        [
          ['SCOPE', 'WINDOW', 'LIMIT PKR', 'SPENT', 'HELD', 'LEFT', 'ENDS', 'PAST IT'],
          ...limits.map((limit) => [
            shown(scopeOf(limit)),
            limit.window,
            String(limit.limit_pkr),
            String(limit.spent_pkr),
            String(limit.held_pkr),
            String(limit.remaining_pkr),
            limit.window_ends_at === null ? '-' : minute(limit.window_ends_at),
            limit.mode,
          ]),
        ],
        context.width,
      ),
    );
    return 0;
  });
}

function scopeOf({ scope }: SpendLimit): string {
  if (scope.kind === 'organization') return 'organization';
  return scope.kind === 'metadata' ? `${scope.name}=${scope.value ?? '*'}` : `${scope.kind} ${scope.id}`;
}

export function listActivity(
  args: { readonly limit: string | undefined },
  context: Context,
): Promise<number> {
  const limit = readLimit(args.limit);
  return asAccount(context, async (client) => {
    const page = await client.activity.listActivity({ limit });
    print(
      context,
      { events: page.events },
      columns(
        page.events.map(({ timestamp, actor, action, target }) => [
          second(timestamp),
          shown(actor ?? '-'),
          action,
          shown(target),
        ]),
        context.width,
      ),
    );
    return 0;
  });
}
