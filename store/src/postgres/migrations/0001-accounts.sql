-- Organisations and the people in them.

CREATE TABLE organizations (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  -- What uniqueness is judged by: the NFKC form of the name, case folded by the service.
  name_key text NOT NULL CONSTRAINT organizations_name_key_unique UNIQUE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE users (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  -- Trimmed and lower-cased ASCII, so equality is enough.
  email text NOT NULL CONSTRAINT users_email_unique UNIQUE,
  -- Argon2id in PHC form; null for an account that has no password.
  password_hash text,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX users_by_organization ON users (organization_id, created_at, id);

CREATE TABLE projects (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  organization_id uuid NOT NULL REFERENCES organizations (id),
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX projects_by_organization ON projects (organization_id, created_at, id);

-- One sign-in. It lives until its refresh token expires; ending a session deletes the row, and its access
-- tokens with it.
CREATE TABLE sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  refresh_token_hash bytea NOT NULL CONSTRAINT sessions_refresh_token_unique UNIQUE,
  refresh_expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (refresh_expires_at);

-- A session may have several live access tokens: two tabs that refresh at once must both keep working.
CREATE TABLE access_tokens (
  token_hash bytea PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);

CREATE INDEX access_tokens_by_session ON access_tokens (session_id);
CREATE INDEX access_tokens_by_expiry ON access_tokens (expires_at);

-- Sign-ins that failed, by address, whether or not an account has it. The hash bounds what a caller can store.
CREATE TABLE failed_sign_ins (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email_hash bytea NOT NULL,
  failed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX failed_sign_ins_by_email ON failed_sign_ins (email_hash, failed_at);
CREATE INDEX failed_sign_ins_by_time ON failed_sign_ins (failed_at);
