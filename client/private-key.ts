// Reads the private key of an API key pair. WebCrypto imports PKCS#8 only; `node:crypto` converts the other forms.
type Bytes = Uint8Array<ArrayBuffer>;

const kinds = {
  ES512: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  RS512: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
} as const;
export type Kind = keyof typeof kinds;

const unsupported = 'The private key is neither ECDSA on P-521 nor RSA of 2048 bits or more.';

/** The key as PKCS#8. */
export function pkcs8Of(privateKey: string | Uint8Array, passphrase: string | undefined): Bytes {
  // Other values, such as a `KeyObject` or a JWK, come from JavaScript only. In environment variables a line often ends with
  // the two characters \n.
  const text = (
    typeof privateKey === 'string'
      ? privateKey
      : ArrayBuffer.isView(privateKey)
        ? new TextDecoder().decode(privateKey)
        : ''
  ).replaceAll('\\n', '\n');
  if (!text.includes('-----BEGIN '))
    throw new TypeError(
      '`privateKey` must be the text of a PEM file, -----BEGIN PRIVATE KEY----- and so on.',
    );
  const [, base64] = /-----BEGIN PRIVATE KEY-----([\w\s+/=]+)-----END/.exec(text) ?? [];
  return base64 === undefined
    ? convert(text, passphrase)
    : Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

interface NodeCrypto {
  createPrivateKey: (key: { key: string; format: 'pem'; passphrase: string | undefined }) => {
    export: (options: { type: 'pkcs8'; format: 'der' }) => Bytes;
  };
}
interface NodeProcess {
  getBuiltinModule?: (name: 'node:crypto') => NodeCrypto | undefined;
}

function convert(pem: string, passphrase: string | undefined): Bytes {
  // Not imported, because then no bundler could build this file for a runtime without it.
  const { process } = globalThis as { process?: NodeProcess };
  const nodeCrypto = process?.getBuiltinModule?.('node:crypto');
  if (!nodeCrypto)
    throw new TypeError(
      'This runtime reads only `PRIVATE KEY`. Convert it: openssl pkcs8 -topk8 -nocrypt -in key.pem',
    );
  try {
    const key = nodeCrypto.createPrivateKey({ key: pem, format: 'pem', passphrase });
    return key.export({ type: 'pkcs8', format: 'der' });
  } catch (cause) {
    // OpenSSL says `DECODER routines::unsupported` or `interrupted or cancelled`.
    throw new TypeError('`privateKey` cannot be read. Is it a private key, whole, with its passphrase?', {
      cause,
    });
  }
}

/** By the object identifier at its beginning: secp521r1 (1.3.132.0.35) or rsaEncryption (1.2.840.113549.1.1.1). */
export function kindOf(pkcs8: Bytes): Kind {
  const head = Array.from(pkcs8.subarray(0, 40), (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (head.includes('06052b81040023')) return 'ES512';
  if (head.includes('06092a864886f70d010101')) return 'RS512';
  throw new TypeError(unsupported);
}

export interface Signer {
  sign: (content: string) => Promise<string>;
  /** RFC 7638. The service finds the key pair by it. */
  thumbprint: string;
}

export async function importSigner(pkcs8: Bytes, kind: Kind): Promise<Signer> {
  const algorithm = kinds[kind];
  // Extractable, because the thumbprint is made from the public part.
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']);
  if ('modulusLength' in key.algorithm && Number(key.algorithm.modulusLength) < 2048)
    throw new TypeError(unsupported);
  const { crv, e, kty, n, x, y } = await crypto.subtle.exportKey('jwk', key);
  // The required members of the JWK, in this order and without white space.
  const members = JSON.stringify(kind === 'RS512' ? { e, kty, n } : { crv, kty, x, y });
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(members));
  return {
    sign: async (content) =>
      base64url(new Uint8Array(await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(content)))),
    thumbprint: base64url(new Uint8Array(digest)),
  };
}

export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
