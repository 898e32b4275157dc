import { CopyButton } from '../../ui/copy-button.tsx';
import * as styles from './organization-page.module.css';

/** An id, to copy. */
export function Id({ id, of }: { id: string; of: string }) {
  return (
    <span className={styles.id}>
      <code>{id}</code>
      <CopyButton text={id} label={`Copy the id of the ${of}`} />
    </span>
  );
}
