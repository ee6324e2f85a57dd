// Traces of callers: in log lines and on webhooks, if TRACING is on.
import { randomBytes } from 'node:crypto';
import { trace, type Span, type TracerProvider } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { card } from '../support/card.ts';
import { eventually } from '../support/data-dir.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService } from '../support/service.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const given = `00-${traceId}-b7ad6b7169203331-01`;

async function causeEvent(tracing: boolean, traceparent: string) {
  await using service = await startTestService({ config: { tracing } });
  await using receiver = await startReceiver();
  const token = service.token('*.read', '*.write');
  await service.call('POST', '/webhook-subscriptions', { token, body: { url: receiver.url } });
  const headers = { traceparent, 'X-Request-ID': 'traced' };
  await service.call('POST', '/payment-methods', { token, body: card, headers });
  await eventually(() => receiver.got.length === 1, 'the event arrives');
  const isDelivered = () => service.logs.some((line) => line.includes('webhook succeeded'));
  await eventually(isDelivered, 'the delivery is logged');
  const lines = service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    request: lines.find(({ requestId }) => requestId === 'traced')?.traceId,
    delivery: lines.find(({ msg }) => msg === 'webhook succeeded')?.traceId,
    received: receiver.got[0]?.headers.traceparent,
    logs: service.logs.join(''),
  };
}

describe('the trace of a caller', () => {
  it('is in the log lines of the request and its deliveries, and is sent to receivers', async () => {
    const { request, delivery, received } = await causeEvent(true, given);
    expect({ request, delivery, received }).toEqual({ request: traceId, delivery: traceId, received: given });
  });

  it('is ignored when tracing is off', async () => {
    const { request, delivery, received, logs } = await causeEvent(false, given);
    expect([request, delivery, received]).toEqual([undefined, undefined, undefined]);
    expect(logs).not.toContain(traceId);
  });
});

describe('with an SDK', () => {
  afterEach(() => {
    trace.disable();
  });

  it('each request and each attempt is a span of the caller’s trace, and the receiver gets that of the attempt', async () => {
    const spans: { name: string; traceId: string; spanId: string; parent: string | undefined }[] = [];
    trace.setGlobalTracerProvider(recordingInto(spans));
    const { request, received } = await causeEvent(true, given);
    expect(request).toBe(traceId);
    const ours = spans.filter((span) => span.traceId === traceId);
    const [called, attempt] = ours;
    expect(ours.map(({ name }) => name)).toEqual(['createPaymentMethod', 'webhook']);
    expect(called?.parent).toBe('b7ad6b7169203331');
    expect(attempt?.parent).toBe(called?.spanId);
    expect(received).toBe(`00-${traceId}-${attempt?.spanId ?? ''}-01`);
  });
});

/** What an SDK does, as far as the API asks for it: it makes spans, and notes those that have ended. */
function recordingInto(
  spans: { name: string; traceId: string; spanId: string; parent: string | undefined }[],
): TracerProvider {
  return {
    getTracer: () => ({
      startSpan(name, _options, context) {
        const parent = context && trace.getSpanContext(context);
        const own = {
          traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
          spanId: randomBytes(8).toString('hex'),
          traceFlags: 1,
        };
        let current = name;
        const span: Partial<Span> = {
          spanContext: () => own,
          updateName: (changed) => {
            current = changed;
            return span as Span;
          },
          setAttribute: () => span as Span,
          setStatus: () => span as Span,
          end: () => void spans.push({ name: current, ...own, parent: parent?.spanId }),
        };
        return span as Span;
      },
      startActiveSpan: () => {
        throw new Error('not used');
      },
    }),
  };
}
