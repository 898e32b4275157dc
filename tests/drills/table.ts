import { ATTACK_NAMES } from './attack-kinds.ts';
import type { Drill } from './drill.ts';
import { ROWS } from './outages/rows.ts';

/** A drill of `npm run drill`. CONTRIBUTING.md has a row for each (table.test.ts). */
export interface DrillEntry {
  readonly name: string;
  readonly about: string;
  /** How long it takes with its usual cycles on two cores. */
  readonly duration: string;
  /** What a cycle is, and how many it makes unless `--cycles` says so. */
  readonly cycles: { readonly count: number; readonly of: string };
  /** Whether `--seed` repeats its random choices. */
  readonly isSeeded: boolean;
  /** What `--only` can choose. */
  readonly parts?: readonly string[];
  load(): Promise<Drill>;
}

export const DRILLS: readonly DrillEntry[] = [
  {
    name: 'kills',
    about:
      'kills gateways, APIs, the engine and PostgreSQL at random moments under mixed load, 200, 200, 100 and 20 times; nothing acknowledged is lost or doubled',
    duration: '13 min',
    cycles: { count: 520, of: 'kills of all kinds' },
    isSeeded: true,
    load: async () => (await import('./kills/kills.ts')).drill,
  },
  {
    name: 'telemetry-away',
    about:
      'telemetry is away for 30 minutes of full load, with the time compressed; callers notice nothing, and the backlog is shipped at five times the arrival rate',
    duration: '4 min',
    cycles: { count: 30, of: 'minutes without telemetry' },
    isSeeded: true,
    load: async () => (await import('./kills/telemetry-away.ts')).drill,
  },
  {
    name: 'lost-machine',
    about:
      'a gateway is killed under load and its data directory deleted, again and again; what is lost with it, and that nothing else is',
    duration: '5 min',
    cycles: { count: 20, of: 'lost machines' },
    isSeeded: true,
    load: async () => (await import('./kills/lost-machine.ts')).drill,
  },
  {
    name: 'contested-names',
    about: 'rounds of two renames, and of 20 registrations, that compete for one name over two processes',
    duration: '30 s',
    cycles: { count: 200, of: 'rounds' },
    isSeeded: false,
    load: async () => (await import('./contested-names.ts')).drill,
  },
  {
    name: 'key-changes',
    about:
      "mints, updates and revocations of one organisation's keys from 64 clients over two processes; one serial order must explain every answer",
    duration: '30 s',
    cycles: { count: 10_000, of: 'changes' },
    isSeeded: true,
    load: async () => (await import('./key-changes.ts')).drill,
  },
  {
    name: 'key-race-rounds',
    about: 'races of an update against a settlement and against a revocation',
    duration: '1 min',
    cycles: { count: 1_000, of: 'races of each kind' },
    isSeeded: true,
    load: async () => (await import('./key-race-rounds.ts')).drill,
  },
  {
    name: 'credit',
    about: 'twice as many concurrent requests as the limit covers, over two gateways, repeatedly',
    duration: '1 min',
    cycles: { count: 200, of: 'trials' },
    isSeeded: false,
    load: async () => (await import('./credit.ts')).drill,
  },
  {
    name: 'credit-one-port',
    about: 'the same over two gateway processes on one port',
    duration: '1 min',
    cycles: { count: 200, of: 'trials' },
    isSeeded: false,
    load: async () => (await import('./credit.ts')).drillOnOnePort,
  },
  {
    name: 'credit-histories',
    about:
      'random histories of credit over two gateways, checked against the rules; a failing seed is printed and can be replayed',
    duration: '3 min',
    cycles: { count: 1_000, of: 'histories' },
    isSeeded: true,
    load: async () => (await import('./credit-histories.ts')).drill,
  },
  {
    name: 'fallbacks',
    about: 'requests to three targets that fail at random: all that can be served are, and each is paid once',
    duration: '3 min',
    cycles: { count: 10_000, of: 'requests' },
    isSeeded: true,
    load: async () => (await import('./fallbacks.ts')).drill,
  },
  {
    name: 'revocation',
    about: 'races of a revocation against requests over two gateways',
    duration: '3 min',
    cycles: { count: 10_000, of: 'races' },
    isSeeded: false,
    load: async () => (await import('./revocation.ts')).drill,
  },
  {
    name: 'revocation-one-port',
    about: 'the same over two gateway processes on one port',
    duration: '3 min',
    cycles: { count: 10_000, of: 'races' },
    isSeeded: false,
    load: async () => (await import('./revocation.ts')).drillOnOnePort,
  },
  {
    name: 'rate',
    about: "a key's rate in every 60 seconds of real time",
    duration: '2 min',
    cycles: { count: 125, of: 'seconds' },
    isSeeded: false,
    load: async () => (await import('./rate.ts')).drill,
  },
  {
    name: 'rate-one-port',
    about: 'the same over two gateway processes on one port, one of which is killed every 20 s',
    duration: '2 min',
    cycles: { count: 125, of: 'seconds' },
    isSeeded: false,
    load: async () => (await import('./rate.ts')).drillOnOnePort,
  },
  {
    name: 'rate-in-redis',
    about: 'the same over two gateways with one Redis, which is killed every 50 s and comes back empty',
    duration: '3 min',
    cycles: { count: 185, of: 'seconds' },
    isSeeded: false,
    load: async () => (await import('./rate-in-redis.ts')).drill,
  },
  {
    name: 'nodes',
    about:
      'two APIs and two gateways behind nginx; each is killed or stopped and started again, and a gateway is cut off from the database, under a load of changes and model requests; nothing acknowledged is lost or doubled',
    duration: '2 min',
    cycles: { count: 8, of: 'stops' },
    isSeeded: false,
    load: async () => (await import('./nodes/mixed-load.ts')).drill,
  },
  {
    name: 'nodes-limits',
    about:
      'revocation, rate, credit and headroom over two APIs and two gateways behind nginx, while a gateway and an API are killed and a gateway is cut off from the database',
    duration: '5 min',
    cycles: { count: 4, of: 'rounds of three troubles' },
    isSeeded: false,
    load: async () => (await import('./nodes/limits.ts')).drill,
  },
  {
    name: 'ledger-histories',
    about:
      'random histories of the ledger, with crashes between any two steps; a failing seed is printed and can be replayed',
    duration: '2 min',
    cycles: { count: 100_000, of: 'histories' },
    isSeeded: true,
    load: async () => (await import('./ledger-histories.ts')).drill,
  },
  {
    name: 'vault-rotation',
    about: '20,000 provider keys under load while the rotation of the master key is killed',
    duration: '1 min',
    cycles: { count: 20, of: 'kills' },
    isSeeded: false,
    load: async () => (await import('./vault-rotation.ts')).drill,
  },
  {
    name: 'outages',
    about:
      'each store and provider slow, refused, black-holed and with packets dropped, full disks, wrong clocks: what callers get, how long they wait, what is kept; `--only ROW` runs one row of docs/reliability.md',
    duration: '20 min',
    cycles: { count: 12, of: 'seconds of each outage' },
    isSeeded: false,
    parts: ROWS.map(({ name }) => name),
    load: async () => (await import('./outages/outages.ts')).drill,
  },
  {
    name: 'analytics-fairness',
    about:
      'two hundred heavy queries of one organisation at once, in waves; the latency of another organisation beside its quiet latency',
    duration: '1 min',
    cycles: { count: 3, of: 'waves' },
    isSeeded: false,
    load: async () => (await import('./analytics-fairness.ts')).drill,
  },
  {
    name: 'pipelining',
    about:
      'the latency of one organisation while another pipelines over eight connections, to the API and to the gateway',
    duration: '30 s',
    cycles: { count: 4, of: 'seconds of each measurement' },
    isSeeded: false,
    load: async () => (await import('./pipelining.ts')).drill,
  },
  {
    name: 'wrong-passwords',
    about: 'how many right passwords succeed during a flood of wrong ones',
    duration: '1 min',
    cycles: { count: 69, of: 'right passwords' },
    isSeeded: false,
    load: async () => (await import('./wrong-passwords.ts')).drill,
  },
  {
    name: 'attacks',
    about:
      'eleven attacks on a service with small heaps, three times each; the latency of another organisation beside its quiet latency, the memory and the processor time of each process, the journal',
    duration: '13 min',
    cycles: { count: 10, of: 'seconds of each attack in a round' },
    isSeeded: false,
    parts: ATTACK_NAMES,
    load: async () => (await import('./attacks.ts')).drill,
  },
  {
    name: 'soak',
    about:
      'a steady mixed load at half of the capacity: memory, open files, every table and every folder keep their size, and nothing is lost',
    duration: '1 h',
    cycles: { count: 60, of: 'minutes' },
    isSeeded: true,
    load: async () => (await import('./capacity/soak.ts')).drill,
  },
  {
    name: 'postgres-failover',
    about:
      'kills the primary of PostgreSQL under changes and requests, and promotes its synchronous standby; DATABASE_URL names both. Nothing acknowledged is lost or doubled, and everything else is 503 with Retry-After. Skipped without the PostgreSQL of Debian',
    duration: '1 min',
    cycles: { count: 5, of: 'fail-overs' },
    isSeeded: false,
    load: async () => (await import('./stores/postgres-failover.ts')).drill,
  },
  {
    name: 'rolling-restart',
    about:
      'each node of two APIs and two gateways behind nginx is restarted in turn under load: no request fails, streams of four seconds end whole, nothing is lost or doubled, no key spends more than its limit',
    duration: '3 min',
    cycles: { count: 8, of: 'restarts' },
    isSeeded: false,
    load: async () => (await import('./nodes/rolling.ts')).drillRestart,
  },
  {
    name: 'rolling-upgrade',
    about:
      'the same while each node of an earlier commit is replaced by this version; FROM names the commit, or it is the one before the newest step of the schema',
    duration: '2 min',
    cycles: { count: 4, of: 'nodes' },
    isSeeded: false,
    load: async () => (await import('./nodes/rolling.ts')).drillUpgrade,
  },
];
