// Reads the request body: checks the media type, then parses the JSON.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

const refuse = (type: string, message: string, cause?: unknown) =>
  new ApiError('bad_request', { details: [{ location: 'body', pointer: '', message, type }], cause });

const mediaType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

export function createBody<Context>(limit: number, hasBody: (context: Context) => boolean): Step<Context> {
  const parse = express.json({ limit, strict: false, type: () => true, verify: refuseInvalidUnicode });
  return async (context, req, res) => {
    const given = req.headers['content-type'];
    // express-openapi-validator compiles and keeps a validator (1 MB) for every Content-Type that it sees: show it one.
    delete req.headers['content-type'];
    if (!hasBody(context)) return;
    const sent =
      req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';
    if (given === undefined ? sent : !mediaType.test(given)) {
      throw refuse('value_error.content_type', 'must be sent with Content-Type: application/json');
    }
    req.headers['content-type'] = 'application/json';
    // The parser would turn an empty body into an empty object.
    if (sent) await run(parse, req, res);
  };
}

const notUnicode = 'body.not.unicode';

// Invalid UTF-8 and lone surrogates would be parsed without an error and stored as U+FFFD. The stored value would then differ
// from the sent one, and two different identifiers could become the same.
function refuseInvalidUnicode(_req: unknown, _res: unknown, bytes: Buffer): void {
  // An escaped backslash becomes a space, not nothing: two lone surrogates around it must not become neighbours.
  if (isUtf8(bytes) && !loneSurrogate.test(bytes.toString('latin1').replaceAll('\\\\', ' '))) return;
  throw Object.assign(new Error(notUnicode), { type: notUnicode });
}

const loneSurrogate =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

const run = (parse: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    void parse(req, res, (error?: unknown) => {
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
  if (type === 'entity.parse.failed') return refuse('value_error.jsondecode', 'is not valid JSON');
  if (type === notUnicode)
    return refuse('value_error.jsondecode', 'is not valid JSON: it must be UTF-8 without lone surrogates');
  if (type === 'encoding.unsupported' || type === 'charset.unsupported') {
    return refuse('value_error.content_type', 'must be sent as UTF-8, plain or with gzip, deflate or br');
  }
  if (type?.startsWith('request.') || type?.startsWith('stream.'))
    return refuse('value_error.body', 'was not received completely', error);
  // Invalid gzip data causes an error of zlib.
  if ((error as { code?: string }).code?.startsWith('Z_'))
    return refuse('value_error.content_type', 'is not valid in its Content-Encoding');
  return error instanceof Error ? error : new Error(String(error));
}
