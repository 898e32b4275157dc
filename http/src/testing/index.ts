export { type CertificateOptions, createCertificate } from './certificate.ts';
export { freePort } from './free-port.ts';
export { PROXY_CREDENTIALS, startProxy, type TestProxy, type TestProxyOptions } from './proxy.ts';
