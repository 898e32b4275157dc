import { setting, wholeNumber } from '../setting.ts';

export const metricsSettings = {
  metricsPort: setting(
    'METRICS_PORT',
    'The port of the metrics: `GET /metrics`, in the text format of Prometheus. 0 takes any free one.',
    {
      ...wholeNumber(0, 65_535),
      fallback: undefined as number | undefined,
      fallbackText: 'no metrics are served',
    },
  ),
  metricsHost: setting(
    'METRICS_HOST',
    'The address that the port of the metrics binds to. There is no sign-in: make it reachable for your Prometheus only.',
    {
      expected: 'a host name or an IP address',
      fallback: '127.0.0.1',
      parse: (text) => (/^[A-Za-z0-9.:_-]{1,255}$/.test(text) ? text : undefined),
    },
  ),
};
