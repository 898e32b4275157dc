import { GatehouseError, type RequestLogEntry } from '@gatehouse/sdk';
import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { SidePanel } from '../../ui/side-panel.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { RequestDetails } from './request-details.tsx';
import type { RequestsSearch } from './requests-search.ts';

export interface RequestPanelProps {
  /** The request of the URL; undefined: closed. */
  readonly id: string | undefined;
  /** Its row, where it is on the page: shown while its attempts load. */
  readonly known: RequestLogEntry | undefined;
  readonly onClose: () => void;
  readonly onFilter: (filter: RequestsSearch) => void;
}

/** The details of one request. Its address can be sent to a colleague. */
export function RequestPanel({ id, known, onClose, onFilter }: RequestPanelProps) {
  const call = apiCall('showRequest', { req_id: id ?? '' });
  const { data, error, refetch } = useQuery({
    ...queryOf(call),
    enabled: id !== undefined,
    // The details of another request say nothing about this one.
    placeholderData: () => undefined,
  });
  const shown = data ?? known;
  // A row that an import wrote has no id with its time, by which the API finds one. What the list knows of it is shown.
  const isUnknown = known !== undefined && error instanceof GatehouseError && error.status === 404;
  return (
    <SidePanel
      title="Request"
      isOpen={id !== undefined}
      onClose={onClose}
      actions={
        <>
          <CopyButton text={() => location.href} label="Copy a link to this request" />
          <CopyCurl call={call} of="this request" />
        </>
      }
    >
      {error && !isUnknown ? <ErrorNotice error={error} onRetry={refetch} /> : undefined}
      {shown === undefined ? (
        error ? undefined : (
          <SkeletonRows rows={10} />
        )
      ) : (
        <RequestDetails entry={shown} attempts={data?.attempts} onFilter={onFilter} />
      )}
    </SidePanel>
  );
}
