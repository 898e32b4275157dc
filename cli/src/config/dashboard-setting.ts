import { setting } from './setting.ts';

export type DashboardMode = 'on' | 'off' | 'watch';

export const dashboardSetting = setting(
  'DASHBOARD',
  'Whether the port of the API also serves the dashboard. `watch` serves what is built while the service runs.',
  {
    expected: 'on, off or watch',
    fallback: 'on' as DashboardMode,
    parse: (text) => (text === 'on' || text === 'off' || text === 'watch' ? text : undefined),
  },
);
