import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  startTransition,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import * as styles from './data-table.module.css';
import { DataTableRow } from './data-table-row.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { SkeletonRows } from './skeleton.tsx';
import { SortHeader, type TableSort } from './sort-header.tsx';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are at the end. */
  readonly align?: 'start' | 'end';
  /** A CSS width: `120px`, `20%`. Columns without one share the rest. */
  readonly width?: string;
  /** The title of the row as a card on a phone; the first column unless another says so. */
  readonly isTitle?: boolean;
  /** Left out below this width of the page; cards on a phone show everything. */
  readonly hideBelow?: 'm' | 'l';
  readonly canSort?: boolean;
}

export interface DataTableProps<Row> {
  /** Its name for screen readers: "Requests". */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first page loads. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** A click on a row, or Enter: opens its details. The arrow keys move between rows. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** The row whose details are open. */
  readonly openKey?: string | undefined;
  /** While the rows of before are shown and new ones load. */
  readonly isStale?: boolean;
  readonly error?: unknown;
  readonly onRetry?: (() => unknown) | undefined;
  /** An `EmptyState`. */
  readonly empty: ReactNode;
  readonly sort?: TableSort | undefined;
  readonly onSort?: ((sort: TableSort) => void) | undefined;
}

/** A page of most lists: a scroll right after the load costs nothing. The first ones do not wait for the others. */
const FIRST_ROWS = 200;
/** The others follow so many at a time, each of which fits into a frame. */
const NEXT_ROWS = 15;
/**
 * From this many rows on, only those near the screen are in the page. Below, all are, because then a scroll costs nothing: to
 * make rows on the way takes several times as long as to move those that are there.
 */
const VIRTUAL_FROM = 500;
const ROW_HEIGHT = 39;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const {
    label,
    columns,
    rows,
    rowKey,
    onOpen,
    openKey,
    isStale = false,
    error,
    onRetry,
    empty,
    sort,
    onSort,
  } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const isVirtual = rows !== undefined && rows.length >= VIRTUAL_FROM;
  const made = useMadeRows(isVirtual ? 0 : (rows?.length ?? 0));
  // One function for the life of the table, so that a row is made again only when something of its own has changed.
  const opens = useRef(onOpen);
  useLayoutEffect(() => {
    opens.current = onOpen;
  });
  const open = useCallback((row: Row) => opens.current?.(row), []);
  useLayoutEffect(() => {
    if (isVirtual && body.current) setTop(body.current.getBoundingClientRect().top + scrollY);
  }, [isVirtual]);
  const virtualizer = useWindowVirtualizer({
    count: isVirtual ? rows.length : 0,
    enabled: isVirtual,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    scrollMargin: top,
  });
  if (error !== undefined && error !== null && rows === undefined)
    return (
      <div className={styles.notice}>
        <ErrorNotice error={error} onRetry={onRetry} />
      </div>
    );
  if (rows === undefined) return <SkeletonRows />;
  if (rows.length === 0) return empty;
  const items = virtualizer.getVirtualItems();
  const shown = isVirtual ? items.map(({ index }) => index) : rows.slice(0, made).map((_, index) => index);
  const before = isVirtual ? (items[0]?.start ?? 0) - (items.length > 0 ? top : 0) : 0;
  const after = isVirtual
    ? virtualizer.getTotalSize() - ((items.at(-1)?.end ?? 0) - top)
    : (rows.length - shown.length) * ROW_HEIGHT;
  const title = columns.find(({ isTitle }) => isTitle === true)?.id ?? columns[0]?.id;
  return (
    <div className={styles.scroller} aria-busy={isStale} data-stale={isStale || undefined}>
      {error !== undefined && error !== null ? (
        <div className={styles.notice}>
          <ErrorNotice error={error} onRetry={onRetry} />
        </div>
      ) : undefined}
      {/* biome-ignore-start lint/a11y: as cards on a phone its elements are no table to the browser, so the roles are said */}
      <table className={styles.table} role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <colgroup>
          {columns.map(({ id, width, hideBelow }) => (
            <col key={id} data-hide-below={hideBelow} style={width === undefined ? {} : { width }} />
          ))}
        </colgroup>
        <thead className={styles.head} role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <SortHeader
                key={column.id}
                id={column.id}
                text={column.header}
                align={column.align}
                hideBelow={column.hideBelow}
                sort={sort}
                onSort={column.canSort === true ? onSort : undefined}
              />
            ))}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup" onKeyDown={moveFocus}>
          {before > 0 ? <tr aria-hidden="true" style={{ height: before }} /> : undefined}
          {shown.map((index) => {
            const row = rows[index];
            if (row === undefined) return undefined;
            const key = rowKey(row);
            return (
              <DataTableRow
                key={key}
                row={row}
                index={index}
                columns={columns}
                title={title}
                isOpen={key === openKey}
                onOpen={onOpen === undefined ? undefined : open}
                measure={isVirtual ? virtualizer.measureElement : undefined}
              />
            );
          })}
          {after > 0 ? <tr aria-hidden="true" style={{ height: after }} /> : undefined}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y: see above */}
    </div>
  );
}

function moveFocus(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const row = (event.target as Element).closest('tr');
  const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling;
  if (!(next instanceof HTMLElement) || next.tabIndex < 0) return;
  event.preventDefault();
  next.focus();
}

/** How many rows are in the page by now: the first at once, then more after each frame. */
function useMadeRows(wanted: number): number {
  const [made, setMade] = useState(FIRST_ROWS);
  useEffect(() => {
    if (made >= wanted) return;
    const frame = requestAnimationFrame(() => startTransition(() => setMade(made + NEXT_ROWS)));
    return () => cancelAnimationFrame(frame);
  }, [made, wanted]);
  return made;
}
