// Reads the request body: checks the media type, then parses the JSON.
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request } from 'express';
import { AmbiguousJson, parseStrictJson } from '../../../client/json.ts';
import { ApiError } from '../errors.ts';
import { mostPieces } from './connections.ts';
import { check, type Passed } from './pipeline.ts';

const refuse = (
  type: string,
  message: string,
  { pointer = '', headers = {} }: { pointer?: string; headers?: Record<string, string> } = {},
) => new ApiError('bad_request', { details: [{ location: 'body', pointer, message, type }], headers });

/** Leaves the body on the request, where express-openapi-validator looks for it. */
export const createBody = <Needs>(limit: number, hasBody: (known: Needs) => boolean) =>
  check('parsed', async (known: Needs & Passed<'counted'>, req) => {
    const given = req.headers['content-type'];
    // express-openapi-validator compiles and keeps a validator (1 MB) for every Content-Type that it sees: show it one.
    delete req.headers['content-type'];
    if (!hasBody(known)) return;
    const sent =
      req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';
    if (given === undefined ? sent : !isJson(given)) {
      throw refuse('value_error.content_type', 'must be sent with Content-Type: application/json');
    }
    req.headers['content-type'] = 'application/json';
    if (!sent) return;
    const bytes = await receive(req, limit);
    // An empty body in chunks is no body either.
    req.body = bytes.length === 0 ? undefined : parse(bytes);
  });

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

const decoders: Partial<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export async function receive(req: Request, limit: number): Promise<Buffer> {
  const encoding = req.headers['content-encoding']?.toLowerCase() || 'identity';
  // A name such as `constructor` is one of every object.
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  if (!decoder && encoding !== 'identity')
    throw refuse('value_error.content_type', 'must be sent as UTF-8, plain or with gzip, deflate or br');
  const decoded = collect(decoder ? req.pipe(decoder) : req, limit);
  // Most clients read no answer before they have sent everything, so what is left of a refused body is read, too.
  const readOn = () => {
    req.unpipe().resume();
    // It may have gigabytes left.
    decoder?.destroy();
  };
  decoded.then(readOn, readOn);
  try {
    await arrival(req);
    return await decoded;
  } finally {
    decoder?.destroy();
  }
}

const arrival = (req: Request) =>
  new Promise<void>((done, failed) => {
    let pieces = 0;
    req.on('data', () => {
      pieces += 1;
      if (pieces > mostPieces) failed(tooLarge(`must arrive in ${mostPieces} pieces or less`));
    });
    req.on('end', done);
    const abort = () => {
      failed(refuse('value_error.body', 'was not received completely'));
    };
    if (req.destroyed) abort();
    else req.on('error', abort);
  });

/** Into one buffer, because each Buffer takes a hundred bytes besides its own. */
const collect = (source: Readable, limit: number) =>
  new Promise<Buffer>((done, failed) => {
    let bytes = Buffer.alloc(0);
    let length = 0;
    source.on('data', (chunk: Buffer) => {
      const needed = length + chunk.length;
      if (needed > limit) {
        failed(tooLarge(`must have ${limit} bytes or less`));
        return;
      }
      if (needed > bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * needed, limit));
      chunk.copy(bytes, length);
      length = needed;
    });
    source.on('end', () => {
      done(bytes.subarray(0, length));
    });
    source.on('error', () => {
      failed(refuse('value_error.content_type', 'is not valid in its Content-Encoding'));
    });
  });

const tooLarge = (message: string) =>
  refuse('value_error.body_too_large', message, { headers: { Connection: 'close' } });

// Whether a Content-Type is JSON in UTF-8. Other parameters are ignored: JSON has none, and many clients send some.
const parameter = /;\s*([^\s=;]*)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^;]*))?/g;

function isJson(contentType: string): boolean {
  const [type = ''] = contentType.split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json') return false;
  return [...contentType.slice(type.length).matchAll(parameter)].every(
    ([, name = '', value = '']) => name.toLowerCase() !== 'charset' || /^"?utf-8"?$/i.test(value.trim()),
  );
}
