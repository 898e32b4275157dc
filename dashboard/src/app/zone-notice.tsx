import { browserZone } from '../browser/intl.ts';
import { Notice } from '../ui/notice.tsx';
import * as styles from './zone-notice.module.css';

const MAX_NAME = 40;

/** The times of the page may differ from the clock of the viewer. Nothing where the browser has a time zone. */
export function ZoneNotice() {
  const { unknown } = browserZone;
  if (unknown === undefined) return undefined;
  return (
    <div className={styles.place}>
      <Notice>
        All times are in UTC, because this browser has no valid time zone
        {unknown === '' ? (
          ''
        ) : (
          <>
            {' '}
            (it says “<bdi>{unknown.slice(0, MAX_NAME)}</bdi>”)
          </>
        )}
        . To see your own, set the time zone of this device, then restart the browser.
      </Notice>
    </div>
  );
}
