/** Keys that lead to a value. */
export type JsonPath = string[]

interface JsonCell {
  path: JsonPath
  /** As field types parse it; '' for null. */
  text: string
}

/** A path as the key of a map. */
export const pathKey = (path: JsonPath): string => {
  if (path.length === 1) return path[0] || '\u0000'
  return path.join('\u0000')
}

/** The cells of a record. A list has one per position, a plain value is one cell. */
export function cellsOf(value: unknown, flatten: boolean): JsonCell[] {
  const cells: JsonCell[] = []
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) cells.push({ path: [String(at + 1)], text: textOf(item) })
  } else if (isObject(value)) addCells(cells, [], value, flatten)
  else cells.push({ path: [], text: textOf(value) })
  return cells
}

function addCells(
  cells: JsonCell[],
  path: JsonPath,
  object: Record<string, unknown>,
  flatten: boolean,
): void {
  for (const key in object) {
    const value = object[key]
    const at = path.length === 0 ? [key] : [...path, key]
    if (flatten && isObject(value)) addCells(cells, at, value, flatten)
    else cells.push({ path: at, text: textOf(value) })
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every(isOption)) return value.join(',')
  return JSON.stringify(value)
}

/** Texts that a multi-select cell can list. `["1", "234"]` must not become the number 1,234. */
const isOption = (item: unknown): boolean =>
  typeof item === 'string' && item.trim() === item && !item.includes(',') && /\p{L}/u.test(item)
