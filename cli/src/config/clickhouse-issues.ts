import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Values } from './config.ts';
import { shownAddress, shownText } from './shown-value.ts';

type ClickHouseValues = Partial<
  Pick<Values, 'clickhouseUrl' | 'clickhouseOwnerUrl' | 'clickhouseCaFile' | 'clickhouseCluster'>
>;

/** Issues between the settings of ClickHouse. */
export function clickhouseIssues({
  clickhouseUrl: url,
  clickhouseOwnerUrl: ownerUrl,
  clickhouseCaFile,
  clickhouseCluster,
}: ClickHouseValues): string[] {
  if (url === undefined) {
    return [
      ...(ownerUrl === undefined ? [] : ['CLICKHOUSE_OWNER_URL']),
      ...(clickhouseCaFile === undefined ? [] : ['CLICKHOUSE_CA_FILE']),
      ...(clickhouseCluster === undefined ? [] : ['CLICKHOUSE_CLUSTER']),
    ].map((name) => `${name} is set and CLICKHOUSE_URL is not; set CLICKHOUSE_URL too, or remove ${name}`);
  }
  const issues = [...nameIssues('CLICKHOUSE_URL', url), ...nameIssues('CLICKHOUSE_OWNER_URL', ownerUrl)];
  if (clickhouseCaFile !== undefined && ![url, ownerUrl].some((one) => one && isHttps(one)))
    issues.push('CLICKHOUSE_CA_FILE is set and CLICKHOUSE_URL is not https; use https, or remove the file');
  if (ownerUrl !== undefined && new URL(url).pathname.slice(1) !== new URL(ownerUrl).pathname.slice(1))
    issues.push('CLICKHOUSE_URL and CLICKHOUSE_OWNER_URL name different databases; expected one');
  return issues;
}

const DATABASE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function nameIssues(setting: string, url: string | undefined): string[] {
  if (url === undefined) return [];
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  if (name === '' || DATABASE_NAME.test(name)) return [];
  return [
    `${setting} is ${shownAddress(url)}, whose database ${shownText(name)} cannot be used, expected a name of letters, digits and _, at most 63, that does not start with a digit; name another database, which is created where it is missing`,
  ];
}

function isHttps(url: string): boolean {
  return new URL(url).protocol === 'https:';
}

/** The file of CA certificates, before it is used. */
export async function clickhouseFileIssues({ clickhouseCaFile: file }: ClickHouseValues): Promise<string[]> {
  if (file === undefined) return [];
  try {
    new X509Certificate(await readFile(file));
    return [];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code?.startsWith('E') && !code.startsWith('ERR_') ? message : 'it has no certificate in PEM form';
    return [
      `CLICKHOUSE_CA_FILE is ${JSON.stringify(file)}, which cannot be used: ${why}; set it to a file of CA certificates`,
    ];
  }
}
