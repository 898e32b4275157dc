-- Signing in at an OpenID issuer. An account has one identity of an issuer, and an identity opens one account.

CREATE TABLE user_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  linked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (issuer, subject),
  CONSTRAINT user_identities_one_of_issuer UNIQUE (user_id, issuer)
);

GRANT SELECT, INSERT ON user_identities TO gatehouse_service;
