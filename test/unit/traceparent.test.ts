// The header `traceparent`, as callers may send it.
import { describe, expect, it } from 'vitest';
import { readTraceparent, writeTraceparent } from '../../server/kit/maintenance/tracing.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a valid traceparent', () => {
  it.each([
    ['sampled', `00-${traceId}-${spanId}-01`, 1],
    ['not sampled', `00-${traceId}-${spanId}-00`, 0],
    ['with flags of a later version', `00-${traceId}-${spanId}-ff`, 1],
    ['of a later version with more fields', `cc-${traceId}-${spanId}-01-what.the.future.brings`, 1],
  ])('%s is read, and written as version 00', (_what, text, traceFlags) => {
    const read = readTraceparent(text);
    expect(read).toEqual({ traceId, spanId, traceFlags });
    expect(read && writeTraceparent(read)).toBe(`00-${traceId}-${spanId}-0${traceFlags}`);
  });
});

describe('anything else is ignored', () => {
  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['version ff', `ff-${traceId}-${spanId}-01`],
    ['version 00 with more fields', `00-${traceId}-${spanId}-01-more`],
    ['capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['two headers', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ['a line break at its end', `00-${traceId}-${spanId}-01\n`],
    ['control characters', `01-${traceId}-${spanId}-01-\u001b[31m`],
    ['one that is too long', `01-${traceId}-${spanId}-01-${'x'.repeat(10_000)}`],
    ['a card number as the span', `00-${traceId}-4111111111111111-01`],
    ['a card number in the trace', `00-abcdef4111111111111111abcdefabcd-${spanId}-01`],
  ])('%s', (_what, text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });
});
