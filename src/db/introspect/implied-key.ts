import type { TableStructure } from './structure.ts'

/**
 * The table with a key by which its records can be told apart: where it has no primary key, the first of its
 * unique keys whose columns are always filled (the join tables and version lists of Rails have no other).
 */
export function withKey(table: TableStructure): TableStructure {
  if (table.kind === 'view' || table.primaryKey.length > 0) return table
  const filled = new Set(table.columns.filter(({ isNullable }) => !isNullable).map(({ name }) => name))
  const key = table.uniqueKeys
    .filter((columns) => columns.length > 0 && columns.every((name) => filled.has(name)))
    .toSorted((a, b) => a.length - b.length)[0]
  return key
    ? { ...table, primaryKey: key, uniqueKeys: table.uniqueKeys.filter((one) => one !== key) }
    : table
}
