import { Badge } from '../../ui/badge.tsx';
import { type ModelUse, useInWords } from './model-use.ts';
import * as styles from './models.module.css';

const BADGES = {
  inactive: <Badge>Inactive</Badge>,
  own: <Badge tone="info">On your key</Badge>,
  platform: <Badge tone="good">Active</Badge>,
} as const;

/** True if a request can name the model, and on whose account it runs. */
export function ModelStateBadge({ use }: { use: ModelUse }) {
  return (
    <span className={styles.badges} title={useInWords(use)}>
      {BADGES[use.kind]}
    </span>
  );
}
