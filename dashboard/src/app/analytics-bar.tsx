import { ReloadIcon } from '@radix-ui/react-icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { IconButton } from '../ui/button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { FilterSelect } from '../ui/filter-select.tsx';
import { RangePicker } from '../ui/range-picker.tsx';
import { type AnalyticsSearch, searchRange, withRange } from './analytics-search.ts';
import { useFilterOptions } from './filter-options.ts';

export interface AnalyticsBarProps<Search extends AnalyticsSearch> {
  readonly search: Search;
  /** Puts them into the URL, as a step of the history: the back button undoes it. */
  readonly onChange: (search: Search) => void;
  /** More filters, of this page only. */
  readonly children?: ReactNode;
}

/** The window and the filters of a page over the request log. */
export function AnalyticsBar<Search extends AnalyticsSearch>({
  search,
  onChange,
  children,
}: AnalyticsBarProps<Search>) {
  const { projects, keys, models } = useFilterOptions();
  const queries = useQueryClient();
  // Pending by a press only: what else loads is no reason to refuse one.
  const reload = useMutation({ mutationFn: () => queries.invalidateQueries() });
  return (
    <FilterBar>
      <FilterSelect
        label="Project"
        options={projects}
        value={search.project}
        onChange={(project) => onChange({ ...search, project })}
      />
      <FilterSelect
        label="Key"
        options={keys}
        value={search.key}
        onChange={(key) => onChange({ ...search, key })}
      />
      <FilterSelect
        label="Model"
        options={models}
        value={search.model}
        onChange={(model) => onChange({ ...search, model })}
      />
      {children}
      <RangePicker range={searchRange(search)} onChange={(range) => onChange(withRange(search, range))} />
      <IconButton
        icon={<ReloadIcon />}
        label="Load the newest figures"
        variant="secondary"
        isPending={reload.isPending}
        onPress={() => reload.mutate()}
      />
    </FilterBar>
  );
}
