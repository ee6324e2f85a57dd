// Reads the request body: checks the media type, then parses the JSON.
import express, { type Request, type RequestHandler, type Response } from 'express';
import { AmbiguousJson, parseStrictJson } from '../../client/json.ts';
import { ApiError } from '../errors.ts';
import { codeOf } from '../faults.ts';
import type { PipelineStep } from './step.ts';

const refuse = (
  type: string,
  message: string,
  { pointer = '', cause }: { pointer?: string; cause?: unknown } = {},
) => new ApiError('bad_request', { details: [{ location: 'body', pointer, message, type }], cause });

export function createBody<Context>(
  limit: number,
  hasBody: (context: Context) => boolean,
): PipelineStep<Context> {
  const receive = express.raw({ limit, type: () => true });
  return async (context, req, res) => {
    const given = req.headers['content-type'];
    // express-openapi-validator compiles and keeps a validator (1 MB) for every Content-Type that it sees: show it one.
    delete req.headers['content-type'];
    if (!hasBody(context)) return;
    const sent =
      req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';
    if (given === undefined ? sent : !isJson(given)) {
      throw refuse('value_error.content_type', 'must be sent with Content-Type: application/json');
    }
    req.headers['content-type'] = 'application/json';
    if (!sent) return;
    await run(receive, req, res);
    const bytes = req.body as Buffer;
    // An empty body in chunks is no body either.
    req.body = bytes.length === 0 ? undefined : parse(bytes);
  };
}

// Invalid UTF-8 and lone surrogates would be parsed without an error and stored as U+FFFD. The stored value would then differ
// from the sent one, and two different identifiers could become the same.
function parse(bytes: Buffer): unknown {
  const notUnicode = (pointer = '') =>
    refuse('value_error.jsondecode', 'is not valid JSON: it must be UTF-8 without lone surrogates', {
      pointer,
    });
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw notUnicode();
  }
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof AmbiguousJson)) throw refuse('value_error.jsondecode', 'is not valid JSON');
    if (error.fault === 'lone surrogate') throw notUnicode(error.pointer);
    throw refuse('value_error.duplicate', 'must be given only once', { pointer: error.pointer });
  }
}

/** Ignores a byte order mark, as RFC 8259 allows. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const run = (receive: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    void receive(req, res, (error?: unknown) => {
      if (error === undefined) done();
      else failed(translate(error, req));
    });
  });

function translate(error: unknown, req: Request): Error {
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') {
    // The rest of the body is not read, so the connection must be closed after the answer.
    req.res?.setHeader('Connection', 'close');
    return refuse(
      'value_error.body_too_large',
      `must have ${String((error as { limit?: number }).limit)} bytes or less`,
    );
  }
  if (type === 'encoding.unsupported' || type === 'charset.unsupported') {
    return refuse('value_error.content_type', 'must be sent as UTF-8, plain or with gzip, deflate or br');
  }
  if (type?.startsWith('request.') || type?.startsWith('stream.'))
    return refuse('value_error.body', 'was not received completely', { cause: error });
  // Invalid gzip data causes an error of zlib.
  if (codeOf(error)?.startsWith('Z_'))
    return refuse('value_error.content_type', 'is not valid in its Content-Encoding');
  return error instanceof Error ? error : new Error(String(error));
}

// Whether a Content-Type is JSON in UTF-8. Other parameters are ignored: JSON has none, and many clients send some.
const parameter = /;\s*([^\s=;]*)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^;]*))?/g;

export function isJson(contentType: string): boolean {
  const [type = ''] = contentType.split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json') return false;
  return [...contentType.slice(type.length).matchAll(parameter)].every(
    ([, name = '', value = '']) => name.toLowerCase() !== 'charset' || /^"?utf-8"?$/i.test(value.trim()),
  );
}
