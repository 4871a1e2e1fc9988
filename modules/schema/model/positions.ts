/** Below this gap two neighbours leave no room for a number between them. */
const LEAST_GAP = 1e-9

/** Something with a place among others of its kind. */
interface Placed {
  id: string
  order: number
}

/** A place by number, and the numbers that neighbours get where there was no room between them. */
export interface Place {
  order: number
  moved: Placed[]
}

/**
 * A place ahead of `others[index]`, which stand in their order; `others.length` is the end. A number
 * between two moves nobody else; places that are equal or too close are numbered anew.
 */
export function placeAt(others: readonly Placed[], index: number): Place {
  const next = others[index]?.order
  const previous = others[index - 1]?.order ?? (next ?? 1) - 1
  if (next === undefined) return { order: previous + 1, moved: [] }
  if (next - previous > LEAST_GAP) return { order: (previous + next) / 2, moved: [] }
  const moved = others.map(({ id }, at) => ({ id, order: at < index ? at + 1 : at + 2 }))
  return { order: index + 1, moved }
}
