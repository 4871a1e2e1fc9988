/** `current` with the value of `to` for each key in which `from` and `to` differ. */
export function restoreKeys<T extends object>(current: T, from: T, to: T): T {
  const changed = (Object.keys({ ...from, ...to }) as (keyof T)[]).filter(
    (key) => !Bun.deepEquals(from[key], to[key]),
  )
  return { ...current, ...Object.fromEntries(changed.map((key) => [key, to[key]])) }
}
