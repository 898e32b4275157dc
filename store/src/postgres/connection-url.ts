import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { ConnectionUrlError } from './connection-url-error.ts';
import { readServerUrls } from './servers.ts';

export { ConnectionUrlError };

/*
 * What the address of PostgreSQL says about TLS, with the meanings of libpq, which managed services hand addresses out for.
 * The driver has meanings of its own, and warns about them on standard error. So these parameters are read here and
 * never reach it.
 *
 *   disable      no TLS
 *   require      TLS; the certificate is not verified, unless sslrootcert is given: then as verify-ca
 *   verify-ca    TLS; the certificate must be signed by sslrootcert
 *   verify-full  TLS; as verify-ca, and the certificate must name the host. Without sslrootcert, by the usual authorities
 *
 * `allow` and `prefer` fall back to no TLS when they are made to, so they are not accepted.
 */
export interface ConnectionUrl {
  /** Without the parameters that are read here. It may name several servers (servers.ts). */
  readonly url: string;
  /** Settings of the session, as in `-c name=value`. */
  readonly options: string | undefined;
  /** Undefined when the address does not say. */
  readonly ssl: false | ConnectionOptions | undefined;
}

const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;
// The usual authorities, in the words of libpq.
const SYSTEM = 'system';

/** @throws ConnectionUrlError for a mode that is not accepted, and for a file that cannot be read. */
export function readConnectionUrl(text: string): ConnectionUrl {
  const [where = '', ...query] = text.split('?');
  const parameters = new URLSearchParams(query.join('?'));
  // Of a parameter that is named twice, the last one counts.
  const take = (name: string): string | undefined => {
    const value = parameters.getAll(name).at(-1);
    parameters.delete(name);
    return value === '' ? undefined : value;
  };
  const mode = take('sslmode');
  const isOn = take('ssl');
  const [authorities, certificate, key] = FILES.map(take);
  const options = take('options');
  take('uselibpqcompat');
  const rest = parameters.toString();
  const url = rest === '' ? where : `${where}?${rest}`;
  // The hosts, if there are several.
  readServerUrls(url);
  return {
    url,
    options,
    ssl: tlsOf(mode ?? modeOf(isOn), authorities, certificate, key),
  };
}

/** The other name of it, as in other drivers. */
function modeOf(isOn: string | undefined): string | undefined {
  if (isOn === undefined) return undefined;
  if (isOn === 'true' || isOn === '1') return 'verify-full';
  if (isOn === 'false' || isOn === '0') return 'disable';
  if (isOn === 'no-verify') return 'require';
  throw new ConnectionUrlError(`ssl=${isOn.slice(0, 40)} is not accepted; use sslmode instead`);
}

function tlsOf(
  mode: string | undefined,
  authorities: string | undefined,
  certificate: string | undefined,
  key: string | undefined,
): false | ConnectionOptions | undefined {
  const hasFiles = authorities !== undefined || certificate !== undefined || key !== undefined;
  if (mode === undefined) {
    if (!hasFiles) return undefined;
    throw new ConnectionUrlError(`${FILES.join(', ')} need an sslmode: ${MODES.slice(1).join(', ')}`);
  }
  // The name of it in the driver.
  const known = mode === 'no-verify' ? 'require' : MODES.find((one) => one === mode);
  if (known === undefined) {
    throw new ConnectionUrlError(
      mode === 'prefer' || mode === 'allow'
        ? `sslmode=${mode} would go on without TLS; choose disable or require`
        : `sslmode=${mode.slice(0, 40)} is not one of ${MODES.join(', ')}`,
    );
  }
  if (known === 'disable') return false;
  if ((certificate === undefined) !== (key === undefined))
    throw new ConnectionUrlError('sslcert and sslkey must be given together');
  const files = {
    ...(authorities !== undefined && authorities !== SYSTEM && { ca: contentOf('sslrootcert', authorities) }),
    ...(certificate !== undefined && { cert: contentOf('sslcert', certificate) }),
    ...(key !== undefined && { key: contentOf('sslkey', key) }),
  };
  if (known === 'verify-full') return files;
  if (known === 'require' && authorities === undefined) return { ...files, rejectUnauthorized: false };
  // With the usual authorities, anyone's certificate would do.
  if (authorities === undefined || authorities === SYSTEM)
    throw new ConnectionUrlError(
      `sslmode=${known} ${authorities === undefined ? 'needs sslrootcert, a file of CA certificates' : 'does not verify the host, so sslrootcert=system is not accepted'}; or use verify-full`,
    );
  return { ...files, checkServerIdentity: () => undefined };
}

function contentOf(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConnectionUrlError(`${parameter}=${path} cannot be read (${code})`);
  }
}
