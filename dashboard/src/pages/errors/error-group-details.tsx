import type { GetTrendReply } from '@gatehouse/sdk';
import { useFilterOptions } from '../../app/filter-options.ts';
import { count, percent, plural } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorExamples } from './error-examples.tsx';
import { errorHelp, SOURCES } from './error-help.ts';
import * as styles from './errors-page.module.css';
import { type ErrorsSearch, type Grouping, isGroup } from './errors-search.ts';
import { GroupName, UNKNOWN_WORDS } from './group-words.tsx';

export interface ErrorGroupDetailsProps {
  readonly search: ErrorsSearch;
  readonly by: Grouping;
  /** Null: the errors without one. */
  readonly group: string | null;
  /** Undefined where the window has none of it. */
  readonly known: GetTrendReply['groups'][number] | undefined;
  /** All errors. */
  readonly total: number | undefined;
  readonly refreshMs: number | false;
  readonly onChange: (search: ErrorsSearch) => void;
}

/** The chosen group: what it means, what to do, and its newest errors. */
export function ErrorGroupDetails({
  search,
  by,
  group,
  known,
  total,
  refreshMs,
  onChange,
}: ErrorGroupDetailsProps) {
  const { keys } = useFilterOptions();
  const name =
    known?.name ?? (by === 'key' ? keys.find(({ value }) => value === group)?.label : group) ?? null;
  const errors = known?.requests ?? 0;
  return (
    <div className={styles.details}>
      <Card
        title={<GroupName by={by} group={group} name={name} />}
        caption={
          total === undefined
            ? ' '
            : `${plural(errors, 'error')}${total === 0 ? '' : `, ${percent(errors / total)} of ${count(total)}`}`
        }
        actions={
          group !== null && (by === 'model' || by === 'key') ? (
            <Button
              size="s"
              onPress={() =>
                onChange({ ...search, [by]: group, by: undefined, group: undefined, unknown: undefined })
              }
            >
              Show its codes
            </Button>
          ) : undefined
        }
      >
        {by === 'error_code' && group !== null ? <Help code={group} /> : undefined}
        {by === 'error_code' && group !== null ? undefined : (
          <p className={styles.text}>{sentence(by, group)}</p>
        )}
      </Card>
      {group !== null && isGroup(by, group) ? (
        <ErrorExamples search={search} by={by} group={group} refreshMs={refreshMs} />
      ) : undefined}
    </div>
  );
}

function Help({ code }: { code: string }) {
  const { title, explanation, advice, source } = errorHelp(code);
  return (
    <div className={styles.help}>
      <p className={styles.meaning}>
        {title} <Badge tone={source === 'service' ? 'bad' : 'neutral'}>{SOURCES[source]}</Badge>
      </p>
      <p className={styles.text}>{explanation}</p>
      <h3 className={styles.label}>What to do</h3>
      <p className={styles.text}>{advice}</p>
    </div>
  );
}

function sentence(by: Grouping, group: string | null): string {
  if (group === null)
    return `These requests were ${UNKNOWN_WORDS[by].replace('without', 'refused without')}, so the request log cannot list them alone. The codes say why they failed.`;
  switch (by) {
    case 'status':
      return Number(group) < 400
        ? 'The answer had begun with this status and broke later. The codes say why.'
        : Number(group) < 500
          ? 'The request was refused, by the gateway or by the provider. The codes say why.'
          : 'The request failed at the gateway or at the provider. The codes say why.';
    case 'model':
      return 'Requests for this model that failed, with the name as the caller wrote it. Their codes say why.';
    default:
      return 'Requests with this key that failed. Their codes say why.';
  }
}
