export { type CertificateOptions, createCertificate } from './certificate.ts';
