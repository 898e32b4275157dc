import { recordsFrom } from '@gatehouse/control-plane/activity';

/** Commands are given on this machine. */
export const SOURCE_IP = '127.0.0.1';

/** The recorder of what an operator does: without an actor. */
export const operator = recordsFrom(SOURCE_IP);
