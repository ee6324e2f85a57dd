// Traces, through the API of OpenTelemetry alone: an operator who wants spans loads an SDK (`node --import`), without one the
// trace of the caller is passed on. Only this file uses the package, and nothing runs unless TRACING is on.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { packageName } from '../../../generated/operations.ts';
import type { DeliveryTracing } from '../events/deliver.ts';
import type { RequestTracing } from '../http/access-log.ts';
import { hasCardNumber } from '../rules/card-numbers.ts';

export interface Tracing extends DeliveryTracing, RequestTracing {
  /** What a delivery is part of: the `traceparent` of the request that runs now. */
  current: () => string | undefined;
}

export function createTracing(): Tracing {
  const running = new AsyncLocalStorage<string>();
  const tracer = trace.getTracer(packageName);
  const begin = (name: string, kind: SpanKind, given: string | undefined) => {
    const span = tracer.startSpan(name, { kind }, parentOf(given));
    const own = span.spanContext();
    const isTraced = isSpanContextValid(own);
    return {
      span,
      traceId: isTraced ? own.traceId : undefined,
      traceparent: isTraced ? writeTraceparent(own) : undefined,
    };
  };
  return {
    beginRequest(given) {
      const { span, traceId, traceparent } = begin('request', SpanKind.SERVER, given);
      return {
        traceId,
        run: (work) => {
          if (traceparent === undefined) work();
          else running.run(traceparent, work);
        },
        end: (operation = 'none', status) => {
          span.updateName(operation);
          span.setAttribute('http.response.status_code', status);
          endSpan(span, status !== 'aborted' && status < 500);
        },
      };
    },
    current: () => running.getStore(),
    beginDelivery(given) {
      const { span, traceId, traceparent } = begin('webhook', SpanKind.CLIENT, given);
      return {
        traceId,
        traceparent,
        end: (succeeded) => {
          endSpan(span, succeeded);
        },
      };
    },
  };
}

/** An instrumentation of the SDK has read the header already, and its span is active. */
function parentOf(given: string | undefined): Context {
  if (trace.getActiveSpan()) return context.active();
  const parent = readTraceparent(given);
  return parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
}

function endSpan(span: Span, succeeded: boolean): void {
  if (!succeeded) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

// The header `traceparent` of W3C Trace Context. It comes from callers, is logged and is sent to receivers of webhooks, so only
// what has exactly its form is accepted.
interface TraceContext {
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
  if ([traceId, spanId].some((id) => hasCardNumber(id, 'inside'))) return undefined;
  // Later versions may have other flags.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

export const writeTraceparent = ({ traceId, spanId, traceFlags }: TraceContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
