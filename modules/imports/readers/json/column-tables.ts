import { isObject, type JsonPath } from './cells.ts'

const MAX_DEPTH = 4

/**
 * Finds objects whose members are the columns of a table: lists of equal length, as of Open-Meteo (`{"time": […], "temperature": […]}`), or values by
 * the number of their row, as of pandas (`{"name": {"0": "Ann", "1": "Ben"}}`).
 * @param isOther true for the path of an object whose lists describe a table beside them
 */
export function findColumnTables(value: unknown, isOther: (path: JsonPath) => boolean): JsonPath[] {
  const found: JsonPath[] = []
  function visit(inner: unknown, path: JsonPath): void {
    if (!isObject(inner) || path.length > MAX_DEPTH) return
    if (!isOther(path) && (areColumns(inner) || areNumbered(inner))) found.push(path)
    else for (const [key, member] of Object.entries(inner)) visit(member, [...path, key])
  }
  visit(value, [])
  return found
}

/** Lists of plain values, all of the same length. */
function areColumns(value: Record<string, unknown>): boolean {
  const lists = Object.values(value)
  const [first] = lists
  if (lists.length < 2 || !Array.isArray(first) || first.length < 2) return false
  const isPlain = (item: unknown) => typeof item !== 'object' || item === null
  return lists.every((list) => Array.isArray(list) && list.length === first.length && list.every(isPlain))
}

/** Objects with the numbers of rows as keys, all of as many rows. */
function areNumbered(value: Record<string, unknown>): boolean {
  const columns = Object.values(value)
  const count = isObject(columns[0]) ? Object.keys(columns[0]).length : 0
  return (
    columns.length > 0 &&
    columns.every((column) => hasRowNumbers(column) && Object.keys(column).length === count)
  )
}

/** True for an object with the keys 0, 1, 2 and so on. */
export const hasRowNumbers = (value: unknown): value is Record<string, unknown> => {
  const keys = isObject(value) ? Object.keys(value) : []
  return keys.length > 1 && keys.every((key, at) => key === String(at))
}

/** The records of an object that `findColumnTables` has found. */
export function* recordsOf(value: unknown): Generator<Record<string, unknown>> {
  const columns = isObject(value) ? Object.entries(value) : []
  const [first] = columns
  const count = first ? Object.keys(first[1] as object).length : 0
  for (let at = 0; at < count; at++)
    yield Object.fromEntries(columns.map(([key, cells]) => [key, (cells as Record<string, unknown>)[at]]))
}

/** Nested objects without those at some paths. */
export function withoutPaths(
  value: Record<string, unknown>,
  paths: readonly JsonPath[],
): Record<string, unknown> {
  if (paths.some((path) => path.length === 0)) return {}
  const kept: [string, unknown][] = []
  for (const [key, inner] of Object.entries(value)) {
    const below = paths.filter(([first]) => first === key).map((path) => path.slice(1))
    if (below.length === 0) kept.push([key, inner])
    else if (isObject(inner)) {
      const rest = withoutPaths(inner, below)
      if (Object.keys(rest).length > 0) kept.push([key, rest])
    }
  }
  return Object.fromEntries(kept)
}
