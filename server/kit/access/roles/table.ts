import type { components } from '../../../../generated/types.ts';
import type { Shown, ShownColumns } from '../../database/columns.ts';

type Role = components['schemas']['Role'];

export const roleColumns = {
  id: 'uuid',
  name: 'text',
  slug: 'text',
  description: 'text',
  assignable_to: 'text[]',
  applies_to: 'text[]',
  is_standalone_assignable: 'boolean',
} as const satisfies Shown<Role, 'type' | 'permissions'>;

export interface RolesTable extends ShownColumns<
  typeof roleColumns,
  Role,
  'id' | 'assignable_to' | 'applies_to' | 'is_standalone_assignable'
> {
  permissions: string[];
}

declare module '../../database/tables.ts' {
  interface Tables {
    roles: RolesTable;
  }
}
