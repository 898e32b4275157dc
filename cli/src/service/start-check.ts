import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { clickhouseFileIssues } from '../config/clickhouse-issues.ts';
import {
  type Config,
  configErrorFor,
  inspectSettings,
  type Role,
  readConfig,
  type Values,
} from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { connectionIssues, redisFileIssues } from '../config/connection-issues.ts';
import { chosenPorts, portIssues } from '../listen/ports.ts';
import { certificateFiles, readCertificate } from '../listen/tls-files.ts';
import { openFilesIssues, openFilesLimit } from '../process/open-files.ts';
import { unusableParts } from './data-owner.ts';

/**
 * The settings of a service, checked before anything is opened or created: their values, the ports, and the files that
 * they name. Throws ConfigError with all that is wrong, in one message.
 */
export async function checkedConfig(
  environment: Readonly<Record<string, string | undefined>>,
  role: Role,
): Promise<Config> {
  const { values, issues } = inspectSettings(environment);
  const found = await Promise.all([
    values.host === undefined ? [] : portIssues(values.host, chosenPorts(values, role)),
    dataDirectoryIssues(values),
    catalogueIssues(values),
    redisFileIssues(values),
    clickhouseFileIssues(values),
    certificateIssues(values),
    openFilesLimit().then((limit) => openFilesIssues(limit, values)),
  ]);
  const all = [...issues, ...found.flat(), ...connectionIssues(values)];
  if (all.length > 0) throw configErrorFor(all, environment);
  return readConfig(environment);
}

/** True if it is there or can be created. */
async function dataDirectoryIssues(values: Partial<Values>): Promise<string[]> {
  const { dataDir } = values;
  if (dataDir === undefined) return [];
  const issue = (why: string) => [
    `DATA_DIR is ${JSON.stringify(dataDir)}, ${why}; set it to a directory that this user can write`,
  ];
  for (let path = resolve(dataDir); ; path = dirname(path)) {
    try {
      if (!(await stat(path)).isDirectory()) return issue(`but ${path} is not a directory`);
      if (path === resolve(dataDir)) return unusableParts(dataDir, values);
      await access(path, constants.W_OK | constants.X_OK);
      return [];
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' || dirname(path) === path) return issue(`which cannot be used: ${message}`);
    }
  }
}

/** Its content is checked when it is loaded. */
async function catalogueIssues({ catalogue }: Partial<Values>): Promise<string[]> {
  if (catalogue === undefined) return [];
  try {
    await access(resolve(catalogue), constants.R_OK);
    return [];
  } catch (error) {
    const { message } = error as Error;
    return [
      `CATALOGUE is ${JSON.stringify(catalogue)}, which cannot be read: ${message}; set it to a file of routes, or remove it for the catalogue.yaml of this project`,
    ];
  }
}

async function certificateIssues(values: Partial<Values>): Promise<readonly string[]> {
  const files = certificateFiles(values);
  if (files === undefined) return [];
  try {
    await readCertificate(files);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}
