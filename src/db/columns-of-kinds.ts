import type { StorageKind } from '../core/fields/field-type.ts'
import type { ColumnDefinition } from '../dialects/dialect.ts'

/** Nullable columns of these kinds, for a table that an engine creates. */
export const columnsOfKinds = (kinds: Readonly<Record<string, StorageKind>>): ColumnDefinition[] =>
  Object.entries(kinds).map(([name, storage]) => ({ name, storage, required: false, defaultValue: null }))
