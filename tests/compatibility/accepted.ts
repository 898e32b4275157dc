/** Differences that compatibility.test.ts finds and that are no break after all, with the reason. Emptied by each release. */
export const ACCEPTED: Readonly<Record<string, string>> = {
  'api_keys has a new rule: CREATE TRIGGER api_keys_expiry_alert BEFORE INSERT OR UPDATE OF expires_at ON api_keys FOR EACH ROW EXECUTE FUNCTION plan_expiry_alert();':
    'it refuses nothing, and fills a new column',
  'the script PRESENT has changed': 'it makes the same changes of the same keys, in another order',
};
