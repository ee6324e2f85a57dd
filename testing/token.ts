import { signToken } from '../client/signing.ts';
import type { operations } from '../generated/operations.ts';

export type Scope = (typeof operations)[keyof typeof operations]['scopes'][number] | '*.read' | '*.write';

const lifetimeSeconds = 3_600;

export const createTokens =
  (privateKey: string) =>
  (...scopes: Scope[]): Promise<string> =>
    signToken({ privateKey, lifetimeSeconds, ...(scopes.length > 0 && { scopes }) });
