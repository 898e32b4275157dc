import { Button } from 'react-aria-components/Button';
import { Tooltip } from '../ui/tooltip.tsx';
import * as styles from './legend.module.css';
import { colourProperty, type Series } from './series.ts';

export interface LegendProps {
  readonly series: readonly Series[];
  readonly shown: ReadonlySet<string>;
  readonly format: (value: number) => string;
  /** A click shows one alone; with Ctrl or ⌘ it switches one. */
  readonly onPick: (id: string, isToggle: boolean) => void;
  readonly onFilter?: ((id: string) => void) | undefined;
}

export function Legend({ series, shown, format, onPick, onFilter }: LegendProps) {
  return (
    <ul className={styles.legend} aria-label="Series">
      {series.map((each, index) => (
        <li key={each.id} className={styles.entry}>
          <Button
            className={styles.pick}
            aria-pressed={shown.has(each.id)}
            onPress={(event) => onPick(each.id, event.ctrlKey || event.metaKey)}
          >
            <span
              className={styles.swatch}
              style={{ '--swatch': `var(${colourProperty(each, index)})` } as object}
              data-dashed={each.isDashed || undefined}
            />
            <bdi className={styles.label}>{each.label}</bdi>
            {each.total === undefined || each.total === null ? undefined : (
              <span className={styles.total}>{format(each.total)}</span>
            )}
          </Button>
          {onFilter === undefined || each.canFilter === false ? undefined : (
            <Tooltip text={`Filter the page by ${each.label}`}>
              <Button
                className={styles.filter}
                aria-label={`Filter the page by ${each.label}`}
                onPress={() => onFilter(each.id)}
              >
                <svg width="11" height="11" viewBox="0 0 11 11" aria-hidden="true">
                  <path d="M1 2h9L6.7 6v3.4L4.3 8V6Z" />
                </svg>
              </Button>
            </Tooltip>
          )}
        </li>
      ))}
    </ul>
  );
}
