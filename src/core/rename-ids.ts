/** Ids of bases, sources, tables, fields and views, wherever they stand in a text. */
const ID = /\b(?:vw|[pbmc])[a-z0-9]{14}\b/g

/**
 * A definition that names others (a formula, a filter, the field of a link) with their new ids; ids of
 * anything else stay as they are. For structures only: what people wrote is to be left alone.
 */
export function renameIds<T>(value: T, ids: ReadonlyMap<string, string>): T {
  if (value === null || value === undefined) return value
  return JSON.parse(JSON.stringify(value).replace(ID, (id) => ids.get(id) ?? id))
}
