import { generatedDocuments, generatedSdk } from '@gatehouse/contract';
import { limitsDocument } from '@gatehouse/gateway/limits-document';
import { translationDocument } from '@gatehouse/gateway/translation-document';
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
    'docs/translation.md': translationDocument(),
  };
}
