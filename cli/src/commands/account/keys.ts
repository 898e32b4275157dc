import { MAX_AMOUNT_MICRO_PKR, microPkrFromTyped } from '@gatehouse/contract';
import type { Client } from '@gatehouse/sdk';
import type { Context } from '../../terminal/command.ts';
import { confirmation } from '../../terminal/confirm.ts';
import { CommandError, invalidValue } from '../../terminal/errors.ts';
import { columns, minute, print, shown } from '../../terminal/output.ts';
import { asAccount } from './client.ts';

const MICRO_PKR = 1_000_000;

export function listKeys(context: Context): Promise<number> {
  return asAccount(context, async (client) => {
    const { keys } = await client.keys.listKeys();
    print(
      context,
      { keys },
      columns(
        [
          ['PREFIX', 'NAME', 'A MINUTE', 'CREDIT PKR', 'EXPIRES', 'LAST USED'],
          ...keys.map((key) => [
            key.key_prefix,
            shown(key.name),
            String(key.rate_limit_rpm),
            key.credit_limit_cents === null ? '-' : String(key.credit_limit_cents / MICRO_PKR),
            key.expires_at === null ? '-' : minute(key.expires_at),
            key.last_used_at === null ? '-' : minute(key.last_used_at),
          ]),
        ],
        context.width,
      ),
    );
    return 0;
  });
}

export function showKey(given: string, context: Context): Promise<number> {
  return asAccount(context, async (client) => {
    const { id } = await keyOf(client, given);
    const key = await client.keys.getKey({ key_id: id });
    const time = (at: string | null | undefined, none: string) => (at == null ? none : `${minute(at)} UTC`);
    const { previous_key_prefix: previous, previous_valid_until: until } = key;
    print(
      context,
      key,
      columns(
        [
          ['Key', key.key_prefix],
          ['Name', shown(key.name)],
          ['Id', key.id],
          ['Minted by', shown(key.created_by?.email ?? 'no member')],
          ['Rate', `${key.rate_limit_rpm} requests a minute`],
          [
            'Credit',
            key.credit_limit_cents === null ? 'no limit' : `${key.credit_limit_cents / MICRO_PKR} PKR`,
          ],
          ['Expires', time(key.expires_at, 'never')],
          ['Last used', time(key.last_used_at, 'no use is recorded')],
          ...(previous === null
            ? []
            : [
                ['Previous secret', `${previous}, accepted until ${time(until, 'now')}`],
                ['Its last use', time(key.previous_last_used_at, 'before the rotation')],
              ]),
        ],
        context.width,
      ),
    );
    return 0;
  });
}

export interface CreateKeyArguments {
  readonly name: string;
  readonly project: string | undefined;
  readonly 'credit-pkr': string | undefined;
  readonly 'expires-at': string | undefined;
}

export function createKey(args: CreateKeyArguments, context: Context): Promise<number> {
  const credit = readCredit(args['credit-pkr']);
  const expiresAt = args['expires-at'];
  return asAccount(context, async (client) => {
    const project_id = await projectOf(client, args.project);
    const key = await client.keys.createKey({
      ...{ name: args.name, project_id },
      ...(credit !== undefined && { credit_limit_cents: Number(credit) }),
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
    });
    // The secret alone, so that a script can take it as it comes.
    tell(context, `Made the key ${key.key_prefix} (${key.id}). Its secret is shown this once:\n`);
    print(context, key, [key.api_key]);
    return 0;
  });
}

/** The amount in micro-PKR. Throws UsageError for one that cannot be a limit. */
function readCredit(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const amount = microPkrFromTyped(text);
  if (typeof amount === 'bigint' && amount > 0n && amount <= MAX_AMOUNT_MICRO_PKR) return amount;
  throw invalidValue(
    '--credit-pkr',
    text,
    'an amount of PKR above 0 in plain digits with at most 6 decimals',
  );
}

/** Says beside an answer what a program takes from its document. */
function tell({ isJson, err }: Context, text: string): void {
  if (!isJson) err(text);
}

async function projectOf(client: Client, given: string | undefined): Promise<string> {
  const { projects } = await client.organization.listProjects();
  const names = projects.map(({ name }) => JSON.stringify(name)).join(', ');
  if (given === undefined) {
    const [only, ...others] = projects;
    if (only && others.length === 0) return only.id;
    throw new CommandError(`there are several projects; name one with --project: ${names}`);
  }
  const found = projects.filter(({ id, name }) => id === given || name === given);
  const [project, ...others] = found;
  if (project && others.length === 0) return project.id;
  throw new CommandError(
    project
      ? `several projects are named ${JSON.stringify(given)}; name one by its id: ${found.map(({ id }) => id).join(', ')}`
      : `there is no project ${JSON.stringify(given)}; there are ${names}`,
  );
}

export function rotateKey(
  args: { readonly key: string; readonly 'grace-seconds': string | undefined },
  context: Context,
): Promise<number> {
  const grace = args['grace-seconds'];
  if (grace !== undefined && !/^[0-9]{1,6}$/.test(grace))
    throw invalidValue('--grace-seconds', grace, 'a whole number from 0 to 604800');
  return asAccount(context, async (client) => {
    const key = await keyOf(client, args.key);
    const rotated = await client.keys.rotateKey({
      key_id: key.id,
      ...(grace !== undefined && { grace_seconds: Number(grace) }),
    });
    const until = grace === '0' ? 'has ended' : `is accepted until ${rotated.previous_valid_until}`;
    tell(
      context,
      `The key ${shown(key.name)} has a new secret, ${rotated.key_prefix}. The one before, ${rotated.previous_key_prefix}, ${until}. The new one is shown this once:\n`,
    );
    print(context, rotated, [rotated.api_key]);
    return 0;
  });
}

export async function revokeKey(
  args: { readonly key: string; readonly yes: string | undefined },
  context: Context,
): Promise<number> {
  const confirm = confirmation(context, args.yes);
  return asAccount(context, async (client) => {
    const key = await keyOf(client, args.key);
    await confirm(`Revoke ${shown(key.name)} (${key.key_prefix}) for ever?`);
    const { message } = await client.keys.revokeKey({ key_id: key.id });
    print(context, { id: key.id, key_prefix: key.key_prefix, message }, [message]);
    return 0;
  });
}

async function keyOf(client: Client, given: string) {
  const { keys } = await client.keys.listKeys();
  const found = keys.filter(({ id, key_prefix }) => id === given || key_prefix === given);
  const [key, ...others] = found;
  if (key && others.length === 0) return key;
  // A whole secret was meant as a prefix, perhaps: it is not repeated.
  throw new CommandError(
    key
      ? `several keys have this prefix; name one by its id: ${found.map(({ id }) => id).join(', ')}`
      : 'there is no key with this id or prefix; gatehouse account keys lists those there are',
  );
}
