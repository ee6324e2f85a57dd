// What the fixture uses of the globals of Node: as they were when it was loaded, because fake timers replace some, and from the modules
// of Node, because environments such as jsdom lack others or have their own. esbuild puts these in place of the names.
import buffer from 'node:buffer';
import { webcrypto } from 'node:crypto';
import util from 'node:util';

export const { setTimeout, clearTimeout, Date } = globalThis;
export const { Buffer } = buffer;
export const { TextDecoder, TextEncoder } = util;
export const crypto = webcrypto;
/** That which buffers are instances of. */
export const Uint8Array = Object.getPrototypeOf(buffer.Buffer) as Uint8ArrayConstructor;
/** Only compared with, and not what arrives here: those are the plain ones of Node. */
export const Headers = Map;
