import {
  ActivityLogIcon,
  BellIcon,
  CubeIcon,
  DashboardIcon,
  ExclamationTriangleIcon,
  GlobeIcon,
  HomeIcon,
  LayersIcon,
  ListBulletIcon,
  LockClosedIcon,
  MixerVerticalIcon,
  PersonIcon,
  TimerIcon,
} from '@radix-ui/react-icons';
import type { ComponentType } from 'react';

export interface NavigationItem {
  readonly to: string;
  readonly label: string;
  readonly icon: ComponentType;
  /** More words by which the command palette finds it. */
  readonly words?: string;
  /** True if its page has a time range, which a click takes along. */
  readonly hasRange?: boolean;
}

export interface NavigationGroup {
  readonly title: string;
  readonly items: readonly NavigationItem[];
}

/** The pages, as the sidebar and the command palette list them. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'Traffic',
    items: [
      { to: '/', label: 'Overview', icon: DashboardIcon, words: 'home figures budget', hasRange: true },
      {
        to: '/requests',
        label: 'Requests',
        icon: ListBulletIcon,
        words: 'log search export csv',
        hasRange: true,
      },
      {
        to: '/sessions',
        label: 'Sessions',
        icon: LayersIcon,
        words: 'agents claude codex turns conversations',
        hasRange: true,
      },
      {
        to: '/errors',
        label: 'Errors',
        icon: ExclamationTriangleIcon,
        words: 'failed refused status code 429',
        hasRange: true,
      },
      {
        to: '/usage',
        label: 'Usage',
        icon: TimerIcon,
        words: 'throttling rate limit 429 peak',
        hasRange: true,
      },
    ],
  },
  {
    title: 'Gateway',
    items: [
      { to: '/keys', label: 'Keys', icon: LockClosedIcon, words: 'create mint revoke limits credit secret' },
      {
        to: '/limits',
        label: 'Limits',
        icon: MixerVerticalIcon,
        words: 'spend budget caps windows day month',
      },
      { to: '/alerts', label: 'Alerts', icon: BellIcon, words: 'webhook email notifications channels' },
      { to: '/models', label: 'Models', icon: CubeIcon, words: 'routes catalogue prices aliases' },
      { to: '/providers', label: 'Providers', icon: GlobeIcon, words: 'vault own key byok' },
    ],
  },
  {
    title: 'Organisation',
    items: [
      { to: '/members', label: 'Members', icon: PersonIcon, words: 'people colleagues roles invite' },
      { to: '/activity', label: 'Activity', icon: ActivityLogIcon, words: 'audit log events changes' },
      {
        to: '/organization',
        label: 'Organisation',
        icon: HomeIcon,
        words: 'rename projects settings account',
      },
    ],
  },
];
