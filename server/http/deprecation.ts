// Tells callers in the headers of each answer that an operation is deprecated (RFC 9745) and until when it works (RFC 8594).
import type { Response } from 'express';
import type { Document } from '../contract/load.ts';

interface Place {
  path: string;
  method: string;
}

export function announceDeprecation(document: Document, { path, method }: Place, res: Response): void {
  const { 'x-deprecation': deprecation } = document.paths[path]?.[method] ?? {};
  if (!deprecation) return;
  res.setHeader('Deprecation', `@${Date.parse(deprecation.since) / 1000}`);
  res.setHeader('Sunset', new Date(deprecation.sunset).toUTCString());
}
