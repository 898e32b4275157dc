import { join, resolve } from 'node:path';
import { type EmbeddedClickHouseOptions, openEmbeddedClickHouse } from '@gatehouse/embedded';
import type { TelemetryTarget } from '@gatehouse/store';
import type { Config } from '../config/config.ts';

/** The ClickHouse of the settings. Closes what it started. */
export interface ClickHouseServer extends AsyncDisposable {
  readonly target: TelemetryTarget;
  /** The login that may change the schema. */
  readonly ownerTarget: TelemetryTarget;
  readonly isEmbedded: boolean;
  /** For the start-up text. */
  readonly description: string;
  /** True if the embedded engine answers. True for an external one, which is not contacted here. */
  isReady(): boolean;
  /** The process id of the embedded engine, null while none answers; undefined for an external one. */
  readonly enginePid?: () => number | null;
}

export type ClickHouseConfig = Pick<
  Config,
  'clickhouseUrl' | 'clickhouseOwnerUrl' | 'clickhouseCaFile' | 'clickhouseCluster' | 'dataDir'
>;

/** Starts the embedded engine, or follows the one that runs; an external one is not contacted yet. */
export async function openClickHouseServer(
  { clickhouseUrl, clickhouseOwnerUrl, clickhouseCaFile, clickhouseCluster, dataDir }: ClickHouseConfig,
  options: Omit<EmbeddedClickHouseOptions, 'dataDir'> = {},
): Promise<ClickHouseServer> {
  if (clickhouseUrl !== undefined) {
    const target = (url: string): TelemetryTarget => ({
      url,
      ...(clickhouseCaFile !== undefined && { caFile: clickhouseCaFile }),
      ...(clickhouseCluster !== undefined && { cluster: clickhouseCluster }),
    });
    return {
      target: target(clickhouseUrl),
      ownerTarget: target(clickhouseOwnerUrl ?? clickhouseUrl),
      isEmbedded: false,
      description: 'external (CLICKHOUSE_URL)',
      isReady: () => true,
      async [Symbol.asyncDispose]() {},
    };
  }
  const engine = await openEmbeddedClickHouse({ ...options, dataDir });
  const target = { socketPath: engine.socketPath };
  return {
    target,
    ownerTarget: target,
    isEmbedded: true,
    description: `embedded engine, in ${join(resolve(dataDir), 'clickhouse')}`,
    isReady: () => engine.enginePid() !== null,
    enginePid: () => engine.enginePid(),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}
