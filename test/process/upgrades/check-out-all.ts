import { checkOut } from '../../support/old-version.ts';
import { releases } from './releases.ts';

export default function checkOutAll(): void {
  for (const { commit } of releases) checkOut(commit);
}
