import { isWellFormedGatewayKey } from '@gatehouse/contract';
import { settings } from '../../config.ts';
import { settingValue } from '../../setting.ts';
import type { Environment } from '../command.ts';
import { invalidValue, UsageError } from '../errors.ts';
import type { Connection, Key } from './client.ts';

const DEFAULT_VARIABLE = 'GATEHOUSE_API_KEY';

export interface ConnectArguments {
  readonly client: string;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly 'key-env': string | undefined;
  readonly model: string | undefined;
  readonly 'dry-run': string | undefined;
  readonly yes: string | undefined;
}

/** What the client connects to. Throws UsageError; its message never repeats a key. */
export function readConnection(args: ConnectArguments, environment: Environment): Connection {
  return {
    origin: args.url === undefined ? localOrigin(environment) : originOf(args.url),
    key: readKey(args),
    model: readModel(args.model),
  };
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
    throw invalidValue('--url', text, 'the address of the gateway, such as https://gateway.example.com');
  }
  return url.origin;
}

function readKey({ key, 'key-env': name }: ConnectArguments): Key {
  if (key !== undefined && name !== undefined) throw new UsageError('--key and --key-env exclude each other');
  if (key !== undefined) {
    if (!isWellFormedGatewayKey(key)) {
      throw new UsageError('--key is (not shown), expected a gateway key as it was minted: sk_svc_...');
    }
    return { kind: 'value', value: key };
  }
  const variable = name ?? DEFAULT_VARIABLE;
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(variable)) {
    throw new UsageError('--key-env is (not shown), expected the name of an environment variable');
  }
  return { kind: 'variable', name: variable };
}

// A route's id may have more characters; these need no quotes in any of the formats.
function readModel(model: string | undefined): string | undefined {
  if (model === undefined || /^[A-Za-z0-9._:/@+-]{1,200}$/.test(model)) return model;
  throw invalidValue('--model', model, 'the id of a route or an alias');
}
