// What a receiver said with an answer that is not 2xx, for the operator. It may quote the request or anything else, so card
// numbers and secrets are masked, and control characters are shown as escapes.
import { maskCardNumbers } from '../resources/payment-methods/rules.ts';
import { redact } from '../log.ts';
import { visible } from '../visible.ts';

const longest = 1024;

/** Null when nothing was said. */
export function showAnswer(said: Buffer, secrets: readonly string[]): string | null {
  // Twice as much is masked as is shown, because what is cut in half is not recognised.
  const text = redact(maskCardNumbers(said.toString('utf8', 0, 2 * longest)));
  const masked = secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text);
  const known = said.length > 2 * longest ? masked.slice(0, -longest) : masked;
  return visible(known.slice(0, longest)) || null;
}
