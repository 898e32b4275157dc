import type { RequestSession } from '@gatehouse/sdk';
import { Link } from '@tanstack/react-router';
import { rangeOf } from '../../app/search.ts';
import { duration } from '../../format/duration.ts';
import { count } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Time } from '../../ui/time.tsx';
import type { SessionsSearch } from './sessions-search.ts';

/** More than this is no text to search for. */
const MAX_SEARCH = 300;

export const sessionColumns = (search: SessionsSearch): readonly Column<RequestSession>[] => [
  {
    id: 'session',
    header: 'Session',
    isTitle: true,
    cell: ({ session }) =>
      session.length > MAX_SEARCH ? (
        <Foreign text={session} isMono />
      ) : (
        <Link to="/requests" search={{ ...rangeOf({ ...search }), q: session }}>
          <Foreign text={session} isMono />
        </Link>
      ),
  },
  {
    id: 'models',
    header: 'Models',
    hideBelow: 'm',
    cell: ({ models }) => <Foreign text={models.join(', ')} none="not read" />,
  },
  {
    id: 'requests',
    header: 'Turns',
    width: '84px',
    align: 'end',
    canSort: true,
    cell: ({ requests }) => count(requests),
  },
  {
    id: 'errors',
    header: 'Errors',
    width: '80px',
    align: 'end',
    cell: ({ errors }) => (errors === 0 ? '–' : count(errors)),
  },
  { id: 'tokens', header: 'Tokens', width: '104px', align: 'end', cell: ({ tokens }) => count(tokens) },
  {
    id: 'cost',
    header: 'PKR',
    width: '104px',
    align: 'end',
    canSort: true,
    cell: ({ cost_pkr }) => <Amount value={cost_pkr} unit={false} />,
  },
  {
    id: 'duration',
    header: 'Lasted',
    width: '112px',
    align: 'end',
    canSort: true,
    cell: ({ duration_ms }) => duration(duration_ms),
  },
  {
    id: 'last_request',
    header: 'Last request',
    width: '150px',
    align: 'end',
    canSort: true,
    cell: ({ last_request_at }) => <Time at={last_request_at} relative />,
  },
];
