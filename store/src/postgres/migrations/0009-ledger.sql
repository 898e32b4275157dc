-- Settlements in partitions, a week each, so that they do not grow for ever.
--
-- A request's id begins with the time it was made (UUIDv7), so ranges of ids are ranges of time, and the primary key
-- stays what makes settling twice harmless. After 90 days a week is *closed*: settling refuses ids from it, and
-- whoever brings one is told. Only then is it *folded*: its rows become sums per key, and the partition goes, in one
-- transaction. So a row is either there to be recognised, or its week is closed and a repeat is not counted.
--
--   untimed | other ... | closed, being folded | open weeks, those to come | other ... | untimed
--                       ^ closed_before          (a partition each)
--
-- Ids without a time (from before there was this) lie nearly all in one partition of their own and are kept.

ALTER TABLE settlements RENAME TO settlements_before;
ALTER INDEX settlements_pkey RENAME TO settlements_before_pkey;

CREATE TABLE settlements (
  request_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  key_id uuid NOT NULL,
  cost_micro_pkr bigint NOT NULL CHECK (cost_micro_pkr >= 0),
  settled_at timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (request_id);

-- Where an id goes whose week has no partition. Nothing should.
CREATE TABLE settlements_other PARTITION OF settlements DEFAULT;
-- As a time it would be after the year 2140.
CREATE TABLE settlements_untimed PARTITION OF settlements
  FOR VALUES FROM ('05000000-0000-0000-0000-000000000000') TO (MAXVALUE);

-- What folded settlements came to, per key. The organisation's is the sum of its keys'.
CREATE TABLE settlement_totals (
  key_id uuid NOT NULL,
  organization_id uuid NOT NULL,
  spent_micro_pkr bigint NOT NULL CHECK (spent_micro_pkr >= 0),
  requests bigint NOT NULL CHECK (requests > 0),
  PRIMARY KEY (key_id, organization_id)
);
CREATE INDEX settlement_totals_by_organization ON settlement_totals (organization_id);

-- Ids from `opened_at` on and before `closed_before` are closed. One row.
CREATE TABLE settlement_horizon (
  is_the_row boolean PRIMARY KEY DEFAULT true CHECK (is_the_row),
  opened_at uuid NOT NULL,
  closed_before uuid NOT NULL CHECK (closed_before >= opened_at)
);

-- The first id of a moment.
CREATE FUNCTION settlement_bound(in_moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT rpad(lpad(to_hex(floor(extract(epoch FROM in_moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- The Monday 00:00 UTC of the week that a moment is in.
CREATE FUNCTION settlement_week(in_moment timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT date_trunc('week', in_moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
$$;

CREATE FUNCTION settlement_partition(in_week timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'settlements_' || to_char(in_week AT TIME ZONE 'UTC', 'YYYYMMDD')
$$;

-- Settling takes this lock shared, so that a transaction that has looked at the horizon commits before it moves; what
-- changes the partitions or the horizon takes it for itself. 7215534103 is any number, the same wherever it is named.
CREATE FUNCTION lock_settlements() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7215534103)
$$;

-- Makes the partition of a week, and moves into it what had to go elsewhere. Whoever calls it holds the lock.
CREATE FUNCTION make_settlement_partition(in_week timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  name text := settlement_partition(in_week);
  first_id uuid := settlement_bound(in_week);
  next_id uuid := settlement_bound(in_week + interval '7 days');
BEGIN
  EXECUTE format('CREATE TABLE %I (LIKE settlements INCLUDING ALL)', name);
  LOCK TABLE settlements_other IN ACCESS EXCLUSIVE MODE;
  EXECUTE format(
    'WITH moved AS (DELETE FROM settlements_other WHERE request_id >= %L AND request_id < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', first_id, next_id, name);
  EXECUTE format('ALTER TABLE settlements ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                 name, first_id, next_id);
END
$$;

-- Closes every week that ends at this moment or before. The horizon never goes back.
CREATE FUNCTION close_settlements(in_until timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  target uuid := settlement_bound(settlement_week(in_until));
BEGIN
  IF NOT EXISTS (SELECT FROM settlement_horizon WHERE closed_before < target) THEN RETURN false; END IF;
  PERFORM lock_settlements();
  UPDATE settlement_horizon SET closed_before = target WHERE closed_before < target;
  RETURN FOUND;
END
$$;

-- Makes the partitions of the weeks to come and closes those that are past being kept. How long is decided here and
-- not by whoever calls.
CREATE FUNCTION keep_settlements(
  OUT made integer,
  OUT has_closed boolean
) LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  week timestamptz;
BEGIN
  made := 0;
  FOR week IN
    SELECT settlement_week(clock_timestamp()) + n * interval '7 days' FROM generate_series(-1, 5) AS n
  LOOP
    CONTINUE WHEN to_regclass(settlement_partition(week)) IS NOT NULL
      OR EXISTS (SELECT FROM settlement_horizon WHERE settlement_bound(week) < closed_before);
    PERFORM lock_settlements();
    -- Another node may have been faster.
    CONTINUE WHEN to_regclass(settlement_partition(week)) IS NOT NULL;
    PERFORM make_settlement_partition(week);
    made := made + 1;
  END LOOP;
  has_closed := close_settlements(clock_timestamp() - interval '90 days');
END
$$;

-- Folds the oldest closed week, whole. Does nothing when no week is left to fold, or another node is at it. What is
-- folded is gone in the same transaction, so that nothing can be folded twice.
CREATE FUNCTION fold_settlements(
  -- The partition; null when there was nothing to do.
  OUT folded text,
  OUT requests bigint,
  OUT spent_micro_pkr numeric
) LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  horizon settlement_horizon%ROWTYPE;
  source text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7215534104) THEN RETURN; END IF;
  SELECT * INTO horizon FROM settlement_horizon;
  SELECT c.relname INTO folded
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'settlements'::regclass AND c.relname ~ '^settlements_\d{8}$'
    AND settlement_bound(to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' + interval '7 days')
        <= horizon.closed_before
  ORDER BY c.relname LIMIT 1;
  IF FOUND THEN
    -- Nobody settles into a closed week. Should anybody insert all the same, it is before this or not at all.
    EXECUTE format('LOCK TABLE %I IN SHARE MODE', folded);
    source := format('SELECT * FROM %I', folded);
  ELSE
    -- Weeks that had no partition when they were needed.
    PERFORM FROM settlements_other
    WHERE request_id >= horizon.opened_at AND request_id < horizon.closed_before LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    folded := 'settlements_other';
    source := format('DELETE FROM settlements_other WHERE request_id >= %L AND request_id < %L RETURNING *',
                     horizon.opened_at, horizon.closed_before);
  END IF;

  EXECUTE format($query$
    WITH source AS (%s), total AS (
      INSERT INTO settlement_totals AS t (key_id, organization_id, spent_micro_pkr, requests)
      SELECT key_id, organization_id, sum(cost_micro_pkr), count(*) FROM source
      GROUP BY key_id, organization_id ORDER BY key_id, organization_id
      ON CONFLICT (key_id, organization_id) DO UPDATE
        SET spent_micro_pkr = t.spent_micro_pkr + excluded.spent_micro_pkr,
            requests = t.requests + excluded.requests
    )
    SELECT count(*), coalesce(sum(cost_micro_pkr), 0) FROM source
  $query$, source) INTO requests, spent_micro_pkr;

  IF folded <> 'settlements_other' THEN
    -- Last, so that settling waits for the drop alone and not for the sums.
    PERFORM lock_settlements();
    EXECUTE format('DROP TABLE %I', folded);
  END IF;
END
$$;

-- Weeks from the last one on: a gateway's clock may be a little behind.
INSERT INTO settlement_horizon (opened_at, closed_before)
SELECT bound, bound FROM settlement_bound(settlement_week(clock_timestamp()) - interval '7 days') AS bound;
SELECT keep_settlements();
INSERT INTO settlements SELECT * FROM settlements_before;
DROP TABLE settlements_before;

-- Admission also refuses what could not be settled: a request with an id from a closed week. Only a gateway whose clock
-- is months behind makes such a one.
CREATE OR REPLACE FUNCTION admit_request(
  in_request_id uuid,
  in_key_id uuid,
  in_amount_micro_pkr bigint,
  in_hold_ms bigint,
  -- admitted, revoked, expired, key_credit_exhausted, budget_exhausted or id_is_closed
  OUT verdict text,
  -- What the key could still have held, where that was too little; null otherwise.
  OUT available_micro_pkr bigint
) LANGUAGE plpgsql AS $$
DECLARE
  the_key api_keys%ROWTYPE;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);

  PERFORM FROM settlement_horizon WHERE in_request_id >= opened_at AND in_request_id < closed_before;
  IF FOUND THEN
    verdict := 'id_is_closed';
    RETURN;
  END IF;

  SELECT * INTO the_key FROM api_keys WHERE id = in_key_id FOR NO KEY UPDATE;
  IF NOT FOUND OR the_key.revoked_at IS NOT NULL THEN
    verdict := 'revoked';
    RETURN;
  END IF;
  IF the_key.expires_at <= clock_timestamp() THEN
    verdict := 'expired';
    RETURN;
  END IF;

  -- Differences and not sums on the side of what is there: nothing the caller sends can make them overflow.
  available_micro_pkr :=
    the_key.credit_limit_micro_pkr - the_key.spent_micro_pkr - the_key.held_micro_pkr;
  -- What is used up stays used up, also for a request that costs nothing.
  IF in_amount_micro_pkr > available_micro_pkr
    OR the_key.spent_micro_pkr >= the_key.credit_limit_micro_pkr
  THEN
    verdict := 'key_credit_exhausted';
    RETURN;
  END IF;
  available_micro_pkr := NULL;

  UPDATE balances SET held_micro_pkr = held_micro_pkr + in_amount_micro_pkr
  WHERE organization_id = the_key.organization_id
    AND in_amount_micro_pkr <= deposited_micro_pkr - spent_micro_pkr - held_micro_pkr;
  IF NOT FOUND THEN
    verdict := 'budget_exhausted';
    RETURN;
  END IF;

  UPDATE api_keys SET held_micro_pkr = held_micro_pkr + in_amount_micro_pkr WHERE id = in_key_id;
  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
  VALUES (in_request_id, in_key_id, the_key.organization_id, in_amount_micro_pkr,
          clock_timestamp() + in_hold_ms * interval '1 millisecond');
  verdict := 'admitted';
END
$$;

-- The same for many requests at once, each judged by itself and in the order they come, key by key: one round trip and
-- one lock for all, where each would wait for the one before it. Locks are taken in the order that everybody keeps,
-- keys by id and then balances by organisation. Rows are looked up one by one by their keys: a join would be planned by
-- what the tables were like some time ago, and a bad plan costs more than all the look-ups.
CREATE FUNCTION admit_requests(
  in_request_ids uuid[],
  in_key_ids uuid[],
  in_amounts_micro_pkr bigint[],
  -- Whether the organisation's own provider key is used: the balance then does not bind.
  in_are_byok boolean[],
  in_hold_ms bigint[]
) RETURNS TABLE (
  -- Counted from 1, as they came.
  place bigint,
  verdict text,
  available_micro_pkr bigint
) LANGUAGE plpgsql AS $$
DECLARE
  horizon settlement_horizon%ROWTYPE;
  key_id uuid;
  the_key api_keys%ROWTYPE;
  keys api_keys[] := '{}';
  found_ids uuid[] := '{}';
  balance balances%ROWTYPE;
  in_amount bigint;
  taken_of_key bigint;
  taken_of_organization bigint := 0;
  admitted bigint[] := '{}';
  admitted_organizations uuid[] := '{}';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO horizon FROM settlement_horizon;

  FOR key_id IN SELECT DISTINCT k FROM unnest(in_key_ids) AS k ORDER BY k LOOP
    SELECT * INTO the_key FROM api_keys WHERE id = key_id FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND;
    keys := keys || the_key;
    found_ids := found_ids || key_id;
  END LOOP;

  FOR the_key IN SELECT * FROM unnest(keys) AS k ORDER BY k.organization_id, k.id LOOP
    IF the_key.organization_id IS DISTINCT FROM balance.organization_id THEN
      UPDATE balances b SET held_micro_pkr = b.held_micro_pkr + taken_of_organization
      WHERE b.organization_id = balance.organization_id AND taken_of_organization > 0;
      SELECT * INTO balance FROM balances b WHERE b.organization_id = the_key.organization_id FOR NO KEY UPDATE;
      taken_of_organization := 0;
    END IF;
    taken_of_key := 0;
    FOR place IN
      SELECT n FROM unnest(in_key_ids) WITH ORDINALITY AS k (id, n) WHERE k.id = the_key.id ORDER BY n
    LOOP
      in_amount := in_amounts_micro_pkr[place];
      -- The rules of admit_request, one by one.
      available_micro_pkr := NULL;
      IF in_request_ids[place] >= horizon.opened_at AND in_request_ids[place] < horizon.closed_before THEN
        verdict := 'id_is_closed';
      ELSIF the_key.revoked_at IS NOT NULL THEN
        verdict := 'revoked';
      ELSIF the_key.expires_at <= clock_timestamp() THEN
        verdict := 'expired';
      ELSIF in_amount
            > the_key.credit_limit_micro_pkr - the_key.spent_micro_pkr - the_key.held_micro_pkr - taken_of_key
        OR the_key.spent_micro_pkr >= the_key.credit_limit_micro_pkr
      THEN
        verdict := 'key_credit_exhausted';
        available_micro_pkr :=
          the_key.credit_limit_micro_pkr - the_key.spent_micro_pkr - the_key.held_micro_pkr - taken_of_key;
      ELSIF in_are_byok[place] OR in_amount
            <= balance.deposited_micro_pkr - balance.spent_micro_pkr - balance.held_micro_pkr - taken_of_organization
      THEN
        verdict := 'admitted';
        taken_of_key := taken_of_key + in_amount;
        taken_of_organization := taken_of_organization + in_amount;
        admitted := admitted || place;
        admitted_organizations := admitted_organizations || the_key.organization_id;
      ELSE
        verdict := 'budget_exhausted';
      END IF;
      RETURN NEXT;
    END LOOP;
    UPDATE api_keys k SET held_micro_pkr = k.held_micro_pkr + taken_of_key
    WHERE k.id = the_key.id AND taken_of_key > 0;
  END LOOP;
  UPDATE balances b SET held_micro_pkr = b.held_micro_pkr + taken_of_organization
  WHERE b.organization_id = balance.organization_id AND taken_of_organization > 0;

  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline)
  SELECT in_request_ids[a.n], in_key_ids[a.n], a.organization_id, in_amounts_micro_pkr[a.n],
         clock_timestamp() + in_hold_ms[a.n] * interval '1 millisecond'
  FROM unnest(admitted, admitted_organizations) AS a (n, organization_id);

  -- Of keys that do not exist.
  available_micro_pkr := NULL;
  FOR place IN SELECT n FROM unnest(in_key_ids) WITH ORDINALITY AS k (id, n) WHERE k.id <> ALL (found_ids) LOOP
    verdict := CASE WHEN in_request_ids[place] >= horizon.opened_at AND in_request_ids[place] < horizon.closed_before
                    THEN 'id_is_closed' ELSE 'revoked' END;
    RETURN NEXT;
  END LOOP;
END
$$;

-- The two that the service calls act with the owner's rights, take no argument, and look nothing up where their
-- caller can put something. They give up soon on what somebody else holds, because settling waits behind them; they
-- are called again.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION keep_settlements SET search_path = %I, pg_temp', current_schema());
  EXECUTE format('ALTER FUNCTION fold_settlements SET search_path = %I, pg_temp', current_schema());
  ALTER FUNCTION keep_settlements SET lock_timeout = '1s';
  ALTER FUNCTION fold_settlements SET lock_timeout = '1s';
END
$$;
REVOKE EXECUTE ON FUNCTION keep_settlements, fold_settlements, make_settlement_partition, close_settlements
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_settlements, fold_settlements TO gatehouse_service;

-- Through the table itself and in no other way: the partitions are the owner's alone.
GRANT SELECT, INSERT ON settlements TO gatehouse_service;
GRANT SELECT ON settlement_totals, settlement_horizon TO gatehouse_service;
