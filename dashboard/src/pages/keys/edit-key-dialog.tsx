import type { GetBudgetReply, KeyBudget } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { fieldError } from '../../api/errors.ts';
import { now } from '../../browser/clock.ts';
import { pkr, pkrExact, pkrInput } from '../../format/pkr.ts';
import { Amount } from '../../ui/amount.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import * as field from '../../ui/field.module.css';
import { Foreign } from '../../ui/foreign.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import * as list from '../../ui/list-page.module.css';
import { Notice } from '../../ui/notice.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { toast } from '../../ui/toast.tsx';
import { judgeLimit, type LimitBounds, limitBounds, parseAmount, pkrOf } from './credit.ts';
import { type ExpiryChoice, expiryOf, expiryState } from './expiry.ts';
import { ExpiryField } from './expiry-field.tsx';
import * as styles from './keys.module.css';
import { type KeyRow, keysChanged } from './use-keys.ts';

export interface EditKeyDialogProps {
  readonly target: KeyRow;
  /** Undefined where the budget could not be read; then the API alone judges a limit. */
  readonly organization: GetBudgetReply | undefined;
  readonly onClose: () => void;
}

/** Replaces rate, limit and expiry together, as the API does: what is left out there is removed, so all three are sent. */
export function EditKeyDialog({ target, organization, onClose }: EditKeyDialogProps) {
  const at = now();
  const { budget } = target;
  const limitPkr = target.credit_limit_cents === null ? null : pkrOf(BigInt(target.credit_limit_cents));
  const kept =
    target.expires_at !== null && expiryState(target.expires_at, at) !== 'expired'
      ? target.expires_at
      : undefined;
  const [rate, setRate] = useState(String(target.rate_limit_rpm));
  const [isLimited, setLimited] = useState(limitPkr !== null);
  const [limit, setLimit] = useState(limitPkr === null ? '' : pkrInput(limitPkr));
  const [expiry, setExpiry] = useState<{ choice: ExpiryChoice; date: string }>({
    choice: kept === undefined ? 'never' : 'keep',
    date: '',
  });
  const [isJudged, setJudged] = useState(false);

  const bounds = organization && budget && limitBounds(organization, budget);
  const amount = isLimited ? parseAmount(limit) : undefined;
  const expires = expiryOf(expiry.choice, expiry.date, at, target.expires_at);
  const rateProblem = /^[1-9]\d{0,8}$/.test(rate.trim()) ? undefined : 'Enter a whole number of at least 1.';
  const limitProblem =
    amount?.kind === 'problem'
      ? isJudged
        ? amount.sentence
        : undefined
      : amount && bounds && boundsProblem(amount.microPkr, bounds);
  const hasProblem =
    rateProblem !== undefined ||
    amount?.kind === 'problem' ||
    limitProblem !== undefined ||
    expires.kind === 'problem';

  const update = useMutation({
    mutationFn: () =>
      sendCall(
        apiCall('updateKey', {
          key_id: target.id,
          rate_limit_rpm: Number(rate.trim()),
          credit_limit_pkr: amount?.kind === 'amount' ? pkrOf(amount.microPkr) : null,
          expires_at: expires.kind === 'at' ? Math.floor(expires.at.getTime() / 1000) : null,
        }),
      ),
    onSuccess: async () => {
      toast(`Saved ${target.name}`);
      onClose();
      await keysChanged();
    },
    onError: () => void keysChanged(),
  });

  return (
    <FormDialog
      title={
        <>
          Edit <Foreign text={target.name} />
        </>
      }
      action="Save"
      isPending={update.isPending}
      onClose={onClose}
      onSubmit={() => {
        setJudged(true);
        if (!hasProblem) update.mutate();
      }}
    >
      {bounds && budget ? <Bounds bounds={bounds} budget={budget} /> : undefined}
      <Switch isOn={isLimited} onChange={setLimited}>
        Limit its credit
      </Switch>
      <div className={field.pair}>
        {isLimited ? (
          <TextField
            label="Credit limit"
            value={limit}
            onChange={setLimit}
            inputMode="decimal"
            autoComplete="off"
            unit="PKR"
            hint="A lifetime limit, which includes what the key has already spent."
            error={limitProblem ?? fieldError(update.error, 'credit_limit_pkr')}
          />
        ) : (
          <p className={list.muted}>
            {limitPkr === null
              ? 'The key has no limit: it may spend all that the organisation has.'
              : `The limit of ${pkr(limitPkr)} is removed: the key may then spend all that the organisation has.`}
          </p>
        )}
        <TextField
          label="Rate limit"
          value={rate}
          onChange={setRate}
          inputMode="numeric"
          autoComplete="off"
          hint="Requests per minute. More are answered with 429."
          error={(isJudged ? rateProblem : undefined) ?? fieldError(update.error, 'rate_limit_rpm')}
        />
      </div>
      <ExpiryField
        {...expiry}
        onChange={(choice, date) => setExpiry({ choice, date })}
        expiry={expires}
        kept={kept}
        isJudged={isJudged}
      />
      {target.expires_at !== null && kept === undefined ? (
        <Notice tone="warn">This key has expired. Saving gives it the expiry that is chosen here.</Notice>
      ) : undefined}
      {update.error ? <ErrorNotice error={update.error} /> : undefined}
    </FormDialog>
  );
}

function boundsProblem(microPkr: bigint, bounds: LimitBounds): string | undefined {
  switch (judgeLimit(microPkr, bounds)) {
    case 'below-spend':
      return `The key has already spent ${pkrExact(pkrOf(bounds.floorMicroPkr))}; a limit cannot be lower.`;
    case 'above-headroom':
      return `The limits of the other keys leave ${pkrExact(pkrOf(bounds.headroomMicroPkr))} of the deposits; a limit cannot be higher.`;
    case 'accepted':
      return undefined;
  }
}

function Bounds({ bounds, budget }: { bounds: LimitBounds; budget: KeyBudget }) {
  const isImpossible = bounds.headroomMicroPkr < bounds.floorMicroPkr;
  return (
    <>
      <div className={styles.facts}>
        <Fact label="Lowest limit: spent so far">
          <Amount value={budget.spent_pkr} />
        </Fact>
        <Fact label="Highest limit: headroom">
          <Amount value={pkrOf(bounds.headroomMicroPkr)} />
        </Fact>
        <Fact label="Held by requests in flight">
          <Amount value={budget.held_pkr} />
        </Fact>
      </div>
      {isImpossible ? (
        <Notice>
          The limits of the other keys take nearly all deposits, so that no limit is accepted for this key.
          Lower another limit, leave this key without one, or ask your operator for more credit.
        </Notice>
      ) : undefined}
    </>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <span className={styles.fact}>
      <span className={styles.factLabel}>{label}</span>
      <span className={styles.factValue}>{children}</span>
    </span>
  );
}
