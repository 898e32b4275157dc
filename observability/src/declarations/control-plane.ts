import { counter, gauge, histogram } from '../declaration.ts';

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const apiMetrics = {
  requests: counter('gatehouse_api_requests_total', {
    labels: ['operation', 'status'],
    unit: 'requests',
    meaning:
      'Answered requests. `operation` is the endpoint, or empty; `status` is empty where the caller left first.',
    alert: 'the share of status 5xx',
  }),
  requestSeconds: histogram('gatehouse_api_request_duration_seconds', REQUEST_SECONDS, {
    labels: ['operation'],
    unit: 'seconds',
    meaning: 'From the headers of a request to the end of its answer.',
    alert: 'a 99th percentile above one second, but for exports',
  }),
  analyticsQueries: counter('gatehouse_analytics_queries_total', {
    labels: ['outcome'],
    unit: 'queries',
    meaning:
      'Queries of the telemetry store. `outcome`: `answered`, `failed` (no answer) or `rejected` (the organisation’s queue was full, or no permit came in time).',
    alert: 'any `failed`',
  }),
};

export const alertMetrics = {
  attempts: counter('gatehouse_alert_attempts_total', {
    labels: ['channel', 'outcome'],
    unit: 'attempts',
    meaning:
      'Attempts to deliver an alert, by kind of channel. `outcome`: `delivered`, `failed` (tried again) or `given_up` (a day old).',
    alert: 'any `given_up`; any `failed` by email',
  }),
};

export const moneyMetrics = {
  deposited: gauge('gatehouse_money_deposited_pkr', {
    unit: 'PKR',
    meaning:
      'Deposits of all organisations. Amounts are in floating point, read from the ledger every 15 seconds at most, and left out while that fails.',
  }),
  spent: gauge('gatehouse_money_spent_pkr', {
    unit: 'PKR',
    meaning: 'Settled spend of all organisations.',
  }),
  held: gauge('gatehouse_money_held_pkr', {
    unit: 'PKR',
    meaning: 'Credit that requests in flight and unsettled ones hold.',
    alert: 'growth for half an hour',
  }),
  unsettled: gauge('gatehouse_money_unsettled_pkr', {
    unit: 'PKR',
    meaning: 'The cost of finished requests that are not settled yet, part of the holds.',
  }),
};
