// The reason of a failed attempt, for the operator. Only fixed texts and codes: messages of errors may quote what a receiver
// sent, such as the names in its certificate.
import { findSecrets } from '../log/log.ts';
import { visible } from '../log/visible.ts';
import { findCardNumbers, hide, type Hidden } from '../rules/card-numbers.ts';

/** How long an attempt may take. */
export const sendMilliseconds = 15_000;

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

// What a receiver said with an answer that is not 2xx, for the operator. It may quote the request or anything else, so card
// numbers and secrets are masked, and control characters are shown as escapes.
const longest = 1024;

/** Null when nothing was said. */
export function showAnswer(said: Buffer, secrets: readonly string[]): string | null {
  // Twice as much is searched as is shown, because what is cut in half is not recognised.
  const text = decode(said, 2 * longest);
  const hidden = [...findCardNumbers(text, 'whole'), ...findSecrets(text), ...findEach(text, secrets)];
  return visible(hide(text, hidden, decode(said, longest).length)) || null;
}

/** The characters that begin in the first bytes. */
function decode(said: Buffer, bytes: number): string {
  let end = bytes;
  while (end < bytes + 3 && ((said[end] ?? 0) & 0xc0) === 0x80) end += 1;
  return said.toString('utf8', 0, end);
}

function* findEach(text: string, secrets: readonly string[]): Generator<Hidden> {
  for (const secret of secrets)
    for (let from = text.indexOf(secret); from >= 0; from = text.indexOf(secret, from + secret.length))
      yield { from, to: from + secret.length, mask: '[redacted]' };
}
