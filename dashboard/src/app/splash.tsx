import { Mark } from '../ui/logo.tsx';
import * as styles from './splash.module.css';

/** While the session is asked for, or the code of a page loads. */
export function Splash() {
  return (
    <div className={styles.splash} role="status" aria-label="Loading">
      <Mark size={32} />
    </div>
  );
}
