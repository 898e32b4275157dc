import { hostSetting } from './host-setting.ts';
import { setting, wholeNumber } from './setting.ts';

export const metricsSettings = {
  metricsPort: setting('METRICS_PORT', 'The port of `GET /metrics`, for Prometheus. 0 takes any free one.', {
    ...wholeNumber(0, 65_535),
    fallback: undefined as number | undefined,
    fallbackText: 'no metrics are served',
  }),
  metricsHost: hostSetting(
    'METRICS_HOST',
    'The address that it binds to. There is no sign-in: let only your Prometheus reach it.',
    'METRICS_PORT',
  ),
};
