import type { SpendLimit } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { fieldError } from '../../api/errors.ts';
import { readAgain } from '../../api/query-client.ts';
import { browserZone } from '../../browser/intl.ts';
import { pkr, pkrInput } from '../../format/pkr.ts';
import { perWindow } from '../../format/spend-window.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import * as field from '../../ui/field.module.css';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { toast } from '../../ui/toast.tsx';
import { limitAmount } from './limit-amount.ts';
import {
  mostInMonth,
  SCOPES,
  type ScopeKind,
  type SpendWindow,
  thresholdsOf,
  WINDOWS,
} from './limit-words.ts';

const MODES: readonly SelectOption<SpendLimit['mode']>[] = [
  { value: 'refuse', label: 'Refuse what would pass it' },
  { value: 'alert', label: 'Only alert' },
];

export interface LimitDialogProps {
  /** The limit to change; undefined: a new one. */
  readonly target: SpendLimit | undefined;
  /** The projects, keys and members that a limit can name. */
  readonly options: Readonly<Record<'project' | 'key' | 'member', readonly SelectOption<string>[]>>;
  readonly onClose: () => void;
}

/** Makes a spend limit, or changes the amount and the mode of one; scope and window stay as they are. */
export function LimitDialog({ target, options, onClose }: LimitDialogProps) {
  const [kind, setKind] = useState<ScopeKind>('organization');
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [window, setWindow] = useState<SpendWindow>(target?.window ?? 'month');
  const [zone, setZone] = useState(target?.time_zone ?? browserZone.name);
  const [text, setText] = useState(target === undefined ? '' : pkrInput(target.limit_pkr));
  const [mode, setMode] = useState<SpendLimit['mode']>(target?.mode ?? 'refuse');
  const [thresholds, setThresholds] = useState((target?.alert_at ?? [80, 100]).join(', '));
  const [isJudged, setJudged] = useState(false);
  const amount = limitAmount(text);
  const alertAt = thresholdsOf(thresholds);
  const named = kind === 'project' || kind === 'key' || kind === 'member' ? options[kind] : undefined;
  const id = named?.find((option) => option.value === chosen)?.value ?? named?.[0]?.value;
  const nameProblem = kind === 'metadata' && name.trim() === '' ? 'Enter the name.' : undefined;
  const idProblem = named !== undefined && id === undefined;
  const save = useMutation({
    mutationFn: async () => {
      if (amount.kind === 'problem') throw new Error(amount.sentence);
      const changes = { limit_pkr: amount.pkr, mode, ...(alertAt && { alert_at: alertAt }) };
      if (target !== undefined)
        return sendCall(apiCall('updateSpendLimit', { limit_id: target.id, ...changes }));
      const scope =
        kind === 'metadata'
          ? { kind, name: name.trim(), value: value === '' ? null : value }
          : { kind, ...(id !== undefined && { id }) };
      return sendCall(apiCall('createSpendLimit', { scope, window, time_zone: zone.trim(), ...changes }));
    },
    onSuccess: async () => {
      toast(target === undefined ? 'Made the limit' : 'Changed the limit');
      onClose();
      await readAgain('listSpendLimits');
    },
  });
  return (
    <FormDialog
      title={target === undefined ? 'Limit spend' : 'Change this limit'}
      action={target === undefined ? 'Make the limit' : 'Save'}
      isPending={save.isPending}
      onClose={onClose}
      onSubmit={() => {
        setJudged(true);
        if (amount.kind === 'amount' && nameProblem === undefined && !idProblem && alertAt) save.mutate();
      }}
    >
      {target === undefined ? (
        <div className={field.pair}>
          <Select label="Requests of" options={SCOPES} value={kind} onChange={setKind} />
          {named === undefined ? undefined : (
            <Select
              label={SCOPES.find((one) => one.value === kind)?.label ?? ''}
              options={named}
              value={id ?? ''}
              onChange={setChosen}
              hint={kind === 'member' ? 'All keys that the member minted.' : ''}
            />
          )}
          {kind === 'metadata' ? (
            <>
              <TextField
                label="Name"
                value={name}
                onChange={setName}
                autoComplete="off"
                spellCheck="false"
                isMono
                hint={`As in the header X-SVC-Meta-${name.trim() || 'team'}.`}
                error={isJudged ? nameProblem : undefined}
              />
              <TextField
                label="Value"
                value={value}
                onChange={setValue}
                autoComplete="off"
                spellCheck="false"
                isMono
                hint="Empty: each value has the amount for itself."
              />
            </>
          ) : undefined}
        </div>
      ) : undefined}
      <div className={field.pair}>
        <TextField
          label="Amount"
          value={text}
          onChange={setText}
          inputMode="decimal"
          autoComplete="off"
          autoFocus
          unit="PKR"
          hint="0 stops at once."
          error={
            (isJudged && amount.kind === 'problem' ? amount.sentence : undefined) ??
            fieldError(save.error, 'limit_pkr')
          }
        />
        <Select label="Past it" options={MODES} value={mode} onChange={setMode} />
        <TextField
          label="Alert at"
          value={thresholds}
          onChange={setThresholds}
          autoComplete="off"
          spellCheck="false"
          unit="%"
          hint="Per cent of the amount. The amount itself is always told."
          error={isJudged && alertAt === undefined ? 'Enter whole numbers from 1 to 100.' : undefined}
        />
      </div>
      {target === undefined ? (
        <div className={field.pair}>
          <Select label="In each" options={WINDOWS} value={window} onChange={setWindow} />
          {window === 'lifetime' ? undefined : (
            <TextField
              label="By the calendar of"
              value={zone}
              onChange={(next) => {
                setZone(next);
                // The sentence was about what stood there before.
                if (save.error) save.reset();
              }}
              autoComplete="off"
              spellCheck="false"
              hint="The name of a time zone, such as Asia/Karachi."
              error={fieldError(save.error, 'time_zone')}
            />
          )}
        </div>
      ) : undefined}
      {amount.kind === 'amount' ? (
        <Notice tone="info">
          {worstCase(amount.pkr, window, mode, kind === 'metadata' && value === '')}
        </Notice>
      ) : undefined}
      {save.error &&
      fieldError(save.error, 'limit_pkr') === undefined &&
      fieldError(save.error, 'time_zone') === undefined ? (
        <ErrorNotice error={save.error} />
      ) : undefined}
    </FormDialog>
  );
}

function worstCase(
  limitPkr: number,
  window: SpendWindow,
  mode: SpendLimit['mode'],
  isOfEachValue: boolean,
): string {
  if (mode === 'alert') return 'Nothing is refused: the limit counts what is spent, and alerts are sent.';
  const each = isOfEachValue ? ' for each value' : '';
  const most = mostInMonth(window, limitPkr);
  const month =
    window === 'hour' || window === 'day' || window === 'week'
      ? `, which can be ${pkr(most)} in a month`
      : '';
  return `At most ${pkr(limitPkr)} ${perWindow(window)}${each}${month}. A request that could cost more than what is left gets a shorter answer or is refused.`;
}
