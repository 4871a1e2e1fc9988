/** Keys that lead to a value. */
export type JsonPath = string[]

/** A path as the key of a map. */
export const pathKey = (path: JsonPath): string => {
  if (path.length === 1) return path[0] || '\u0000'
  return path.join('\u0000')
}

/**
 * A cell of a record.
 * @param key `pathKey` of its path
 * @param parent path of the object with the cell; null for the record itself
 */
type VisitCell = (key: string, value: unknown, parent: JsonPath | null, name: string) => void

/** Visits the cells of a record. A list has one per position, a plain value is one cell. */
export function visitCells(value: unknown, flatten: boolean, visit: VisitCell): void {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) visit(String(at + 1), value[at], ROOT, String(at + 1))
  } else if (isObject(value)) visitObject(value, flatten, visit, '', ROOT)
  else visit('', value, null, '')
}

const ROOT: JsonPath = []

function visitObject(
  object: Record<string, unknown>,
  flatten: boolean,
  visit: VisitCell,
  prefix: string,
  path: JsonPath,
): void {
  for (const name in object) {
    const value = object[name]
    const key = prefix + name
    if (flatten && isObject(value)) visitObject(value, flatten, visit, `${key}\u0000`, [...path, name])
    else visit(key || '\u0000', value, path, name)
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The text of a cell as field types parse it; '' for null. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every(isOption)) return value.join(',')
  return JSON.stringify(value)
}

/** Texts that a multi-select cell can list. `["1", "234"]` must not become the number 1,234. */
const isOption = (item: unknown): boolean =>
  typeof item === 'string' && item.trim() === item && !item.includes(',') && /\p{L}/u.test(item)

/**
 * The value that some keys lead to, or the position in a record that is a list; undefined where an object on the way is
 * missing.
 */
export function valueAt(value: unknown, path: JsonPath): unknown {
  if (Array.isArray(value) && path.length === 1) return value[Number(path[0]) - 1]
  let found = value
  for (const key of path) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined
    found = found[key]
  }
  return found
}
