import { Badge } from '../../ui/badge.tsx';
import * as styles from './models.module.css';

/** Whether a request can name the model, and whether the organisation's own key would pay the provider. */
export function ModelStateBadges({ isActive, hasOwnKey }: { isActive: boolean; hasOwnKey: boolean }) {
  return (
    <span className={styles.badges}>
      {isActive ? <Badge tone="good">Active</Badge> : <Badge>Inactive</Badge>}
      {hasOwnKey ? <Badge tone="info">Own key</Badge> : undefined}
    </span>
  );
}
