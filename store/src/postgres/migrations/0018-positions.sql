-- Settlements are kept for hours (functions/fold_settled_requests.sql).
--
-- Up to which byte the ledger has counted each segment of a journal. It commits with the sums, so it recognises a record that comes
-- again when its settlement is no longer a row.
CREATE TABLE journal_positions (
  origin uuid NOT NULL,
  sequence bigint NOT NULL,
  settled_bytes bigint NOT NULL CHECK (settled_bytes >= 0),
  settled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (origin, sequence)
);
CREATE INDEX journal_positions_by_time ON journal_positions (settled_at);

-- Whether a position that committed with this row covers its record. A gateway of the version before writes none.
ALTER TABLE settlements ADD COLUMN is_positioned boolean NOT NULL DEFAULT false;

-- Of ids from `opened_at` on and before `folded_before`, rows with a position are folded. Up to `folded_until` they have been.
ALTER TABLE settlement_horizon
  ADD COLUMN folded_before uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  ADD COLUMN folded_until uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
UPDATE settlement_horizon SET folded_before = opened_at, folded_until = opened_at;
ALTER TABLE settlement_horizon
  ADD CONSTRAINT settlement_horizon_fold_check CHECK (folded_until <= folded_before);
