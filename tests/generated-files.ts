import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedDocuments, generatedSdk } from '@gatehouse/contract';
import { limitsDocument } from '@gatehouse/gateway/limits-document';
import { withTranslationTables } from '@gatehouse/gateway/translation-document';
import { metricsDocument } from '@gatehouse/observability/metrics-document';
import { configurationDocument } from 'gatehouse/configuration-document';
import { envExample } from 'gatehouse/env-example';

/** The committed files that are written from code, by their path from the project's root. */
export function generatedFiles(): Record<string, string> {
  return {
    ...generatedDocuments(),
    ...generatedSdk(),
    '.env.example': envExample(),
    'docs/configuration.md': configurationDocument(),
    'docs/gateway-limits.md': limitsDocument(),
    'docs/metrics.md': metricsDocument(),
    'docs/translation.md': withTranslationTables(page('docs/translation.md')),
  };
}

/** A page whose tables alone are written from code. */
function page(path: string): string {
  return readFileSync(join(import.meta.dirname, '..', path), 'utf8');
}
