-- An operator deletes an organisation. Its row stays for its activity log and its books; its name is free.

ALTER TABLE organizations ADD COLUMN deleted_at timestamptz;
