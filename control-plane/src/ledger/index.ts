export { type Examination, examineLedger, type Finding } from './examine-ledger.ts';
export { type Fold, keepLedger } from './keep-ledger.ts';
export { observeMoney } from './observe-money.ts';
