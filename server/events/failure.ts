// The reason of a failed attempt, for the operator. Only fixed texts and codes: messages of errors may quote what a receiver
// sent, such as the names in its certificate.

/** An end of an attempt that we decided on. Its message is a fixed text. */
export class AttemptFailure extends Error {}

/** undici's parser has errors without a code. */
const explanations: [codeOrName: RegExp, explanation: string][] = [
  [/^ECONNREFUSED$/, 'nobody listens at this address'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the receiver closed the connection'],
  [/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'the receiver cannot be reached'],
  [/^(HTTPParserError|UND_ERR_.*)$/, 'the answer is not valid HTTP'],
  [/^(EPROTO|ERR_SSL_|ERR_OSSL_)/, 'the TLS handshake failed'],
  [/CERT|SIGNED|SIGNATURE|CRL|CA$/, 'the certificate is not valid for this URL'],
];

export function describeFailure(error: unknown): string {
  if (error instanceof AttemptFailure) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  const explanation = explanations.find(([pattern]) => pattern.test(code ?? name))?.[1];
  return explanation === undefined ? (code ?? 'the attempt failed') : `${code ?? name}: ${explanation}`;
}
