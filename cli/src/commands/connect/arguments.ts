import { isWellFormedGatewayKey } from '@gatehouse/contract';
import { settings } from '../../config/config.ts';
import { settingValue } from '../../config/setting.ts';
import { variableIn } from '../../config/setting-text.ts';
import { shownAddress, shownText } from '../../config/shown-value.ts';
import type { Context, Environment } from '../../terminal/command.ts';
import { invalidValue, UsageError } from '../../terminal/errors.ts';
import { readSecret } from '../../terminal/secret-input.ts';
import type { Connection, Key } from './client.ts';

const DEFAULT_VARIABLE = 'GATEHOUSE_API_KEY';
const FROM_VARIABLE = 'env:';

export interface ConnectArguments {
  readonly client: string;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly 'key-stdin': string | undefined;
  readonly 'key-env': string | undefined;
  readonly model: string | undefined;
  readonly 'dry-run': string | undefined;
  readonly yes: string | undefined;
}

/** Reads the address, key and models for a client's configuration. Throws UsageError; its message never repeats a key. */
export async function readConnection(
  args: ConnectArguments,
  context: Pick<Context, 'environment' | 'input' | 'err'>,
): Promise<Connection> {
  const environment = context.environment();
  const origin = args.url === undefined ? localOrigin(environment) : originOf(args.url);
  const model = readModel(args.model);
  return { origin, key: await readKey(args, context), model };
}

function localOrigin(environment: Environment): string {
  const port = settingValue(settings.gatewayPort, environment);
  if (port === 0)
    throw new UsageError('GATEWAY_PORT is 0, which means any free port; give the address with --url');
  if (settingValue(settings.tlsCert, environment) !== undefined)
    throw new UsageError('TLS_CERT is set; give the address that the certificate is for with --url');
  return `http://localhost:${port}`;
}

/** With or without /v1: some clients want it, and this command knows which. */
function originOf(text: string): string {
  const url = URL.parse(text);
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && /^(\/v1)?\/?$/.test(url.pathname);
  if (!isAddress || url.username !== '' || url.password !== '' || /[?#]/.test(text)) {
    throw new UsageError(
      `--url is ${/[:@]/.test(text) ? shownAddress(text) : shownText(text)}, expected the address of the gateway, such as https://gateway.example.com`,
    );
  }
  return url.origin;
}

/** From at most one of the options. An argument is seen by every account of the machine, so there are other ways. */
async function readKey(
  args: ConnectArguments,
  { environment, input, err }: Pick<Context, 'environment' | 'input' | 'err'>,
): Promise<Key> {
  const sources = ['key', 'key-stdin', 'key-env'] as const;
  const [source = 'key-env', other] = sources.filter((name) => args[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--${source} and --${other} exclude each other`);
  if (source === 'key-stdin' || args.key === '-')
    return keyOf('standard input', await readSecret(input(), 'Gateway key: ', err));
  if (args.key?.startsWith(FROM_VARIABLE)) {
    const name = variableOf('--key', args.key.slice(FROM_VARIABLE.length));
    return keyOf(name, variableIn(environment(), name) ?? '');
  }
  if (args.key !== undefined) return keyOf('--key', args.key);
  return { kind: 'variable', name: variableOf('--key-env', args['key-env'] ?? DEFAULT_VARIABLE) };
}

function variableOf(option: string, name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)) return name;
  throw new UsageError(`${option} is (not shown), expected the name of an environment variable`);
}

function keyOf(what: string, key: string): Key {
  if (isWellFormedGatewayKey(key)) return { kind: 'value', value: key };
  throw new UsageError(
    `${what} is ${key === '' ? 'empty' : '(not shown)'}, expected a gateway key as it was minted: sk_svc_...`,
  );
}

// A route's id may have more characters; these need no quotes in any of the formats.
function readModel(model: string | undefined): string | undefined {
  if (model === undefined || /^[A-Za-z0-9._:/@+-]{1,200}$/.test(model)) return model;
  throw invalidValue('--model', model, 'the id of a route or an alias');
}
