import type { ActivityEvent } from '@gatehouse/sdk';
import {
  EnterIcon,
  ExitIcon,
  IdCardIcon,
  LockClosedIcon,
  MixerHorizontalIcon,
  Pencil1Icon,
  PersonIcon,
  PlusCircledIcon,
  TrashIcon,
  UpdateIcon,
} from '@radix-ui/react-icons';
import type { ComponentType } from 'react';
import { activitySentence } from '../../format/activity-sentence.ts';
import * as styles from './activity-line.module.css';

const ICONS: Readonly<Record<string, ComponentType>> = {
  'user.login': EnterIcon,
  'user.logout': ExitIcon,
  'api_key.created': PlusCircledIcon,
  'api_key.updated': MixerHorizontalIcon,
  'api_key.rotated': UpdateIcon,
  'api_key.revoked': TrashIcon,
  'vault_key.set': LockClosedIcon,
  'vault_key.revoked': TrashIcon,
  'org.renamed': Pencil1Icon,
  'member.joined': PersonIcon,
  'budget.deposited': IdCardIcon,
};

/** One event as a sentence. */
export function ActivityLine({ event }: { event: ActivityEvent }) {
  const { actor, isAccount, verb, object, rest, isCode } = activitySentence(event);
  const Icon = ICONS[event.action] ?? MixerHorizontalIcon;
  return (
    <span className={styles.line}>
      <span
        className={styles.icon}
        data-removes={/revoked$/.test(event.action) || undefined}
        aria-hidden="true"
      >
        <Icon />
      </span>
      <span className={styles.sentence}>
        <bdi className={styles.actor} data-account={isAccount || undefined}>
          {actor}
        </bdi>{' '}
        {verb}
        {object === undefined ? undefined : (
          <>
            {' '}
            <bdi className={styles.object} data-code={isCode || undefined}>
              {object}
            </bdi>
          </>
        )}
        {rest === undefined ? undefined : ` ${rest}`}
      </span>
    </span>
  );
}
