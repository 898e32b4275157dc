// Whether the drivers can make sense of an address, told here so that the setting can be named: their own error says
// only that some URL is invalid.

/** Whether it can be taken apart as the PostgreSQL driver does it, which takes more than a URL may be. */
export function isPostgresAddress(text: string): boolean {
  const url = postgresUrl(text);
  if (!url || !isPort(url.port)) return false;
  // The driver asks for these before what stands in front of the path.
  return url.searchParams.getAll('port').every(isPort) && isDecodable(url);
}

export function isHttpAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isPort(url.port) && isDecodable(url);
}

const BARE_SPACE_OR_PERCENT = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i;

function postgresUrl(text: string): URL | null {
  const encoded = BARE_SPACE_OR_PERCENT.test(text) ? encodeURI(text).replace(/%25(\d\d)/g, '%$1') : text;
  // A login without a host (user:password@/database) is no URL, and yet an address.
  return URL.parse(encoded) ?? URL.parse(encoded.replace('@/', '@none/'));
}

/** Empty where none is named. */
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
