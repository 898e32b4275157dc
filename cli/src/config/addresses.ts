// Whether the drivers can parse an address. Checked here so that the error can name the setting: the drivers only say
// that a URL is invalid.

/** True if the PostgreSQL driver can parse it. The driver accepts more than a URL. */
export function isPostgresAddress(text: string): boolean {
  // Of several servers, each is looked at when the address is read; here the first stands for all.
  const url = postgresUrl(text.replace(SEVERAL, '$1'));
  if (!url || !isPort(url.port)) return false;
  // The driver prefers these to the port before the path.
  return url.searchParams.getAll('port').every(isPort) && isDecodable(url);
}

export function isHttpAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isPort(url.port) && isDecodable(url);
}

const SEVERAL = /^([a-z]+:\/\/(?:[^/?#]*@)?[^/?#@,]+)(?:,[^/?#@,]+)+/i;
const BARE_SPACE_OR_PERCENT = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i;

function postgresUrl(text: string): URL | null {
  const encoded = BARE_SPACE_OR_PERCENT.test(text) ? encodeURI(text).replace(/%25(\d\d)/g, '%$1') : text;
  // A login without a host (user:password@/database) is not a URL, but the driver accepts it.
  return URL.parse(encoded) ?? URL.parse(encoded.replace('@/', '@none/'));
}

/** Empty if the URL has no port. */
function isPort(text: string): boolean {
  return text === '' || (/^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535);
}

function isDecodable({ username, password, hostname, pathname }: URL): boolean {
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
