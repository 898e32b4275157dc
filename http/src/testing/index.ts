export { type CertificateOptions, createCertificate } from './certificate.ts';
export { PROXY_CREDENTIALS, startProxy, type TestProxy, type TestProxyOptions } from './proxy.ts';
