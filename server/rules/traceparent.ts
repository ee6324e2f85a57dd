// The header `traceparent` of W3C Trace Context. It comes from callers, is logged and is sent to receivers of webhooks, so only
// what has exactly its form is accepted.
import { holdsCardNumber } from '../resources/payment-methods/rules.ts';

export interface TraceContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]{0,200})?$/;

/** Undefined when there is none, or one that is not valid: then a new trace begins, as the standard says. */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version = '', traceId = '', spanId = '', flags = '', more] = form.exec(text ?? '') ?? [];
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  if (holdsCardNumber(`${traceId} ${spanId}`)) return undefined;
  // Later versions may have other flags.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

export const writeTraceparent = ({ traceId, spanId, traceFlags }: TraceContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
