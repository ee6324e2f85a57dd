// The reason of a failed attempt, for the operator. Only fixed texts and codes: messages of errors may quote what a receiver
// sent, such as the names in its certificate.
import { RefusedAddress } from './guard.ts';
import { ResolveFailure } from './resolve.ts';

/** An end of an attempt that send.ts itself decided on. Its message is a fixed text. */
export class AttemptFailure extends Error {}

const explanations: [code: RegExp, explanation: string][] = [
  [/^ECONNREFUSED$/, 'nobody listens at this address'],
  [/^(ECONNRESET|EPIPE)$/, 'the receiver closed the connection'],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'the receiver cannot be reached'],
  [/^HPE_/, 'the answer is not valid HTTP'],
  [/^(EPROTO|ERR_SSL_|ERR_OSSL_)/, 'the TLS handshake failed'],
  [/CERT|SIGNED|SIGNATURE|CRL|CA$/, 'the certificate is not valid for this URL'],
];

export function describeFailure(error: unknown): string {
  if (error instanceof AttemptFailure || error instanceof RefusedAddress || error instanceof ResolveFailure)
    return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return 'the attempt failed';
  const explanation = explanations.find(([pattern]) => pattern.test(code))?.[1];
  return explanation === undefined ? code : `${code}: ${explanation}`;
}
