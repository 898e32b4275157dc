import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { ConnectionUrlError, readConnectionUrl } from '@gatehouse/store';
import { type Config, settings } from './config.ts';

/** Issues of the addresses beyond their form: how they want TLS, and the files that they name. */
export function connectionIssues(
  config: Partial<Pick<Config, 'databaseUrl' | 'databaseOwnerUrl'>>,
): string[] {
  return [settings.databaseUrl, settings.databaseOwnerUrl].flatMap((setting, index) => {
    const url = index === 0 ? config.databaseUrl : config.databaseOwnerUrl;
    if (url === undefined) return [];
    try {
      readConnectionUrl(url);
      return [];
    } catch (error) {
      if (!(error instanceof ConnectionUrlError)) throw error;
      return [`${setting.name} is ${setting.show(url)}, which cannot be used: ${error.message}`];
    }
  });
}

export async function redisFileIssues({
  redisCaFile,
}: Partial<Pick<Config, 'redisCaFile'>>): Promise<string[]> {
  if (redisCaFile === undefined) return [];
  try {
    await access(redisCaFile, constants.R_OK);
    return [];
  } catch (error) {
    return [
      `REDIS_CA_FILE is ${JSON.stringify(redisCaFile)}, which cannot be read: ${(error as Error).message}; set it to a file of CA certificates`,
    ];
  }
}
