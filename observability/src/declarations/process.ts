import { counter, gauge } from '../declaration.ts';

export const postgresMetrics = {
  connections: gauge('gatehouse_postgres_connections', {
    labels: ['state'],
    unit: 'connections',
    meaning: 'Open connections of the pool. `state`: `busy` or `idle`.',
  }),
  waiting: gauge('gatehouse_postgres_pool_waiting', {
    unit: 'statements',
    meaning: 'Statements and transactions that wait for a connection of the pool.',
    alert: 'above 0 for a minute',
  }),
  errors: counter('gatehouse_postgres_errors_total', {
    labels: ['kind'],
    unit: 'errors',
    meaning:
      'Errors of statements. `kind`: `unavailable` (the server cannot be used, or not in time) or `rejected` (it refused the statement; an expected constraint counts too).',
    alert: 'any `unavailable` for five minutes',
  }),
};

export const queueMetrics = {
  depth: gauge('gatehouse_queue_depth', {
    labels: ['queue'],
    unit: 'requests',
    meaning:
      'What waits. In the gateway: `key_reads`, `admissions` and `routes` for the database, `readers` for a thread that reads a large body, `cooling` for a provider. In the API: `sessions`, `organizations` and `callers` for the database, `analytics` for the telemetry store.',
    alert: 'above 100 for a minute',
  }),
};

export const processMetrics = {
  buildInfo: gauge('gatehouse_build_info', {
    labels: ['version', 'node'],
    unit: '1',
    meaning: 'The version of Gatehouse and of Node.',
  }),
  up: gauge('gatehouse_process_up', {
    unit: '0 or 1',
    meaning: '1 if the process told its metrics; 0 if not within two seconds.',
    alert: '0 for a minute',
  }),
  restarts: counter('gatehouse_process_restarts_total', {
    unit: 'restarts',
    meaning: 'Gateway processes that ended by themselves and were replaced.',
    alert: 'any',
  }),
  engineUp: gauge('gatehouse_clickhouse_engine_up', {
    unit: '0 or 1',
    meaning: '1 while the embedded ClickHouse engine answers. Absent with an external ClickHouse.',
    alert: '0 for five minutes',
  }),
  engineMemory: gauge('gatehouse_clickhouse_engine_resident_bytes', {
    unit: 'bytes',
    meaning: 'Resident memory of the embedded ClickHouse engine. Linux only.',
  }),
};
